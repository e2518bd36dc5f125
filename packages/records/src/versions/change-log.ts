import { type Clock, largest, limitsOf, smallest, systemTime, turn } from '@bursar/base'
import { eventKinds } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import {
  type ChangePage,
  type ChangePlace,
  EventsUnknown,
  type StoredChange,
} from '../records/events.ts'
import type { OperatorRecords } from '../records.ts'
import { bytes, isTrue, type NamedRow, text, whole } from '../row.ts'
import type { Reads, Session, Transact, Value } from '../session.ts'
import { StoreUnavailable } from '../unavailable.ts'
import { branchesOf } from './event-branches.ts'
import { readEvent } from './read-events.ts'

const limits = limitsOf({
  /** Versions of one entry of the log of changes, and customers that are added to it together. */
  changesPerEntryMax: 500,
  changedCustomersTogether: 500,
  /** How often one request adds to the log, and how long it waits for the store to do so. */
  changeRoundsMax: 20,
  changesListedMs: 1000,
  /** Entries that one page of the log reads at most: as many as a page has events. */
  changeEntriesMax: 1000,
})

type LogSessions = Reads & { readonly transact: Transact }

/**
 * The events of all customers in one order. A number that a version gets before its commit would
 * leave gaps, which a later commit fills behind the reader. So each reader first adds the versions
 * that are committed to the log, in a transaction that holds the head of the log until its commit.
 */
export function openChangeLog(
  sessions: LogSessions,
  dialect: Dialect,
  clock: Clock,
): OperatorRecords['changes'] {
  const statements = logStatements(dialect)
  const listSome = async () => {
    // A write for each look would be one for each reader that polls.
    const [look] = await sessions.rows({ text: statements.hasDue, prepare: true })
    if (!isTrue(look?.has_due)) return false
    const deadline = systemTime.elapsedMs() + limits.changesListedMs
    const list = (session: Session) => listDue(session, dialect, statements, clock())
    return await sessions.transact(list, deadline).catch((error: unknown) => {
      // A merge holds the store. What the log lacks comes later.
      if (error instanceof StoreUnavailable) return false
      throw error
    })
  }
  return async (after, limit) => {
    for (let round = 0; round < limits.changeRoundsMax && (await listSome()); ) round += 1
    return await readPage(sessions, dialect, statements, after, limit)
  }
}

type Statements = ReturnType<typeof logStatements>

export function logStatements(dialect: Dialect) {
  const { tableName, parameter, forUpdate, isAnyOf, unnest, random } = dialect
  const [state, log, head, customer, kept] = [
    'change_state',
    'change_log',
    'change_head',
    'customer',
    'kept_since',
  ].map(tableName)
  const ranges = { customer: 'bigint[]', low: 'bigint[]', high: 'bigint[]' } as const
  const entries = { seq: 'bigint[]', ...ranges } as const
  const events = branchesOf(dialect, 'entry.customer', new Set(eventKinds), {
    columns: 'entry.seq,',
    each: 'entry',
  }).map((branch) => branch('record.change > entry.low and record.change <= entry.high'))
  return {
    hasDue: `select exists (select 1 from ${state} where is_due = true) as has_due`,
    lockHead: `update ${head} set seq = seq where id = 1 returning seq`,
    due: `select customer, listed from ${state} where is_due = true
      order by customer limit ${parameter(1, 'bigint')} ${forUpdate('skip')}`,
    countsOf: `select number, changes from ${customer}
      where ${isAnyOf('number', parameter(1, 'bigint[]'))}`,
    add: `insert into ${log} (seq, customer, low, high, listed_at, salt)
      select seq, customer, low, high, ${parameter(5, 'bigint')}, ${random} from ${unnest('entry', entries)}`,
    listed: `update ${state} as state set listed = added.high, is_due = false
      from ${unnest('added', { customer: 'bigint[]', high: 'bigint[]' })}
      where state.customer = added.customer`,
    moveHead: `update ${head} set seq = ${parameter(1, 'bigint')} where id = 1`,
    head: `select seq from ${head}`,
    entries: `select entry.seq, entry.customer, owner.id as customer_id,
        owner.event_secret, entry.low, entry.high,
        entry.salt
      from ${log} as entry join ${customer} as owner on owner.number = entry.customer
      where entry.seq >= ${parameter(1, 'bigint')}
      order by entry.seq limit ${parameter(2, 'bigint')} + 0`,
    events: `
      with entry as materialized (select * from ${unnest('given', entries)})
      select event.*, kept.at as kept_since from (${events.join(' union all ')}) as event
      join entry on entry.seq = event.seq
      left join ${kept} as kept on kept.customer = entry.customer and kept.kind = event.kind
      order by event.seq, event.change`,
  }
}

/**
 * Adds what is due to the log, for a part of the customers. Returns whether more may be due. A
 * customer that changes meanwhile is noted again by its writer.
 */
