import { type Clock, type Instant, printExact, readSortKey } from '@bursar/base'
import {
  contractLimits,
  exporting,
  invalidParameters,
  type OperatorInput,
  type OperatorWork,
  type ParameterValue,
  type Resource,
  startOfAsset,
  statementOrders,
} from '@bursar/contract'
import {
  type AcrossPage,
  type AcrossPlace,
  type AcrossSelection,
  POSITION_BYTES,
  type Store,
} from '@bursar/records'

type ListDeps = { readonly store: Pick<Store, 'operator'>; readonly clock: Clock }

/** The work that lists the records of a kind over all customers. */
export const listWork =
  (resource: Resource, { store, clock }: ListDeps): OperatorWork =>
  async (input) => {
    const order = orderOf(input)
    const { customerId, isForeign } = customerOf(input)
    const owner = customerId === undefined ? {} : { customer: customerId }
    const isExport = input.parameters.get('purpose') === 'export'
    const deed = isExport ? exporting(input, { kind: resource.kind, ...owner }) : undefined
    const page = isForeign
      ? emptyPage
      : await readPage(resource, { store, clock }, input, order, customerId)
    input.trace.rows = page.records.length
    const items = page.records.map(({ customerId: customer_id, body, sort }) => ({
      customer_id,
      record: JSON.parse(body),
      ...(order.by === 'SHORTFALL' && { shortfall: printExact(readSortKey(sort)) }),
    }))
    return {
      body: { items },
      next: page.next && placeBytes(page.next),
      // Perhaps no customer has the name of an empty page.
      deed: items.length === 0 ? undefined : deed,
    }
  }

const emptyPage: AcrossPage = { records: [], next: undefined }

/** Whose records a caller reads. A bound client sees nothing of another customer. */
export function customerOf({ caller, parameters }: OperatorInput) {
  const named = parameters.get('customer_id')
  const { boundTo } = caller
  if (boundTo === null) return { customerId: textOf(named), isForeign: false }
  return { customerId: boundTo, isForeign: named !== undefined && named !== boundTo }
}

const textOf = (value: ParameterValue | undefined): string | undefined =>
  value === undefined ? undefined : String(value)

type Order =
  | { readonly by: 'PERIOD_START' | 'CREATED_AT' }
  | { readonly by: 'SHORTFALL'; readonly asset: string }

/** The order of a list. Throws a 400 where its parameters do not fit together. */
function orderOf({ parameters }: OperatorInput): Order {
  const by = textOf(parameters.get('order_by'))
  const asset = textOf(parameters.get('asset'))
  const isShort = parameters.get('shortfall') === true
  if (isShort && asset === undefined) {
    throw unfit('asset', 'missing', 'must be set with shortfall=true')
  }
  if (isShort && (by ?? 'SHORTFALL') !== 'SHORTFALL') {
    throw unfit('order_by', 'conflicting', 'must be SHORTFALL, or absent, with shortfall=true')
  }
  if (!isShort && asset !== undefined) {
    throw unfit('asset', 'conflicting', 'must not be set without shortfall=true')
  }
  if (!isShort && by === 'SHORTFALL') {
    throw unfit('order_by', 'conflicting', 'must not be SHORTFALL without shortfall=true')
  }
  if (asset !== undefined) return { by: 'SHORTFALL', asset }
  return { by: by === 'CREATED_AT' ? by : 'PERIOD_START' }
}

const unfit = (parameter: string, code: 'missing' | 'conflicting', reason: string) =>
  invalidParameters([{ parameter, code, reason }])

function readPage(
  resource: Resource,
  { store, clock }: ListDeps,
  { parameters, after }: OperatorInput,
  order: Order,
  customerId: string | undefined,
): Promise<AcrossPage> {
  const across = store.operator.across(resource)
  const selection: AcrossSelection = {
    customerId,
    status: textOf(parameters.get('status')),
    order: parameters.get('order') === 'ASC' ? 'ASC' : 'DESC',
    limit: Number(parameters.get('limit') ?? contractLimits.acrossPageMax),
    after: after && readPlace(after),
  }
  if (order.by === 'PERIOD_START') {
    const from = boundOf(parameters.get('created_at.gte'))
    const until = boundOf(parameters.get('created_at.lt'))
    return across.inOrder({ ...selection, from, until })
  }
  const now = clock()
  if (order.by === 'SHORTFALL') {
    const start = startOfAsset(order.asset)
    return across.byTerm({ ...selection, term: statementOrders.shortfall, start, now })
  }
  return across.byTerm({ ...selection, term: statementOrders.created, start: '', now })
}

/** The first whole microsecond that is not before the instant. */
function boundOf(value: ParameterValue | undefined): bigint | undefined {
  const bound = value as Instant | undefined
  return bound && bound.micros + (bound.finer ? 1n : 0n)
}

const placeBytes = ({ position, sort }: AcrossPlace): Uint8Array =>
  Buffer.concat([position, Buffer.from(sort, 'latin1')])

const readPlace = (place: Uint8Array): AcrossPlace => ({
  position: place.subarray(0, POSITION_BYTES),
  sort: Buffer.from(place.subarray(POSITION_BYTES)).toString('latin1'),
})
