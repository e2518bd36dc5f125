import type { List } from '../contract.ts'
import type { Item } from '../json.ts'
import type { ShapeFault } from '../shape.ts'
import { type Evidence, need } from '../verdicts.ts'
import type { Query } from '../ways.ts'
import type { Tokens } from './client-tokens.ts'
import type { Call, Exchange } from './exchange.ts'
import type { EventPage, Feed } from './feed.ts'
import type { Pages, Sample } from './pages.ts'

/** A page, and the parameters by which it was read. */
export type Shown = Sample & { readonly by: string }

export type Judged = {
  readonly item: Item
  readonly evidence: Evidence
  readonly faults: readonly ShapeFault[]
}

export type Walk = Pages & { readonly limit: number }

/**
 * What one client reads. Samples, walks and other pages are read once and shared by the statements.
 */
export type Session = {
  /** Calls a path with the client's token, or with another one. */
  call(path: string, call?: Call & { readonly token?: string | null }): Promise<Exchange>
  /** Calls a list; it adds the customer where the operation requires one. */
  list(
    list: List,
    query?: Query,
    call?: Call & { readonly token?: string | null },
  ): Promise<Exchange>
  /** The records of a list; not testable unless the list answers them. */
  items(list: List, query: Query): Promise<Sample>
  /** The largest limit that the list answers. */
  limitOf(list: List): Promise<string>
  /** The newest records, with an id each. */
  sample(list: List): Promise<Sample>
  /** The sample and the pages behind it, as far as the limits allow. */
  whole(list: List): Promise<Pages>
  /** Every record of the whole, with the faults of its shape; not testable without a record. */
  judged(list: List): Promise<readonly Judged[]>
  /** Reads the sample again in small pages; needs two records. */
  walk(list: List): Promise<Walk>
  /** A page by each filter and bound, with and without deleted records. */
  shown(list: List): Promise<readonly Shown[]>
  /** A record that only the flag for deleted records shows, or undefined. */
  deleted(list: List): Promise<Item | undefined>
  /** The events from the first on, as far as the limits allow. */
  feed(): Promise<Feed>
  /** The newest events, newest first. */
  newestEvents(): Promise<EventPage>
  /** The first of the feed again, in small pages; needs two events. */
  feedWalk(): Promise<Feed>
  /** Whether the token has the scope; true if the endpoint does not name its scopes. */
  hasScope(scope: string): boolean
  /** Not testable unless the token has the scope. */
  needScope(scope: string): void
  customer(): Promise<string | undefined>
  /** An id that no record has. */
  newId(): string
  readonly tokens: Tokens
}

export function needRecords(items: readonly unknown[], least: 1 | 2 = 1): void {
  need(items.length >= least, items.length === 0 ? 'it has no record' : 'it has one record only')
}
