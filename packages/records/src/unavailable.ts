type UnavailableOptions = ErrorOptions & {
  /** How long the cause will probably last, where the store can tell. */
  readonly retryAfterMs?: number
}

/** A later attempt may succeed. The message tells the operator why and quotes no stored value. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
  readonly retryAfterMs: number | undefined

  constructor(message?: string, { retryAfterMs, ...options }: UnavailableOptions = {}) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}

/** The store refused the change before it did anything. Other failures may leave it done. */
export class NothingChanged extends StoreUnavailable {}

/** Other writers hold a customer of the change, or a value that it stores. */
export class CustomersLocked extends NothingChanged {
  constructor(options?: ErrorOptions) {
    super('another writer is changing records of this customer, or stores the same value', options)
  }
}

/** A record was sealed with a key that its customer has no more. */
export class KeysReplaced extends NothingChanged {
  constructor() {
    super('the key of a customer was replaced while its records were stored')
  }
}

/** Another process serves the embedded store, so nothing has been opened. */
export class StoreServed extends StoreUnavailable {
  constructor(path: string) {
    super(
      `another process serves the store at ${path}, and an embedded store has one server; end that one, or move to PostgreSQL, which several processes can serve (docs/scaling.md)`,
    )
  }
}

/** No server of the database answers as its primary, so nothing has been opened. */
export class NoPrimary extends StoreUnavailable {}

/** The store answered, but what it holds is damaged. Somebody has to mend it. */
export class StoreDamaged extends StoreUnavailable {}

/** The database reports a damaged table or index, so what it finds elsewhere in it may be wrong. */
export class StoreCorrupted extends StoreDamaged {}

/** The database refused a statement, such as for a missing right. The message has its words. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused'
}
