/**
 * The store cannot answer now, but a later attempt may succeed. The message tells the operator why
 * and never quotes a stored value. `http/` answers it with 503.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
