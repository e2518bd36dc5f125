import type { PastList } from '../../contract/ingest-operation.ts'
import { invalidParameters } from '../../contract/problem.ts'
import type { Answer } from '../../contract/request.ts'
import type { PastSelection } from '../../store/records/history.ts'
import type { PageRows } from '../../store/records/page.ts'
import { printInstant } from '../../values/instant.ts'
import type { Binding, CursorKeys } from './cursor.ts'
import { enclose, openAfter } from './page.ts'
import type { ListInput } from './validate.ts'

/** One list of a customer, in one of its views. */
export type PastView = {
  readonly operation: PastList
  readonly customerId: string
  readonly view: 'customer' | 'full'
}

/** A cursor keeps its page to the customer and the view, so that no page mixes two of them. */
const bindingOf = ({ operation, customerId, view }: PastView, input: ListInput): Binding => ({
  tenant: `operator ${customerId}`,
  operation: `${operation.id} ${view}`,
  order: input.selection.order,
  filters: input.filters,
})

/** The instant is sealed into the cursor, so that the later pages are of the same one. */
export function openPastPage(
  past: PastView,
  { asOf, now }: { readonly asOf: bigint | undefined; readonly now: bigint },
  input: ListInput,
  keys: CursorKeys,
): PastSelection {
  const place = openAfter(input.cursor, bindingOf(past, input), keys)
  const begun = place?.asOf
  if (begun !== undefined && asOf !== undefined && begun !== asOf) {
    const reason = 'was issued for another as_of'
    throw invalidParameters([{ parameter: 'page_cursor', code: 'other_filters', reason }])
  }
  return { ...input.selection, after: place?.position, asOf: begun ?? asOf ?? now }
}

/** The envelope of the customer's list. The header `As-Of` names the instant. */
export function closePastPage(
  past: PastView,
  { asOf }: PastSelection,
  input: ListInput,
  page: PageRows,
  keys: CursorKeys,
): Answer {
  const { envelope } = past.operation.list
  const { body, sent } = enclose(envelope, page, { asOf }, bindingOf(past, input), keys)
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'as-of': printInstant(asOf),
  }
  return { status: 200, headers, body, sent }
}
