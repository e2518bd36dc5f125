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

/** The store answered, but what it holds is damaged. Somebody has to mend it. */
export class StoreDamaged extends StoreUnavailable {}

/** The database reports a damaged table or index, so what it finds elsewhere in it may be wrong. */
export class StoreCorrupted extends StoreDamaged {}
