/**
 * The store cannot answer now, and a later attempt may succeed. The message names the reason for the operator; it never
 * quotes a stored value. `http/` answers it as 503.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
