import type { RecordFaultCode } from '../../contract/fault-codes.ts'
import { isSealedKind, type Resource } from '../../contract/resource.ts'
import type { Dialect } from '../dialect.ts'
import type { SealedRecord } from '../records/import.ts'
import { isMet, type PutOutcome, type SealedPut } from '../records/put.ts'
import { currentVersionOf, findQuery, versionOf, versionSecret } from '../records/stored-record.ts'
import { isTrue, type NamedRow, text, whole } from '../row.ts'
import type { Form } from '../sealing/customer-key-rows.ts'
import { staleCustomers } from '../sealing/staged-keys.ts'
import type { Session, StagedValue, Value } from '../session.ts'
import { CustomersLocked, KeysReplaced } from '../unavailable.ts'
import { conflictColumns, conflictQueries, stageLosers } from './conflict-queries.ts'
import { conflictReader } from './find-faults.ts'
import { timeAfter } from './merge-staged.ts'
import { mergeStatements } from './merge-statements.ts'
import { type Noted, noteOrigins } from './origins.ts'
import { emptyStaging, numberStaged, putStagingOf, stagedRows } from './staging.ts'

/** The statements of a kind, written once so that the store prepares each once. */
export function putStatements(resource: Resource, dialect: Dialect) {
  const { withinFile, withStore } = conflictQueries(resource, dialect)
  const merge = mergeStatements(resource, dialect)
  const staging = putStagingOf(resource, dialect)
  const joined = (queries: readonly string[]) =>
    `select ${conflictColumns} from (${queries.join(' union all ')}) as found`
  return {
    resource,
    dialect,
    staging,
    rowOf: stagedRows(staging),
    // Only stored records can be the reason to refuse a request.
    readConflict: conflictReader(resource, String),
    within: joined(withinFile(false)),
    stored: joined(withStore({ allowOlder: false })),
    leaveOut: merge.held.leaveOut(dialect.isAnyOf('line', dialect.parameter(1, 'bigint[]'))),
    held: merge.held,
    lastChange: merge.lastChange,
    tidy: [
      ...(merge.keepDeletions === undefined ? [] : [merge.keepDeletions]),
      merge.dropUnchanged,
    ],
    remaining: `select line, sequence in (select staged.sequence from ${merge.replaced}) as replaces
      from staged`,
    addCustomers: merge.addCustomers,
    /** What the versions of the staged records are made of, but for their time. */
    contents: `select line, id, full_checksum as checksum, deleted_at, source_version,
      ${versionSecret(dialect, 'staged.customer')} from staged where is_loser = 0`,
    numberStaged: numberStaged(dialect),
    stageWithdrawn: merge.stageWithdrawn,
    stageLosers: stageLosers(resource, dialect),
    changes: merge.changes,
    find: findQuery(resource, dialect, dialect.keys.from),
  }
}

export type PutStatements = ReturnType<typeof putStatements>

/**
 * The outcome of each request by its place. One without an outcome must be run again: at once, or
 * `later` if another writer has locked its customer.
 */
export type PutOutcomes = (PutOutcome | 'later' | undefined)[]

/**
 * Keeps other writers from what a batch changes, until its commit. It rejects with a
 * CustomersLocked rather than wait for one of them with locks held.
 */
