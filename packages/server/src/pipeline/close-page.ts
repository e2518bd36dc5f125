import { getOrInsert, pageBuffers } from '@bursar/base'
import {
  type Answer,
  type Caller,
  invalidParameters,
  type Operation,
  type OperatorPrincipal,
  type ParameterFault,
} from '@bursar/contract'
import {
  type Binding,
  bind,
  type CursorFault,
  type CursorKeys,
  type CursorScope,
  openCursor,
  type Place,
  sealCursor,
} from './cursor.ts'
import type { Found, FoundPage } from './reading.ts'
import type { Input } from './validate.ts'

/** The place that the page comes after. A cursor that was sealed for anything else is a 400. */
export function openPage(input: Input, binding: BindingOf, keys: CursorKeys): Place | undefined {
  const cursor = input.parameters.get('page_cursor')
  if (typeof cursor !== 'string' || cursor === '') return undefined
  const place = openCursor(keys, cursor, binding())
  if (typeof place !== 'string') return place
  const sentence = 'page_cursor token cannot be parsed'
  throw invalidParameters([{ parameter: 'page_cursor', ...cursorFaults[place], sentence }])
}

/** The answer, with the cursor of the next page where entries remain. */
export function closePage(
  operation: Operation,
  input: Input,
  { page, next, resume, body, headers: own, isNew }: Found,
  binding: BindingOf,
  keys: CursorKeys,
): Answer {
  const status = isNew === true ? operation.statusIfNew : operation.status
  const headers = own === undefined ? notStored : { ...notStored, ...own }
  if (page !== undefined) {
    const place = page.more && page.last !== undefined ? placeAfter(page, page.last) : undefined
    const cursor = place && sealCursor(keys, place, binding())
    return { status, headers, ...enclose(input.list?.envelope ?? '', page, cursor) }
  }
  if (next !== undefined || resume !== undefined) {
    const cursor = next && sealCursor(keys, { position: next }, binding())
    const isDescending = input.parameters.get('order') === 'DESC'
    const isNext = cursor !== undefined && !isDescending && isEqual(next, resume)
    const resumed = resume && (isNext ? cursor : resumeCursor(input, resume, binding, keys))
    const shown = {
      ...Object(body),
      ...(cursor !== undefined && { next_page_cursor: cursor }),
      ...(resumed !== undefined && { resume_cursor: resumed }),
    }
    return { status, headers, body: JSON.stringify(shown) }
  }
  return { status, headers, body: typeof body === 'object' ? JSON.stringify(body) : body }
}

const isEqual = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one !== undefined && other !== undefined && Buffer.compare(one, other) === 0

/** The same text for the same place, so that a reader without news sees that at once. */
function resumeCursor(
  { parameters }: Input,
  position: Uint8Array,
  binding: BindingOf,
  keys: CursorKeys,
): string {
  const given = parameters.get('page_cursor')
  const held = typeof given === 'string' ? openCursor(keys, given, binding('ASC')) : undefined
  const isSame = typeof held === 'object' && isEqual(held.position, position)
  return isSame ? String(given) : sealCursor(keys, { position }, binding('ASC'))
}

const notStored = { 'cache-control': 'no-store' }

const placeAfter = ({ changedAt, asOf }: FoundPage, position: Uint8Array): Place => ({
  position,
  changedAt,
  asOf,
})

/** The stored bytes in their envelope. `sent` ends the use of the body's memory. */
function enclose(
  envelope: string,
  { items, release }: FoundPage,
  cursor: string | undefined,
): { readonly body: Uint8Array; readonly sent: () => void } {
  const tail = cursor === undefined ? ']}' : `],"next_page_cursor":"${cursor}"}`
  const head = `{"${envelope}":[`
  const body = pageBuffers.enclose(items, head, tail)
  if (body.buffer !== items.buffer) release?.()
  return { body, sent: () => pageBuffers.takeBack(body) }
}

/** The binding of a request's cursors to its order, or to another one. */
export type BindingOf = (order?: 'ASC') => Binding

/** Each binding is computed at most once. */
export function bindingOf(operation: Operation, caller: Caller, input: Input): BindingOf {
  const bindings = new Map<string | undefined, Binding>()
  return (order) =>
    getOrInsert(bindings, order, () => {
      const scope = scopeOf(operation, caller, input)
      return bind(order === undefined ? scope : { ...scope, order })
    })
}

/**
 * A cursor opens for the caller and the parameters that it was sealed for. A cursor of the operator
 * keeps its page to one customer and one view, so that no page mixes two of them.
 */
function scopeOf(
  { id, query }: Operation,
  caller: Caller,
  { parameters, list }: Input,
): CursorScope {
  if (list !== undefined) {
    const { filters, selection } = list
    const { order } = selection
    if (caller.tenant !== null) return { tenant: caller.tenant, operation: id, order, filters }
    const view = parameters.get('view') ?? 'customer'
    const tenant = `operator ${parameters.get('customer_id')}`
    return { tenant, operation: `${id} ${view}`, order, filters }
  }
  const others = [...parameters].filter(([name]) => !ofThePage.has(name))
  const operator = caller.tenant === null ? operatorOf(caller) : undefined
  return {
    tenant: operator ?? String(caller.tenant),
    operation: id,
    order: String(parameters.get('order') ?? defaultOf(query.order)),
    filters: JSON.stringify(others.toSorted(), (_name, value) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  }
}

/** The value of an absent parameter. */
const defaultOf = (parameter: Operation['query'][string] | undefined): unknown =>
  parameter !== undefined && 'schema' in parameter && 'default' in parameter.schema
    ? parameter.schema.default
    : 'ASC'

const operatorOf = ({ boundTo }: OperatorPrincipal): string =>
  boundTo === null ? 'operator' : `operator ${boundTo}`

/** The parameters that may differ from page to page. The order has a place of its own. */
const ofThePage: ReadonlySet<string> = new Set(['page_cursor', 'limit', 'order', 'wait'])

const cursorFaults: Readonly<Record<CursorFault, Pick<ParameterFault, 'code' | 'reason'>>> = {
  malformed: { code: 'malformed', reason: 'token cannot be parsed' },
  other_list: { code: 'other_list', reason: 'was issued by another list' },
  other_order: { code: 'other_order', reason: 'was issued for the other order' },
  other_filters: { code: 'other_filters', reason: 'was issued for other filters' },
}
