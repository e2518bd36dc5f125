import { largest, smallest } from '@bursar/base'
import { eventKinds, eventTypeOf } from '@bursar/contract'
import { type Dialect, openParameters, type Parameters } from '../dialect.ts'
import type { RequireOwner } from '../integrity/owners.ts'
import { eventActions, eventNumbers } from '../records/event-actions.ts'
import {
  allNumbers,
  type CustomerEvents,
  type EventFilter,
  type EventPlace,
  type EventRange,
  type EventSelection,
  EventsUnknown,
  placeAfter,
  type StoredEvent,
} from '../records/events.ts'
import { bytes, isTrue, type NamedRow, optionalWhole, text, whole } from '../row.ts'
import { customerNumber, ownerOf } from '../schema/customers.ts'
import type { Reads, Statement } from '../session.ts'
import { type Branch, branchesOf } from './event-branches.ts'

/** Reads the events of a customer, over sessions that see its records. */
export function readEvents(
  { rows }: Reads,
  dialect: Dialect,
  customerId: string,
  requireOwner: RequireOwner,
): CustomerEvents {
  const read = async (asked: AskedEvents) => {
    const found = await rows(eventsQuery(dialect, customerId, asked))
    await requireOwner(customerId, found[0] && text(found[0], 'owner'))
    return readRows(found)
  }
  return {
    page: async ({ kinds, order, after, range, filter, limit }) => {
      const asked = { kinds, order, filter, limit }
      // A filter may not match the event of the place, which is then read apart from the range.
      const next = rangeAfter(order, after, range, filter === undefined)
      const found = await read({ ...asked, ...next })
      const last = found.events.find(({ change }) => change === after?.change)
      const isResumed = order === 'ASC' && after !== undefined
      if (isResumed && hasGap(after, last, found)) throw new EventsUnknown()
      const events = found.events.filter((event) => event !== last)
      const page = events.slice(0, limit)
      const { changes, pruned, secret } = found
      return { events: page, more: events.length > limit, changes, pruned, secret }
    },
    stretch: async ({ kinds, order, after, range, limit }) => {
      const asked = { kinds, order, limit, ...rangeAfter(order, after, range, false) }
      const found = await rows(stretchQuery(dialect, customerId, asked))
      const ends = found.map(readEvent)
      const [first, last = first] = order === 'ASC' ? ends : ends.toReversed()
      return first && last && { first, last, events: Number(whole(found[0] ?? {}, 'events')) }
    },
    find: async (kinds, change) => {
      const asked = { kinds, order: 'ASC', limit: 1, low: change - 1n, high: change } as const
      return (await read({ ...asked, at: undefined })).events[0]
    },
    secret: async () => {
      const { tableName, parameter } = dialect
      const secretQuery = `select event_secret from ${tableName('customer')} where id = ${parameter(1, 'text')}`
      const [row] = await rows({ text: secretQuery, values: [customerId], prepare: true })
      return row && bytes(row, 'event_secret')
    },
    rangeOf: async (kinds, { from, before }) => {
      const find = async (end: RangeEnd, at: bigint) => {
        const [row] = await rows(rangeEndQuery(dialect, customerId, kinds, end, at))
        return (row && optionalWhole(row, 'change')) ?? undefined
      }
      const first = from === undefined ? 1n : ((await find('first', from)) ?? allNumbers.high)
      const last = before === undefined ? allNumbers.high : ((await find('last', before)) ?? 0n)
      return { low: first - 1n, high: last }
    },
  }
}

/**
 * Whether events after the place are gone. They were pruned since the reader began; or the event of
 * the place is not there or is another one, because a fail-over or a restore has lost changes. A
 * replica may not have it yet.
 */
function hasGap(after: EventPlace, last: StoredEvent | undefined, found: FoundEvents): boolean {
  if (found.pruned > after.change && found.pruned !== after.pruned) return true
  if (last !== undefined) return placeAfter(last, after.pruned).digest !== after.digest
  const mayBePruned = after.change <= found.pruned
  const mayBeLate = found.isReplica && found.changes < after.change
  return !mayBePruned && !mayBeLate
}

type AskedEvents = Pick<EventSelection, 'kinds' | 'order' | 'filter' | 'limit'> &
  EventRange & {
    /** An event that is read whatever its kind, and in addition to the others. */
    readonly at: bigint | undefined
  }

