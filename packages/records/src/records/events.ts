import type { TimeRange } from '@bursar/base'
import { placeDigest } from '../lost-places.ts'
import type { EventAction } from './event-actions.ts'

/**
 * What a version did to a record, or a withdrawal to a fee. Times are microseconds since 1970, UTC.
 */
export type StoredEvent = {
  /** A kind of record, or `fees`. */
  readonly kind: string
  readonly id: string
  readonly action: EventAction
  /** Its place in the order of all versions of the customer, of every kind, from 1. */
  readonly change: bigint
  readonly storedAt: bigint
  /** What names the version of the record: see `versionMark`. 0 for a fee. */
  readonly mark: bigint
  /** When the version was in force and is still known. */
  readonly asOf: bigint
}

/** How far a reader of a customer's events has read. */
export type EventPlace = {
  /** The last event that was read; 0 before the first one. */
  readonly change: bigint
  /** What that event says, which tells it from another one of this number; 0 before the first. */
  readonly digest: bigint
  /** The last event that had been pruned when the reader began. */
  readonly pruned: bigint
}

/** What tells an event from every other one of its customer, but for its number. */
export const eventContent = ({ kind, id, action, storedAt, mark }: StoredEvent): string =>
  `${kind} ${id} ${action} ${storedAt} ${mark}`

/** The place after an event, for a reader that began after the last event that had been pruned. */
export const placeAfter = (event: StoredEvent, pruned: bigint): EventPlace => ({
  change: event.change,
  digest: placeDigest(eventContent(event)),
  pruned,
})

export type EventSelection = {
  readonly kinds: ReadonlySet<string>
  readonly order: 'ASC' | 'DESC'
  /** Undefined from the first event on, or in DESC order from the last one. */
  readonly after: EventPlace | undefined
  /** The numbers that events may have, if not all. */
  readonly range?: EventRange | undefined
  /** What the events match, if not all do. Each event of the range may be compared with it. */
  readonly filter?: EventFilter | undefined
  readonly limit: number
}

export type EventFilter = {
  /** Undefined for every type. Each kind of the selection has one of them. */
  readonly types: ReadonlySet<string> | undefined
  /** When the events were stored. */
  readonly times: TimeRange
}

/** low < change ≤ high. */
export type EventRange = { readonly low: bigint; readonly high: bigint }

/** No customer has so many versions. */
export const allNumbers: EventRange = { low: 0n, high: 2n ** 62n }

/** Events that follow each other, whether or not they match a filter. */
export type EventStretch = {
  readonly first: StoredEvent
  readonly last: StoredEvent
  readonly events: number
}

export type EventPage = {
  readonly events: readonly StoredEvent[]
  readonly more: boolean
  /** How many versions the customer has had; 0 for one without records. */
  readonly changes: bigint
  readonly pruned: bigint
  /** Hides the numbers of the customer's events in their ids; empty for one without records. */
  readonly secret: Uint8Array
}

/** An event of any customer, and its place in the log of changes. */
export type StoredChange = StoredEvent & {
  readonly customerId: string
  /** Hides the numbers of the customer's events in their ids. */
  readonly secret: Uint8Array
  readonly place: ChangePlace
}

/** How far a reader of the log of changes has read. */
export type ChangePlace = {
  /** The entry of the log; 0 before the first one. */
  readonly seq: bigint
  /** How many versions of the entry were read. An entry has at most 500. */
  readonly offset: number
  /** The last entry of the log when the reader began. Of entries up to it some may be pruned. */
  readonly begun: bigint
  /** A random number, which tells the entry from another one of its number. */
  readonly salt: bigint
}

export type ChangePage = {
  readonly changes: readonly StoredChange[]
  readonly more: boolean
  /** Where a reader goes on. */
  readonly last: ChangePlace
}

/**
 * Events after the place have been pruned, or lost in a fail-over or a restore: a reader that
 * goes on from there would miss some.
 */
export class EventsUnknown extends Error {
  override readonly name = 'EventsUnknown'
}

/** The events of one customer. */
export type CustomerEvents = {
  /** Rejects with an EventsUnknown if it cannot go on from the place without a gap. */
  page(selection: EventSelection): Promise<EventPage>
  /** The next events of these kinds, at most `limit`; undefined if there are none. */
  stretch(selection: Omit<EventSelection, 'filter'>): Promise<EventStretch | undefined>
  /** One event; undefined if it is unknown, pruned or of another kind. */
  find(kinds: ReadonlySet<string>, change: bigint): Promise<StoredEvent | undefined>
  /** What hides the numbers of the customer's events in their ids; undefined without records. */
  secret(): Promise<Uint8Array | undefined>
  /**
   * The range of numbers with all events of these kinds and times. It may have others too, since
   * the clock of one kind can be behind that of another.
   */
  rangeOf(kinds: ReadonlySet<string>, times: TimeRange): Promise<EventRange>
}
