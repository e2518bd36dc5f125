import type { StoredEvent } from './events.ts'
import type { VersionOrigin } from './history.ts'

/** One of the newest events, with who has stored the version. */
export type LatestChange = StoredEvent & {
  readonly customerId: string
  /** Hides the numbers of the customer's events in their ids. */
  readonly secret: Uint8Array
  /** Undefined for fees, and for records that came with a sandbox. */
  readonly origin: VersionOrigin | undefined
}
