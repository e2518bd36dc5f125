import type { RecordFaultCode } from '../../../contract/fault-codes.ts'
import type { RecordFault, Resource } from '../../../contract/resource.ts'
import type { Dialect } from '../../dialect.ts'
import type { StorableRecord } from '../../records/import.ts'
import { isMet, type PutOutcome, type PutRequest } from '../../records/put.ts'
import { isTrue, type NamedRow, optionalWhole, text, whole } from '../../row.ts'
import type { Value } from '../../session.ts'
import { currentVersionOf, readStoredRecord, versionOf } from '../export-line.ts'
import { conflictQueries } from '../import/conflict-queries.ts'
import { readFault } from '../import/found-faults.ts'
import { stageLosers } from '../import/take-over.ts'
import { mergeStatements } from '../merge-statements.ts'
import { mergeTime } from '../staging.ts'

/** What a batch asks of its store, in the transaction that it runs in. */
export type PutStep =
  /** Adds requests to `staged`. The line of each is its place in the batch. */
  | { readonly do: 'stage'; readonly places: readonly number[] }
  /** Adds the stored record that a request withdraws at a time, as it will be. */
  | { readonly do: 'withdraw'; readonly place: number; readonly at: bigint }
  /** Reads the stored records that have the ids of these, and their customers. */
  | { readonly do: 'find'; readonly records: readonly Owned[] }
  | { readonly do: 'run'; readonly sql: string; readonly values: readonly Value[] }

/** An id, and the customer whose record alone is read by it. */
type Owned = Pick<StorableRecord, 'customerId' | 'id'>

/** The rows that a step has read. A `find` returns rows for `readStoredRecord`. */
export type PutRows = readonly NamedRow[]

/** The statements of a kind, written once so that the store prepares each once. */
export function putStatements(resource: Resource, dialect: Dialect) {
  const { withinFile, withStore, older } = conflictQueries(resource, dialect)
  const merge = mergeStatements(resource, dialect)
  return {
    within: withinFile(false).join(' union all '),
    stored: `select line, member, code, reason, false as is_age from (${withStore({ allowOlder: true }).join(' union all ')}) as found
      union all select line, member, code, reason, true as is_age from (${older}) as found`,
    lastChange: merge.lastChange,
    tidy: [
      ...(merge.keepDeletions === undefined ? [] : [merge.keepDeletions]),
      merge.dropUnchanged,
    ],
    remaining: `select line, sequence in (select staged.sequence from ${merge.replaced}) as replaces
      from staged`,
    stageWithdrawn: merge.stageWithdrawn,
    stageLosers: stageLosers(resource, dialect),
    changes: merge.changes,
    currentVersion: (row: NamedRow) => currentVersionOf(resource, readStoredRecord(row)),
  }
}

export type PutStatements = ReturnType<typeof putStatements>

/** The outcome of each request by its place. One without an outcome must be run again. */
export type PutOutcomes = (PutOutcome | undefined)[]

/**
 * Stores the records of a batch, whose ids differ, by the rules of an import. `staged` is empty
 * before, and the store empties it after. A request that is refused or unmatched does not keep the
 * others from being stored. One that conflicts with another of the batch is left to the next batch,
 * where it meets the other one stored.
 */
export function* putBatch(
  statements: PutStatements,
  batch: readonly PutRequest[],
  now: bigint,
): Generator<PutStep, PutOutcomes, PutRows> {
  const outcomes: PutOutcomes = batch.map(() => undefined)
  const places = [...(yield* meetingPreconditions(statements, batch, outcomes))]
  if (places.length === 0) return outcomes
  const isWithdrawn = (place: number) => withdraws(batch[place] as PutRequest)
  const stored = places.filter((place) => !isWithdrawn(place))
  if (stored.length > 0) yield { do: 'stage', places: stored }
  for (const place of places.filter(isWithdrawn)) yield { do: 'withdraw', place, at: now }
  let staged = places
  while (staged.length > 0) {
    const dropped = yield* conflictsOf(statements, batch, staged.length, outcomes)
    if (dropped.size === 0) break
    yield run(`delete from staged where line in (${[...dropped].join(', ')})`)
    staged = staged.filter((place) => !dropped.has(place))
  }
  if (staged.length > 0) yield* mergeStaged(statements, batch, staged, outcomes, now)
  return outcomes
}