async function listDue(
  { rows }: Session,
  { list }: Dialect,
  statements: Statements,
  now: bigint,
): Promise<boolean> {
  const run = (sql: string, values: readonly Value[] = []) =>
    rows({ text: sql, values, prepare: true })
  const numbers = (all: readonly bigint[]) => list(all.map(Number))
  const [head = {}] = await run(statements.lockHead)
  const due = await run(statements.due, [limits.changedCustomersTogether])
  if (due.length === 0) return false
  const customers = due.map((row) => whole(row, 'customer'))
  const counted = await run(statements.countsOf, [numbers(customers)])
  const counts = new Map(counted.map((row) => [whole(row, 'number'), whole(row, 'changes')]))
  const last = whole(head, 'seq')
  const added = due.flatMap((row) => {
    const customer = whole(row, 'customer')
    const listed = whole(row, 'listed')
    return rangesOf(listed, counts.get(customer) ?? listed).map((range) => ({ customer, ...range }))
  })
  if (added.length > 0) {
    await run(statements.add, [
      numbers(added.map((_entry, at) => last + BigInt(at + 1))),
      numbers(added.map(({ customer }) => customer)),
      numbers(added.map(({ low }) => low)),
      numbers(added.map(({ high }) => high)),
      now,
    ])
    await run(statements.moveHead, [last + BigInt(added.length)])
  }
  const highs = customers.map((customer) => counts.get(customer) ?? 0n)
  await run(statements.listed, [numbers(customers), numbers(highs)])
  return due.length === limits.changedCustomersTogether
}

/** The versions after a number, in parts that a page can hold. */
function rangesOf(listed: bigint, changes: bigint): readonly Range[] {
  const size = BigInt(limits.changesPerEntryMax)
  const ranges: Range[] = []
  for (let low = listed; low < changes; low += size) {
    ranges.push({ low, high: smallest(low + size, changes) })
  }
  return ranges
}

type Range = { readonly low: bigint; readonly high: bigint }

type Entry = Range & {
  readonly seq: bigint
  readonly customer: bigint
  readonly customerId: string
  readonly secret: Uint8Array
  readonly salt: bigint
  /** The last version that the reader has read: `low` unless it has stopped within the entry. */
  readonly read: bigint
}

async function readPage(
  { rows }: Reads,
  { list }: Dialect,
  statements: Statements,
  after: ChangePlace | undefined,
  limit: number,
): Promise<ChangePage> {
  const run = (sql: string, values: readonly Value[] = []) =>
    rows({ text: sql, values, prepare: true })
  const start = after ?? {
    ...BEFORE_ALL,
    begun: whole((await run(statements.head))[0] ?? {}, 'seq'),
  }
  const found = await run(statements.entries, [start.seq, limits.changeEntriesMax + 1])
  const entries = found.map((row) => readEntry(row, start))
  const isThere = entries[0]?.seq === start.seq && entries[0].salt === start.salt
  if (start.seq > 0n && !isThere) throw new EventsUnknown()
  if (lacksEntry(entries, start)) throw new EventsUnknown()
  const chosen = entriesOfPage(entries, limit)
  const events: NamedRow[] = []
  for (let left = chosen; left.length > 0; ) {
    // A part takes some milliseconds, after which other requests have their turn.
    if (left !== chosen) await turn()
    const part = entriesOfPage(left, limits.changesPerEntryMax)
    left = left.slice(part.length)
    const numbers = (of: (entry: Entry) => bigint) => list(part.map((entry) => Number(of(entry))))
    const columns = [numbers(({ seq }) => seq), numbers(({ customer }) => customer)]
    const ranges = [numbers(({ read }) => read), numbers(({ high }) => high)]
    events.push(...(await run(statements.events, [...columns, ...ranges])))
  }
  const bySeq = Map.groupBy(events, (row) => whole(row, 'seq'))
  const changes = chosen.flatMap((entry) =>
    changesOf(entry, bySeq.get(entry.seq) ?? [], start.begun),
  )
  const page = changes.slice(0, limit)
  const isCut = page.length < changes.length
  const lastEntry = chosen.at(-1)
  const end = lastEntry && placeIn(lastEntry, lastEntry.high, start.begun)
  return {
    changes: page,
    more: isCut || (lastEntry ?? entries.at(-1))?.seq !== entries.at(-1)?.seq,
    last: (isCut ? page.at(-1)?.place : end) ?? start,
  }
}

const BEFORE_ALL = { seq: 0n, offset: 0, salt: 0n }

function readEntry(row: NamedRow, { seq: startSeq, offset }: ChangePlace): Entry {
  const [seq, low] = [whole(row, 'seq'), whole(row, 'low')]
  return {
    seq,
    customer: whole(row, 'customer'),
    customerId: text(row, 'customer_id'),
    secret: bytes(row, 'event_secret'),
    low,
    high: whole(row, 'high'),
    salt: whole(row, 'salt'),
    // The entry of a customer that was erased is empty, wherever the reader stopped in it.
    read: seq === startSeq ? smallest(low + BigInt(offset), whole(row, 'high')) : low,
  }
}

/** Whether an entry was pruned that is later than the beginning of the reader. */
const lacksEntry = (entries: readonly Entry[], { seq, begun }: ChangePlace): boolean =>
  entries.some((entry, at) => entry.seq > 1n + largest(entries[at - 1]?.seq ?? seq, begun))

/** The first entries, until they fill the page. Those without anything to read are passed by. */
function entriesOfPage(entries: readonly Entry[], limit: number): readonly Entry[] {
  let versions = 0n
  return entries.slice(0, limits.changeEntriesMax).filter(({ read, high }) => {
    const before = versions
    versions += high - read
    return before < BigInt(limit)
  })
}

/** What was pruned before the reader began is none of its events. */
function changesOf(entry: Entry, rows: readonly NamedRow[], begun: bigint): StoredChange[] {
  const { customerId, secret, seq, read, high } = entry
  if (BigInt(rows.length) !== high - read && seq > begun) throw new EventsUnknown()
  return rows.map(readEvent).map((event) => ({
    ...event,
    customerId,
    secret,
    place: placeIn(entry, event.change, begun),
  }))
}

const placeIn = ({ seq, low, salt }: Entry, change: bigint, begun: bigint): ChangePlace => ({
  seq,
  offset: Number(change - low),
  begun,
  salt,
})
