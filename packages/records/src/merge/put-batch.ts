import { isKeyedKind, type RecordFaultCode, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { SealedRecord } from '../records/import.ts'
import { isMet, type PutOutcome, type SealedPut } from '../records/put.ts'
import { currentVersionOf, findQuery, versionOf, versionSecret } from '../records/stored-record.ts'
import { isTrue, type NamedRow, text, whole } from '../row.ts'
import { type CustomerNumbers, settleOwners, stagedOwners } from '../sealing/customer-numbers.ts'
import { staleCustomers } from '../sealing/staged-keys.ts'
import type { Session, StagedValue, Value } from '../session.ts'
import { CustomersLocked, KeysReplaced } from '../unavailable.ts'
import { conflictColumns, conflictQueries, stageLosers } from './conflict-queries.ts'
import { conflictReader } from './find-faults.ts'
import { mergeInOrder, storeStaged, takeValues } from './merge-order.ts'
import { mergeStatements } from './merge-statements.ts'
import type { Noted } from './origins.ts'
import { emptyStaging, numberStaged, putStagingOf, stagedMark, stagedRows } from './staging.ts'

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
    merge,
    staging,
    rowOf: stagedRows(staging),
    // Only stored records can be the reason to refuse a request.
    readConflict: conflictReader(resource, String),
    within: joined(withinFile(false)),
    stored: joined(withStore({ allowOlder: false })),
    leaveOut: merge.held.leaveOut(dialect.isAnyOf('line', dialect.parameter(1, 'bigint[]'))),
    leave: [
      ...(merge.keepDeletions === undefined ? [] : [merge.keepDeletions]),
      merge.dropUnchanged,
    ],
    remaining: `select line, sequence in (select staged.sequence from ${merge.replaced}) as replaces
      from staged`,
    /** What the versions of the staged records are made of, but for their time. */
    contents: `select line, id, ${stagedMark(resource)} as version_mark, deleted_at, source_version,
      ${versionSecret(dialect, 'staged.customer')} from staged`,
    numberStaged: numberStaged(dialect),
    owners: stagedOwners(dialect),
    stageLosers: stageLosers(resource, dialect),
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
  readonly numbers: CustomerNumbers
  readonly origins: readonly Noted[]
  readonly fileOf: readonly number[]
}

/**
 * Stores the records of a batch, whose ids differ, as an import of their lines, in a transaction
 * with empty staging tables, which it leaves empty. A request that is refused or unmatched does not
 * keep the others from being stored. One that conflicts with another of the batch is left to the
 * next batch, where it finds the other one stored.
 *
 * Statements that need no result of each other are sent together: a round trip to PostgreSQL takes
 * as long as a statement on a few records. So `leave` and `hold` do not wait, and `store` does.
 */
export async function putBatch(
  { session, locks }: Pick<Batch, 'session' | 'locks'>,
  statements: PutStatements,
  requests: readonly SealedPut[],
  { now, numbers }: Pick<Batch, 'now' | 'numbers'>,
): Promise<PutOutcomes> {
  const outcomes: PutOutcomes = requests.map(() => undefined)
  const origins = originsOf(requests)
  const batch = { session, locks, statements, requests, outcomes, now, numbers, ...origins }
  if (locks.wait !== undefined) await waitForOthers(batch, locks.wait)
  let places: readonly number[] = []
  let held: Held | undefined
  let sent: Sent | undefined
  await mergeInOrder({
    holdsAll: true,
    lock: async () => {
      places = await meetingPreconditions(batch, await lockCustomers(batch))
    },
    hold: async () => {
      if (places.length > 0) held = hold(batch, places)
    },
    leave: async () => {
      if (held !== undefined) sent = leave(batch, held)
    },
    store: async () => {
      if (sent !== undefined) await store(batch, places, sent)
    },
  })
  return outcomes
}

/** What the steps before `store` have sent. */
type Sent = Held & {
  /** A row for each record that changes something. */
  readonly changing: Promise<readonly NamedRow[]>
  /** What the versions of the records are made of. */
  readonly contents: Promise<readonly NamedRow[]>
  readonly stale: Promise<readonly string[]>
}

const run = ({ session }: Batch, sql: string, values: readonly Value[] = []) =>
  session.rows({ text: sql, values, prepare: true })

const empty = (batch: Batch) => emptyStaging.map((sql) => run(batch, sql))

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

/** Stages records, and withdrawals as the stored records will be. Their lines are their places. */
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
  for (const values of withdrawals) sent.push(run(batch, statements.merge.stageWithdrawn, values))
  if (withdrawals.length > 0) sent.push(run(batch, statements.numberStaged))
  return sent
}

type Held = {
  /** The customers of the staged records, and those of them that the batch has added. */
  readonly owners: Promise<readonly NamedRow[]>
  readonly added: Promise<readonly NamedRow[]>
  readonly all: readonly Promise<unknown>[]
}

