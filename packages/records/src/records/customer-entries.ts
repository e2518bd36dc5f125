/** A customer as the operator's staff see it. Times are microseconds. */
export type CustomerEntry = {
  readonly id: string
  readonly name: string | undefined
  /** By kind. A kind of which the customer never had a record has no entry. */
  readonly kinds: ReadonlyMap<string, KindOfCustomer>
}

export type KindOfCustomer = {
  /** Records that a list without filters shows. */
  readonly live: number
  readonly changedAt: bigint
  /** Undefined where nothing is known of it, as in a store that was cleared. */
  readonly keptSince: bigint | undefined
}

/** Where a list of customers goes on: after an id, or after a term of a name. */
export type CustomerPlace = {
  /** The number of the customer. */
  readonly customer: bigint
  /** 0: found by its id; otherwise by this term of its name, from 1. */
  readonly place: number
  /** Digests of its id and of that term, since a restore may give the number to another one. */
  readonly idDigest: bigint
  readonly termDigest: number
}

export type CustomerSearch = {
  /** Empty for every customer. */
  readonly prefix: string
  readonly after: CustomerPlace | undefined
  /** CustomerRegister that are read. Those that were erased or found before are left out. */
  readonly customersMax: number
}

export type CustomerPage = {
  readonly customers: readonly CustomerEntry[]
  /** Undefined on the last page. */
  readonly next: CustomerPlace | undefined
}

/** How many records of a customer and a kind are deleted or withdrawn. */
type DeletedCount = {
  readonly customerId: string
  readonly kind: string
  readonly counted: number
}

/** The customers, their display names, and the counts of their records that the store keeps. */
export type CustomerRegister = {
  /**
   * By id in any case, then by the terms of names, each customer once. Rejects with a PlaceLost if
   * another customer, or none, has the number of the place.
   */
  list(search: CustomerSearch): Promise<CustomerPage>
  /** Undefined for one of which nothing is kept. */
  find(customerId: string): Promise<CustomerEntry | undefined>
  /** Gives a customer a name, or takes it away. False if nothing is kept of the customer. */
  rename(customerId: string, name: string | undefined): Promise<boolean>
  /** Counts what is stored of some customers and deleted or withdrawn, by kind. Reads all of it. */
  countDeleted(customerIds: readonly string[]): Promise<readonly DeletedCount[]>
}
