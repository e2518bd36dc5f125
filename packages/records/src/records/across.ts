import type { Position } from '../position.ts'

/** Which live records of all customers, or of one, a page has. */
export type AcrossSelection = {
  /** Undefined for records of every customer. */
  readonly customerId: string | undefined
  /** Undefined for every status. */
  readonly status: string | undefined
  readonly order: 'ASC' | 'DESC'
  readonly limit: number
  /** The place of the last record of the page before. */
  readonly after: AcrossPlace | undefined
}

/** The same in the order of the kind, between two times in microseconds. */
export type InOrder = AcrossSelection & {
  readonly from: bigint | undefined
  readonly until: bigint | undefined
}

/** The same in the order of a term, which may begin with a text that all of them have. */
export type ByTerm = AcrossSelection & {
  readonly term: (status: string) => string
  readonly start: string
  /** Records that are listed later are left out. Microseconds. */
  readonly now: bigint
}

/** The place of a record in a list. `sort` is its place in the order of the term, after `start`. */
export type AcrossPlace = { readonly position: Position; readonly sort: string }

export type AcrossRecord = AcrossPlace & {
  readonly customerId: string
  /** What the list of its customer shows of it. */
  readonly body: string
}

export type AcrossPage = {
  readonly records: readonly AcrossRecord[]
  /** Where the next page begins; undefined after the last one. */
  readonly next: AcrossPlace | undefined
}

/** Records to count: those whose current version was stored since a time, where one is given. */
export type Counting = Omit<InOrder, 'order' | 'limit' | 'after'> & {
  readonly storedSince: bigint | undefined
}

/** `more` tells that not all were counted. Times are those that sort the kind, in microseconds. */
export type Counted = {
  readonly count: number
  readonly more: boolean
  readonly oldest: bigint | undefined
  readonly newest: bigint | undefined
  /** Those that have the most, with the most first. */
  readonly customers: readonly { readonly customerId: string; readonly count: number }[]
}

/** Reads records of all customers. */
export type AcrossRecords = {
  /** What lists show of records, by the ids that have a record. */
  listed(ids: readonly string[]): Promise<ReadonlyMap<string, Pick<AcrossRecord, 'body'>>>
  /** Counts the newest records, a bounded number, until a deadline of `Time.elapsedMs`. */
  count(counting: Counting, deadline: number): Promise<Counted>
  /** The starts of the places that a term has, each up to its first blank. */
  startsOf(term: ByTerm['term'], customerId: string | undefined): Promise<readonly string[]>
  inOrder(selection: InOrder): Promise<AcrossPage>
  byTerm(selection: ByTerm): Promise<AcrossPage>
}
