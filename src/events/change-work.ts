import type { OperatorWork } from '../contract/operation.ts'
import { describeOrigin } from '../history/history-work.ts'
import { readUpdates } from '../history/read-update.ts'
import { limits } from '../platform/limits.ts'
import { eventKinds } from '../resources/event-types.ts'
import {
  changePlaceOf,
  changePosition,
  eventPlaceOf,
  eventPosition,
  type Position,
} from '../store/position.ts'
import type { StoredEvent } from '../store/records/events.ts'
import type { Store } from '../store/records.ts'
import { describeEvent } from './describe-event.ts'

type ChangeDeps = { readonly store: Pick<Store, 'operator'> }

type ChangesFound = {
  readonly items: readonly object[]
  readonly more: boolean
  readonly last: Position
}

/** The work of listChanges. */
export const changesWork =
  ({ store }: ChangeDeps): OperatorWork =>
  async ({ caller, parameters, after, trace }) => {
    const limit = Number(parameters.get('limit') ?? limits.pageSizeDefault)
    const { boundTo } = caller
    const { items, more, last } =
      boundTo === null
        ? await changesOfAll(store, after, limit)
        : await changesOfOne(store, boundTo, after, limit)
    trace.rows = items.length
    return { body: { items }, next: more ? last : undefined, resume: last }
  }

async function changesOfAll(
  { operator }: ChangeDeps['store'],
  after: Position | undefined,
  limit: number,
): Promise<ChangesFound> {
  const found = await operator.changes(after && changePlaceOf(after), limit)
  const items = found.changes.map((change) =>
    describeChange(change.customerId, change, change.secret),
  )
  return { items, more: found.more, last: changePosition(found.last) }
}

/** The feed of the one customer of a bound client. */
async function changesOfOne(
  { operator }: ChangeDeps['store'],
  customerId: string,
  after: Position | undefined,
  limit: number,
): Promise<ChangesFound> {
  const place = after && eventPlaceOf(after)
  const kinds = new Set<string>(eventKinds)
  const asked = { kinds, order: 'ASC', after: place, limit } as const
  const { events, more, pruned, secret } = await operator.eventsOf(customerId).page(asked)
  const items = events.map((event) => describeChange(customerId, event, secret))
  const start = place ?? { change: 0n, storedAt: 0n, pruned }
  const newest = events.at(-1)
  const last = newest === undefined ? start : { ...newest, pruned: start.pruned }
  return { items, more, last: eventPosition(last) }
}

const describeChange = (customerId: string, event: StoredEvent, secret: Uint8Array) => ({
  customer_id: customerId,
  ...describeEvent(event, secret),
})

/** The work of listLatestChanges. A bound client reads its customer's alone. */
export const latestChangesWork =
  ({ store }: ChangeDeps): OperatorWork =>
  async ({ caller, parameters, trace }) => {
    const changesMax = Number(parameters.get('limit') ?? limits.latestChangesMax)
    const named = parameters.get('customer_id')
    const { boundTo } = caller
    const isForeign = boundTo !== null && named !== undefined && named !== boundTo
    const customerId = boundTo ?? (named === undefined ? undefined : String(named))
    const found = isForeign ? [] : await store.operator.latestChanges(customerId, changesMax)
    trace.rows = found.length
    const updates = await readUpdates(store.operator, found)
    const changes = found.map((change) => ({
      ...describeChange(change.customerId, change, change.secret),
      ...updates.get(change),
      origin: describeOrigin(change.origin, boundTo !== null),
    }))
    return { body: { changes } }
  }