const run = (sql: string, values: readonly Value[] = []): PutStep => ({ do: 'run', sql, values })

const withdraws = ({ record }: PutRequest): boolean => 'withdraws' in record

function* meetingPreconditions(
  { currentVersion }: PutStatements,
  batch: readonly PutRequest[],
  outcomes: PutOutcomes,
): Generator<PutStep, readonly number[], PutRows> {
  const mustBeFound = (request: PutRequest) =>
    withdraws(request) ||
    request.precondition.match !== undefined ||
    request.precondition.noneMatch !== undefined
  const records = batch.filter(mustBeFound).map(({ record }) => record)
  const rows = records.length === 0 ? [] : yield { do: 'find', records }
  const stored = new Map(rows.map((row) => [text(row, 'id'), currentVersion(row)]))
  const places = [...batch.keys()]
  return places.filter((place) => {
    const request = batch[place] as PutRequest
    const { record, precondition } = request
    if (withdraws(request) && !stored.has(record.id)) {
      outcomes[place] = { outcome: 'missing' }
      return false
    }
    const version = stored.get(record.id)
    const isRight = isMet(precondition, version)
    if (!isRight) outcomes[place] = { outcome: 'unmatched', version }
    return isRight
  })
}

/** The places to leave out. Those that conflict with the store get their outcome. */
function* conflictsOf(
  statements: PutStatements,
  batch: readonly PutRequest[],
  staged: number,
  outcomes: PutOutcomes,
): Generator<PutStep, ReadonlySet<number>, PutRows> {
  const within = staged === 1 ? [] : yield run(statements.within)
  if (within.length > 0) return new Set(within.map(placeOf))
  const found = yield run(statements.stored)
  const faults = found.filter((row) => {
    const { allowOlder, takeOver } = batch[placeOf(row)] as PutRequest
    return isTrue(row.is_age) ? !allowOlder : takeOver !== true || row.code !== HELD
  })
  const refused = Map.groupBy(faults, placeOf)
  for (const [place, rows] of refused) {
    outcomes[place] = { outcome: 'refused', faults: rows.map(faultOf) }
  }
  return new Set(refused.keys())
}

const HELD: RecordFaultCode = 'held'

const placeOf = (row: NamedRow): number => Number(whole(row, 'line'))

const faultOf = ({ member, code, reason }: NamedRow): RecordFault => readFault(member, code, reason)

function* mergeStaged(
  statements: PutStatements,
  batch: readonly PutRequest[],
  staged: readonly number[],
  outcomes: PutOutcomes,
  now: bigint,
): Generator<PutStep, void, PutRows> {
  for (const sql of statements.tidy) yield run(sql)
  const remaining = yield run(statements.remaining)
  const takesOver = remaining.some((row) => batch[placeOf(row)]?.takeOver === true)
  const losers = takesOver ? yield run(statements.stageLosers, [now]) : []
  const [last] = yield run(statements.lastChange)
  const storedAt = mergeTime(now, optionalWhole(last ?? {}, 'changed_at') ?? 0n)
  for (const row of remaining) {
    const outcome = isTrue(row.replaces) ? 'changed' : 'added'
    outcomes[placeOf(row)] = { outcome, version: versionOf({ storedAt }) }
  }
  const has = (wanted: string) => outcomes.some((outcome) => outcome?.outcome === wanted)
  const replaces = has('changed') || losers.length > 0
  const changes = statements.changes({ adds: has('added'), replaces, storedAt })
  for (const { text, values } of remaining.length === 0 ? [] : changes) yield run(text, values)
  const unchanged = staged.filter((place) => outcomes[place] === undefined)
  if (unchanged.length === 0) return
  const records = unchanged.map((place) => (batch[place] as PutRequest).record)
  const rows = (yield { do: 'find', records }).map(readStoredRecord)
  const versions = new Map(rows.map((record) => [record.id, versionOf(record)]))
  for (const place of unchanged) {
    const version = versions.get((batch[place] as PutRequest).record.id) ?? ''
    outcomes[place] = { outcome: 'unchanged', version }
  }
}