function rangeAfter(
  order: EventSelection['order'],
  after: EventPlace | undefined,
  { low, high }: EventRange = allNumbers,
  hasPlace: boolean,
) {
  if (after === undefined) return { low, high, at: undefined }
  return order === 'ASC'
    ? { low: largest(low, after.change - (hasPlace ? 1n : 0n)), high, at: after.change }
    : { low, high: smallest(high, after.change - 1n), at: undefined }
}

const none: ReadonlySet<string> = new Set()

/**
 * Reads the events of a range in the order of their numbers, one more than the page, and what their
 * customer has. Each branch scans one index. The number of a customer that has none is null.
 */
function eventsQuery(dialect: Dialect, customerId: string, asked: AskedEvents): Statement {
  const { kinds, order, filter, limit, low, high, at } = asked
  const { tableName, bounded, isReplica } = dialect
  const parameters = openParameters(dialect)
  const { values, add } = parameters
  const customer = customerNumber(dialect, add(customerId, 'text'))
  const [above, upTo] = [add(low, 'bigint'), add(high, 'bigint')]
  const isInRange = at !== undefined && low < at
  const unread = new Set(eventKinds).difference(isInRange ? kinds : none)
  const ordered = `order by change ${order === 'ASC' ? 'asc' : 'desc'} limit ${add(limit, 'bigint')} + ${isInRange ? 2 : 1}`
  const inRange = `record.change > ${above} and record.change <= ${upTo}`
  // A union needs a branch. A client that may read no kind gets one without events.
  const matching = filter === undefined ? undefined : matchesOf(filter, parameters)
  const some =
    kinds.size === 0
      ? noEvents(dialect, customer)
      : branchesOf(dialect, customer, kinds, { matching })
  const ranges = some.map((branch) => bounded(branch(inRange), ordered))
  const page = `select * from (${ranges.join(' union all ')} ${ordered}) as page`
  const exact = () => {
    const is = `record.change = ${add(at ?? 0n, 'bigint')}`
    return branchesOf(dialect, customer, unread).map((branch) => branch(is))
  }
  const isApart = at !== undefined && unread.size > 0
  const found = [...(isApart ? exact() : []), page].join(' union all ')
  return {
    text: `
      select event.*, kept.at as kept_since, owner.changes, owner.event_secret,
        ${ownerOf('owner')} as owner,
        ${isReplica} as is_replica,
        (select max(pruned) from ${tableName('kept_since')} where customer = ${customer}) as pruned
      from ${tableName('customer')} as owner
      left join (${found}) as event on true
      left join ${tableName('kept_since')} as kept
        on kept.customer = owner.number and kept.kind = event.kind
      where owner.number = ${customer}
      order by event.change ${order === 'ASC' ? 'asc' : 'desc'}`,
    values,
    prepare: true,
  }
}

/**
 * How many events a range has at most, and its first and last one. They are counted by the indexes
 * alone, so that many cost little.
 */
function stretchQuery(dialect: Dialect, customerId: string, asked: AskedEvents): Statement {
  const { kinds, order, limit, low, high } = asked
  const { values, add } = openParameters(dialect)
  const customer = customerNumber(dialect, add(customerId, 'text'))
  const inRange = `record.change > ${add(low, 'bigint')} and record.change <= ${add(high, 'bigint')}`
  const ordered = `order by change ${order === 'ASC' ? 'asc' : 'desc'} limit ${add(limit, 'bigint')} + 0`
  const numbers = branchesOf(dialect, customer, kinds, { selected: 'record.change' })
  const ranges = numbers.map((branch) => dialect.bounded(branch(inRange), ordered))
  const ends = branchesOf(dialect, customer, kinds, {
    columns: 'stretch.events, null as kept_since,',
    each: 'stretch',
  })
  const isEnd = 'record.change in (stretch.first, stretch.last)'
  return {
    text: `
      with stretch as materialized (
        select count(*) as events, min(change) as first, max(change) as last
        from (select change from (${ranges.join(' union all ')}) as next ${ordered}) as part
      )
      select * from (${ends.map((branch) => branch(isEnd)).join(' union all ')}) as found
      order by change`,
    values,
    prepare: true,
  }
}

