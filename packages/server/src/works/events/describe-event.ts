import { printInstant } from '@bursar/base'
import { eventTypeOf, objectTypeOf } from '@bursar/contract'
import type { StoredEvent } from '@bursar/records'
import { eventId } from './event-id.ts'

/** An event as the API answers it. The secret is that of its customer. */
export function describeEvent(event: StoredEvent, secret: Uint8Array) {
  const { kind, id, action, storedAt, asOf } = event
  return {
    id: eventId(secret, event),
    type: eventTypeOf(kind, action),
    object_type: objectTypeOf(kind),
    object: { id, kind },
    created_at: printInstant(storedAt),
    as_of: printInstant(asOf),
  }
}