export type PutLocks = {
  /**
   * Locks, before all else, what the staged records will change and these customers, and waits for
   * that in the order of an import. Undefined for a batch that leaves what is locked for later.
   */
  readonly wait?: ((ids: readonly string[], takeOver: boolean) => Promise<void>) | undefined
  /** Locks customers. Returns those that another writer has locked. */
  customers(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Whether some of those that were asked for may have no row yet. */
  hasNew(): boolean
  /** Locks the other customers of which the staged records may change something. */
  others(takeOver: boolean): Promise<void>
}

type Batch = {
  readonly session: Session
  readonly locks: PutLocks
  readonly statements: PutStatements
  readonly requests: readonly SealedPut[]
  readonly outcomes: PutOutcomes
  readonly now: bigint
  /** The form of the bodies that it stores. */
  readonly form: Form
  readonly origins: readonly Noted[]
  readonly fileOf: readonly number[]
}

/**
 * Stores the records of a batch, whose ids differ, by the rules of an import, in a transaction with
 * empty staging tables, which it leaves empty. A request that is refused or unmatched does not keep
 * the others from being stored. One that conflicts with another of the batch is left to the next
 * batch, where it finds the other one stored.
 *
 * Statements that need no result of each other are sent together: a round trip to PostgreSQL takes
 * as long as a statement on a few records.
 */
export async function putBatch(
  { session, locks }: Pick<Batch, 'session' | 'locks'>,
  statements: PutStatements,
  requests: readonly SealedPut[],
  { now, form }: Pick<Batch, 'now' | 'form'>,
): Promise<PutOutcomes> {
  const outcomes: PutOutcomes = requests.map(() => undefined)
  const origins = originsOf(requests)
  const batch = { session, locks, statements, requests, outcomes, now, form, ...origins }
  if (locks.wait !== undefined) await waitForOthers(batch, locks.wait)
  const places = await meetingPreconditions(batch, await lockCustomers(batch))
  if (places.length === 0) return outcomes
  let sent: readonly Promise<unknown>[] = [...stage(batch, places), ...hold(batch, places)]
  let staged = places
  for (;;) {
    const [dropped] = await Promise.all([findConflicts(batch, staged.length), ...sent])
    if (dropped.size === 0) break
    staged = staged.filter((place) => !dropped.has(place))
    const lines = [statements.dialect.list([...dropped])]
    sent = [
      ...statements.leaveOut.map((sql) => run(batch, sql, lines)),
      ...statements.held.holdAgain.map((sql) => run(batch, sql)),
    ]
  }
  const isLeftOut = staged.length < places.length
  if (staged.length > 0) await mergePut(batch, staged, isLeftOut)
  else await Promise.all([...settle(batch, isLeftOut), ...empty(batch)])
  return outcomes
}

const run = ({ session }: Batch, sql: string, values: readonly Value[] = []) =>
  session.rows({ text: sql, values, prepare: true })

const empty = (batch: Batch) => emptyStaging.map((sql) => run(batch, sql))

/** Ends what the records no longer hold, if anything was noted. */
const settle = (batch: Batch, isNoted: boolean) =>
  isNoted ? batch.statements.held.settle.map((sql) => run(batch, sql)) : []

const requestAt = ({ requests }: Batch, place: number) => requests[place] as SealedPut

/** The stored records that have the ids of these, and their customers. */
const findStored = (
  batch: Batch,
  records: readonly Pick<SealedRecord, 'customerId' | 'id'>[],
): Promise<readonly NamedRow[]> => {
  const { find, dialect } = batch.statements
  return run(batch, find, dialect.keys.values(records))
}

/** Stages the records for as long as it takes to lock what they change. */
async function waitForOthers(batch: Batch, wait: NonNullable<PutLocks['wait']>): Promise<void> {
  const { requests } = batch
  const places = [...requests.keys()].filter((at) => !('withdraws' in requestAt(batch, at).record))
  await Promise.all(stage(batch, places))
  const takesOver = requests.some(({ takeOver }) => takeOver === true)
  await wait(customersOf(requests), takesOver)
  await Promise.all(empty(batch))
}

const customersOf = (requests: readonly SealedPut[]): readonly string[] => [
  ...new Set(requests.map(({ record }) => record.customerId)),
]

/** The places of the requests whose customers no other writer has locked. */
async function lockCustomers({ locks, requests, outcomes }: Batch): Promise<readonly number[]> {
  const locked = await locks.customers(customersOf(requests))
  for (const [place, { record }] of requests.entries()) {
    if (locked.has(record.customerId)) outcomes[place] = 'later'
  }
  return [...requests.keys()].filter((place) => outcomes[place] === undefined)
}

async function meetingPreconditions(
  batch: Batch,
  places: readonly number[],
): Promise<readonly number[]> {
  const { outcomes, statements } = batch
  const mustBeFound = ({ record, precondition }: SealedPut) =>
    'withdraws' in record ||
    precondition.match !== undefined ||
    precondition.noneMatch !== undefined
  const requests = places.map((place) => requestAt(batch, place))
  const records = requests.filter(mustBeFound).map(({ record }) => record)
  const rows = records.length === 0 ? [] : await findStored(batch, records)
  const versions = new Map(
    rows.map((row) => [text(row, 'id'), currentVersionOf(statements.resource, row)]),
  )
  return places.filter((place) => {
    const { record, precondition } = requestAt(batch, place)
    if ('withdraws' in record && !versions.has(record.id)) {
      outcomes[place] = { outcome: 'missing' }
      return false
    }
    const version = versions.get(record.id)
    const isRight = isMet(precondition, version)
    if (!isRight) outcomes[place] = { outcome: 'unmatched', version }
    return isRight
  })
}

/**
 * Stages records, and withdrawals as the stored records will be. Their lines are their places. It
 * has sent all statements once it returns.
 */
function stage(batch: Batch, places: readonly number[]): readonly Promise<unknown>[] {
  const { session, statements, now } = batch
  const fileAt = (place: number) => batch.fileOf[place] ?? 0
  const rows: (readonly StagedValue[])[] = []
  const withdrawals: (readonly Value[])[] = []
  for (const place of places) {
    const { record } = requestAt(batch, place)
    const file = fileAt(place)
    if ('withdraws' in record) withdrawals.push([place, file, now, record.customerId, record.id])
    else rows.push(statements.rowOf(place, { ...record, line: place, file }))
  }
  const sent: Promise<unknown>[] = []
  if (rows.length > 0) sent.push(session.stage(statements.staging, rows))
  for (const values of withdrawals) sent.push(run(batch, statements.stageWithdrawn, values))
  if (withdrawals.length > 0) sent.push(run(batch, statements.numberStaged))
  return sent
}

/** Adds the customers of the staged records, and holds their values. It has sent all statements. */
function hold(batch: Batch, places: readonly number[]): readonly Promise<unknown>[] {
  const { statements, locks } = batch
  const sent: Promise<unknown>[] = []
  if (locks.hasNew()) {
    sent.push(run(batch, statements.addCustomers))
    const ids = customersOf(places.map((place) => requestAt(batch, place)))
    // Another merge may have added one of them by now, and hold it.
    sent.push(
      locks.customers(ids).then((locked) => {
        if (locked.size > 0) throw new CustomersLocked()
      }),
    )
    sent.push(run(batch, statements.numberStaged))
  }
  sent.push(run(batch, statements.held.hold))
  return sent
}

/** The origins of requests, and the number of its origin, as of a file, for each place. */
function originsOf(requests: readonly SealedPut[]) {
  const files = new Map<string, Noted>()
  const fileOf = requests.map(({ from, takeOver: takesOver = false }) => {
    const key = `${from.command} ${from.clientId} ${takesOver}`
    const noted = files.get(key) ?? { file: files.size, from, takesOver, linesBefore: null }
    files.set(key, noted)
    return noted.file
  })
  return { origins: [...files.values()], fileOf }
}

/** The places to leave out. Those that conflict with the store get their outcome. */
async function findConflicts(batch: Batch, staged: number): Promise<ReadonlySet<number>> {
  const { statements, outcomes } = batch
  const [within, found] = await Promise.all([
    staged === 1 ? [] : run(batch, statements.within),
    run(batch, statements.stored),
  ])
  if (within.length > 0) return new Set(within.map(placeOf))
  const faults = found.filter((row) => {
    const { allowOlder, takeOver } = requestAt(batch, placeOf(row))
    return row.code === OLDER ? !allowOlder : takeOver !== true || row.code !== HELD
  })
  const refused = Map.groupBy(faults, placeOf)
  for (const [place, rows] of refused) {
    outcomes[place] = { outcome: 'refused', faults: rows.map(statements.readConflict) }
  }
  return new Set(refused.keys())
}

const HELD: RecordFaultCode = 'held'
const OLDER: RecordFaultCode = 'older'

const placeOf = (row: NamedRow): number => Number(whole(row, 'line'))

async function mergePut(
  batch: Batch,
  staged: readonly number[],
  isLeftOut: boolean,
): Promise<void> {
  const { statements, requests, outcomes, now } = batch
  const tidied = statements.tidy.map((sql) => run(batch, sql))
  const stale = isSealedKind(statements.resource)
    ? staleCustomers(batch.session, statements.dialect, batch.form)
    : undefined
  const [remaining] = await Promise.all([run(batch, statements.remaining), stale, ...tidied])
  if (stale !== undefined && (await stale).length > 0) throw new KeysReplaced()
  const takesOver = remaining.some((row) => requests[placeOf(row)]?.takeOver === true)
  const hasReplaced = remaining.some((row) => isTrue(row.replaces))
  if (takesOver || hasReplaced) await batch.locks.others(takesOver)
  if (takesOver) await run(batch, statements.held.noteTaken)
  const losers = takesOver ? await run(batch, statements.stageLosers, [now]) : []
  const files = new Set(remaining.map((row) => batch.fileOf[placeOf(row)]))
  const origins = batch.origins.filter(({ file }) => files.has(file))
  const noted = noteOrigins(batch.session, statements.dialect, origins)
  const sent = [noted, ...(losers.length > 0 ? [run(batch, statements.numberStaged)] : [])]
  const [[last], contents] = await Promise.all([
    run(batch, statements.lastChange),
    run(batch, statements.contents),
    ...sent,
  ])
  const storedAt = timeAfter(last, now)
  const versionAt = new Map(
    contents.map((row) => [placeOf(row), versionOf({ ...row, stored_at: storedAt })]),
  )
  for (const row of remaining) {
    const outcome = isTrue(row.replaces) ? 'changed' : 'added'
    outcomes[placeOf(row)] = { outcome, version: versionAt.get(placeOf(row)) ?? '' }
  }
  const has = (wanted: string) =>
    outcomes.some((outcome) => outcome !== 'later' && outcome?.outcome === wanted)
  const replaces = has('changed') || losers.length > 0
  const { noteReplaced } = statements.held
  const isLetGo = replaces && noteReplaced !== undefined
  const letGo = isLetGo ? [run(batch, noteReplaced)] : []
  const changes = statements.changes({ adds: has('added'), replaces, storedAt })
  const changed = (remaining.length === 0 ? [] : changes).map(({ text, values }) =>
    run(batch, text, values),
  )
  const settled = settle(batch, isLetGo || takesOver || isLeftOut)
  await Promise.all([...letGo, ...changed, ...settled, ...empty(batch)])
  const unchanged = staged.filter((place) => outcomes[place] === undefined)
  if (unchanged.length === 0) return
  const records = unchanged.map((place) => requestAt(batch, place).record)
  const rows = await findStored(batch, records)
  const versions = new Map(rows.map((row) => [text(row, 'id'), versionOf(row)]))
  for (const place of unchanged) {
    const version = versions.get(requestAt(batch, place).record.id) ?? ''
    outcomes[place] = { outcome: 'unchanged', version }
  }
}