/** The condition of a filter on the events of a kind. */
function matchesOf({ types, times }: EventFilter, { add }: Parameters): (kind: string) => string {
  const { from, before } = times
  const isInTime = [
    ...(from === undefined ? [] : [`and record.stored_at >= ${add(from, 'bigint')}`]),
    ...(before === undefined ? [] : [`and record.stored_at < ${add(before, 'bigint')}`]),
  ].join(' ')
  return (kind) => {
    // A kind has its types, of which a fee has but one.
    if (types === undefined || kind === 'fees') return isInTime
    const actions = eventActions.filter((action) => types.has(eventTypeOf(kind, action)))
    const numbers = actions.map((action) => eventNumbers[action])
    return `and record.event in (${numbers.join(', ')}) ${isInTime}`
  }
}

const noEvents = (dialect: Dialect, customer: string): readonly Branch[] =>
  branchesOf(dialect, customer, new Set(['fees'])).map((branch) => () => branch('false'))

type RangeEnd = 'first' | 'last'

/** The first event that was stored at a time or later, or the last one that was stored before. */
function rangeEndQuery(
  dialect: Dialect,
  customerId: string,
  kinds: ReadonlySet<string>,
  end: RangeEnd,
  at: bigint,
): Statement {
  const { values, add } = openParameters(dialect)
  const customer = customerNumber(dialect, add(customerId, 'text'))
  const time = add(at, 'bigint')
  const changes = `(select changes from ${dialect.tableName('customer')} where number = ${customer})`
  const ends = branchesOf(dialect, customer, kinds).map((branch) => {
    const before = numberBefore(branch, time, changes)
    return end === 'first' ? nextAfter(branch, before, 'change') : lastUpTo(branch, before)
  })
  return {
    text: `select ${end === 'first' ? 'min' : 'max'}(change) as change
      from (${ends.map((one) => `select ${one} as change`).join(' union all ')}) as found`,
    values,
    prepare: true,
  }
}

/**
 * The number behind which the first event of a branch is that was stored at a time or later. No
 * index has the times, but in the order of the numbers the times of a kind never fall. So the range
 * is halved until one number is left: the event next after `low` is earlier than the time, the one
 * next after `high` is not.
 */
function numberBefore(branch: Branch, time: string, changes: string): string {
  const middle = '(low + high) / 2'
  const isEarlier = `${nextAfter(branch, middle, 'stored_at')} < ${time}`
  return `(
    with recursive half (low, high) as (
      select cast(-1 as bigint), ${changes}
      union all
      select case when ${isEarlier} then ${middle} else low end,
        case when ${isEarlier} then high else ${middle} end
      from half where high - low > 1
    )
    select min(high) from half)`
}

const nextAfter = (branch: Branch, number: string, column: 'change' | 'stored_at'): string =>
  `(select ${column} from (${branch(`record.change > ${number}`)} order by record.change limit 1) as next)`

const lastUpTo = (branch: Branch, number: string): string =>
  `(select change from (${branch(`record.change <= ${number}`)} order by record.change desc limit 1) as last)`

type FoundEvents = {
  readonly events: readonly StoredEvent[]
  readonly changes: bigint
  readonly pruned: bigint
  readonly isReplica: boolean
  readonly secret: Uint8Array
}

const NO_SECRET = new Uint8Array(0)

function readRows(rows: readonly NamedRow[]): FoundEvents {
  const [first] = rows
  return {
    events: rows.filter(({ kind }) => kind !== null).map(readEvent),
    changes: first === undefined ? 0n : whole(first, 'changes'),
    pruned: (first && optionalWhole(first, 'pruned')) ?? 0n,
    isReplica: isTrue(first?.is_replica),
    secret: first === undefined ? NO_SECRET : bytes(first, 'event_secret'),
  }
}

/** Reads a row of those queries, with the time since which its kind is known. */
export function readEvent(row: NamedRow): StoredEvent {
  const storedAt = whole(row, 'stored_at')
  const keptSince = optionalWhole(row, 'kept_since') ?? storedAt
  const kind = text(row, 'kind')
  return {
    kind,
    id: text(row, 'id'),
    action: eventActions[Number(whole(row, 'event'))] ?? 'updated',
    change: whole(row, 'change'),
    storedAt,
    mark: whole(row, 'mark'),
    // What was in force when older versions were pruned is known since then.
    asOf: kind !== 'fees' && storedAt < keptSince ? keptSince : storedAt,
  }
}
