import type { Config } from '@bursar/base'
import {
  asTenant,
  contractLimits,
  eventKinds,
  type OperatorWork,
  type Tenant,
} from '@bursar/contract'
import {
  changePlaceOf,
  changePosition,
  describeOrigin,
  eventPlaceOf,
  eventPosition,
  POSITION_BYTES,
  type Position,
  placeAfter,
  readUpdates,
  type Store,
  type StoredEvent,
} from '@bursar/records'
import { describeEvent } from './describe-event.ts'
import type { EventWaits } from './event-waits.ts'
import { openSharedReads } from './shared-reads.ts'
import { waitForSome, waitingReadsMax } from './wait-for-events.ts'

type ChangeDeps = { readonly store: Pick<Store, 'operator'> }

type ListDeps = {
  readonly store: Pick<Store, 'operator'> & {
    readonly customers: Pick<Store['customers'], 'changes'>
  }
  readonly config: Pick<Config, 'databaseConnectionsMax'>
  readonly waits: EventWaits
}

/** All that a page of changes depends on. Requests with equal queries may share a read. */
type ChangesQuery = {
  /** The customer of a bound client. */
  readonly boundTo: Tenant | undefined
  /** The place in hexadecimal digits. */
  readonly after: string | undefined
  readonly limit: number
}

type ChangesFound = {
  readonly items: readonly object[]
  readonly more: boolean
  readonly last: Position
  /** Of a bound client's customer. */
  readonly changes: bigint
}

/** The work of listChanges. With `wait` it answers once there is a change, or at the end. */
export function changesWork({ store, config, waits }: ListDeps): OperatorWork {
  const find = (query: ChangesQuery) =>
    query.boundTo === undefined
      ? changesOfAll(store, query)
      : changesOfOne(store, { ...query, boundTo: query.boundTo })
  const reads = openSharedReads({ read: find, runningMax: waitingReadsMax(config) })
  return async (input) => {
    const { caller, parameters, after, trace } = input
    const query = {
      boundTo: caller.boundTo === null ? undefined : asTenant(caller.boundTo),
      after: after && digitsOf(after),
      limit: Number(parameters.get('limit') ?? contractLimits.pageSizeDefault),
    }
    const seconds = Number(parameters.get('wait') ?? 0)
    const { items, more, last } =
      seconds > 0
        ? await waitForSome(input, {
            query,
            seconds,
            waits,
            reads,
            begin: (endsAt, left) => store.customers.changes.begin(query.boundTo, endsAt, left),
            next: (found) => ({ ...query, after: digitsOf(found.last) }),
            nothing: { items: [], more: false, last: after ?? BEFORE_ALL, changes: 0n },
          })
        : await find(query)
    trace.rows = items.length
    return { body: { items }, next: more ? last : undefined, resume: last }
  }
}

const digitsOf = (position: Position): string => Buffer.from(position).toString('hex')

/** No client gets it: a reader without a cursor ends before its first read only as it leaves. */
const BEFORE_ALL: Position = new Uint8Array(POSITION_BYTES)

async function changesOfAll(
  { operator }: ChangeDeps['store'],
  { after, limit }: ChangesQuery,
): Promise<ChangesFound> {
  const place = after === undefined ? undefined : changePlaceOf(Buffer.from(after, 'hex'))
  const found = await operator.changes(place, limit)
  const items = found.changes.map((change) =>
    describeChange(change.customerId, change, change.secret),
  )
  return { items, more: found.more, last: changePosition(found.last), changes: 0n }
}

/** The feed of the one customer of a bound client. */
async function changesOfOne(
  { operator }: ChangeDeps['store'],
  { boundTo, after, limit }: ChangesQuery & { readonly boundTo: Tenant },
): Promise<ChangesFound> {
  const place = after === undefined ? undefined : eventPlaceOf(Buffer.from(after, 'hex'))
  const kinds = new Set<string>(eventKinds)
  const asked = { kinds, order: 'ASC', after: place, limit } as const
  const { events, more, changes, pruned, secret } = await operator.eventsOf(boundTo).page(asked)
  const items = events.map((event) => describeChange(boundTo, event, secret))
  const start = place ?? { change: 0n, digest: 0n, pruned }
  const newest = events.at(-1)
  const last = newest === undefined ? start : placeAfter(newest, start.pruned)
  return { items, more, last: eventPosition(last), changes }
}

const describeChange = (customerId: string, event: StoredEvent, secret: Uint8Array) => ({
  customer_id: customerId,
  ...describeEvent(event, secret),
})

/** The work of listLatestChanges. A bound client reads its customer's alone. */
export const latestChangesWork =
  ({ store }: ChangeDeps): OperatorWork =>
  async ({ caller, parameters, trace }) => {
    const changesMax = Number(parameters.get('limit') ?? contractLimits.latestChangesMax)
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
