import assert from 'node:assert/strict'
import { type Clock, printInstant } from '@bursar/base'
import {
  asTenant,
  exporting,
  fullView,
  type OperatorPrincipal,
  type PastList,
  pastInstant,
  problem,
  type ReserveAnswer,
} from '@bursar/contract'
import { PastUnknown, type Store } from '@bursar/records'
import { instantOf } from './past-place.ts'
import { emptyPage, roomOf } from './read-list.ts'
import type { Reading } from './reading.ts'

type PastDeps = {
  readonly store: Pick<Store, 'operator'>
  readonly clock: Clock
  readonly reserveAnswer: ReserveAnswer
}

/** Reads a page of a customer's list as it was. A cursor keeps the instant for the later pages. */
export const readPastList = (
  { list }: PastList,
  { store, clock, reserveAnswer }: PastDeps,
): Reading<OperatorPrincipal> => ({
  list,
  read: async ({ caller, parameters, list: input, place, headers, trace }) => {
    assert(input !== undefined, 'the pipeline reads the parameters of a list')
    const customerId = String(parameters.get('customer_id'))
    if (caller.boundTo !== null && caller.boundTo !== customerId) {
      throw problem('notFound', 'no such customer of this client')
    }
    const view = parameters.get('view') === 'full' ? 'full' : 'customer'
    const { resource } = list.view
    const accessing = { caller, headers }
    const accessed = { kind: resource.kind, customer: customerId }
    const isFull = view === 'full' && resource.mask !== undefined
    const full = isFull ? fullView(accessing, accessed) : undefined
    const isExport = parameters.get('purpose') === 'export'
    const deed = isExport ? exporting(accessing, accessed, full) : full
    const given = pastInstant(parameters.get('as_of'), clock)
    const asOf = instantOf(given, place) ?? clock()
    const selection = { ...input.selection, after: place?.position, asOf }
    const isOwn = input.namedTenants.every((named) => named === customerId)
    if (isOwn) await reserveAnswer(caller.clientId, roomOf(selection), trace)
    const isOfNow = given === undefined && place === undefined
    const page = isOwn
      ? await store.operator
          .pageAsOf(resource, asTenant(customerId), view, selection)
          .catch((error: unknown) => {
            // The clock of the process that stored the first record may be ahead of this one.
            if (error instanceof PastUnknown && isOfNow) return emptyPage
            throw error
          })
      : emptyPage
    trace.rows = page.rows
    return {
      page: { ...page, asOf },
      headers: { 'as-of': printInstant(asOf) },
      // Perhaps no customer has the name of an empty page.
      deed: page.rows === 0 ? undefined : deed,
    }
  },
})