/** Stages records, adds their customers, and holds their values. */
function hold(batch: Batch, places: readonly number[]): Held {
  const { statements, locks } = batch
  const { merge } = statements
  const sent = [...stage(batch, places)]
  const hasNew = locks.hasNew()
  const added = hasNew ? run(batch, merge.addCustomers) : Promise.resolve([])
  if (hasNew) {
    const ids = customersOf(places.map((place) => requestAt(batch, place)))
    // Another merge may have added one of them by now, and hold it.
    sent.push(
      locks.customers(ids).then((locked) => {
        if (locked.size > 0) throw new CustomersLocked()
      }),
    )
    sent.push(run(batch, statements.numberStaged))
  }
  const owners = run(batch, statements.owners)
  sent.push(run(batch, merge.held.hold))
  return { owners, added, all: [...sent, added, owners] }
}

/** Drops the records that are stored as they are, and reads what is needed of the others. */
function leave(batch: Batch, held: Held): Sent {
  const { statements, session } = batch
  const { resource, dialect } = statements
  const dropped = statements.leave.map((sql) => run(batch, sql))
  const changing = run(batch, statements.remaining)
  const contents = run(batch, statements.contents)
  const stale = isKeyedKind(resource) ? staleCustomers(session, dialect) : Promise.resolve([])
  const all = [...held.all, ...dropped, changing, contents, stale]
  return { ...held, changing, contents, stale, all }
}

/** Leaves out what conflicts, and stores the rest. */
async function store(batch: Batch, places: readonly number[], sent: Sent): Promise<void> {
  const left = await leaveConflicts(batch, places, sent.all)
  const isLeft = new Set(left)
  const rows = (await sent.changing).filter((row) => isLeft.has(placeOf(row)))
  const { session, numbers } = batch
  const { dialect } = batch.statements
  const added = new Set((await sent.added).map(({ id }) => id))
  const owners = await sent.owners
  await settleOwners(session, { dialect, numbers }, owners, ({ id }) => added.has(id))
  if ((await sent.stale).length > 0) throw new KeysReplaced()
  await storeChanging(batch, rows, await sent.contents, left.length < places.length)
  await noteUnchanged(batch, left)
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

/** Leaves out what conflicts, once all that was sent has ended. Returns the other places. */
async function leaveConflicts(
  batch: Batch,
  places: readonly number[],
  sent: readonly Promise<unknown>[],
): Promise<readonly number[]> {
  const { leaveOut, merge, dialect } = batch.statements
  let left = places
  let ended = sent
  for (;;) {
    const [dropped] = await Promise.all([findConflicts(batch, left.length), ...ended])
    if (dropped.size === 0) return left
    left = left.filter((place) => !dropped.has(place))
    const lines = [dialect.list([...dropped])]
    ended = [
      ...leaveOut.map((sql) => run(batch, sql, lines)),
      ...merge.held.holdAgain.map((sql) => run(batch, sql)),
    ]
  }
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

/** Stores the records that change something, with their outcomes. Empties the staging tables. */
async function storeChanging(
  batch: Batch,
  changing: readonly NamedRow[],
  contents: readonly NamedRow[],
  isLeftOut: boolean,
): Promise<void> {
  const { session, statements, outcomes, now } = batch
  const { dialect, merge, stageLosers } = statements
  if (changing.length === 0) {
    const ended = isLeftOut ? merge.held.settle : []
    await Promise.all([...ended, ...emptyStaging].map((sql) => run(batch, sql)))
    return
  }
  const takesOver = changing.some((row) => requestAt(batch, placeOf(row)).takeOver === true)
  const replaced = changing.filter((row) => isTrue(row.replaces))
  if (takesOver || replaced.length > 0) await batch.locks.others(takesOver)
  const merging = { session, dialect, merge, now, isPipelined: true }
  const losers = takesOver ? await takeValues(merging, stageLosers) : 0
  if (losers > 0) await run(batch, statements.numberStaged)
  const files = new Set(changing.map((row) => batch.fileOf[placeOf(row)]))
  const storedAt = await storeStaged(merging, {
    origins: batch.origins.filter(({ file }) => files.has(file)),
    adds: replaced.length < changing.length,
    replaces: replaced.length + losers > 0,
    isLetGo: takesOver || isLeftOut,
    last: emptyStaging,
  })
  const versionAt = new Map(
    contents.map((row) => [placeOf(row), versionOf({ ...row, stored_at: storedAt })]),
  )
  for (const row of changing) {
    const outcome = isTrue(row.replaces) ? 'changed' : 'added'
    outcomes[placeOf(row)] = { outcome, version: versionAt.get(placeOf(row)) ?? '' }
  }
}

/** Notes the outcomes of the places that have none: their records are stored as they are. */
async function noteUnchanged(batch: Batch, places: readonly number[]): Promise<void> {
  const { outcomes } = batch
  const unchanged = places.filter((place) => outcomes[place] === undefined)
  if (unchanged.length === 0) return
  const records = unchanged.map((place) => requestAt(batch, place).record)
  const rows = await findStored(batch, records)
  const versions = new Map(rows.map((row) => [text(row, 'id'), versionOf(row)]))
  for (const place of unchanged) {
    const version = versions.get(requestAt(batch, place).record.id) ?? ''
    outcomes[place] = { outcome: 'unchanged', version }
  }
}
