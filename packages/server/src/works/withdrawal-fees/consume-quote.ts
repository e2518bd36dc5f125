import { noneFound, type OperatorWork } from '@bursar/contract'
import { doing, type FeeQuoteStore } from '@bursar/records'
import { describeQuote } from './describe-quote.ts'
import { consumeProblem } from './fee-problems.ts'

export type ConsumeDeps = {
  readonly quotes: Pick<FeeQuoteStore, 'operator'>
  /** Adds the event of the consumption soon. */
  readonly announceSoon: () => void
}

/** The work of consumeWithdrawalFee: takes a quote for one withdrawal. */
export function consumeQuote({ quotes, announceSoon }: ConsumeDeps): OperatorWork {
  return async ({ caller, parameters, body, trace }) => {
    const id = String(parameters.get('id'))
    const member = (name: string) => body.get(name) ?? ''
    const isOwn = caller.boundTo === null || caller.boundTo === body.get('customer_id')
    if (!isOwn) throw noneFound('fee', id)
    const deed = { action: 'consume_fee', ids: [id] } as const
    const withdrawal = {
      id,
      customerId: member('customer_id'),
      asset: member('asset'),
      network: member('crypto_network'),
      address: member('destination_address'),
      amount: member('amount'),
      withdrawal: member('withdrawal'),
    }
    const consumed = await doing(deed, () => quotes.operator.consume(withdrawal))
    if (consumed.outcome !== 'consumed') throw consumeProblem(consumed, id)
    announceSoon()
    trace.rows = 1
    const { quote } = consumed
    return { body: describeQuote(quote), deed: { ...deed, customers: [quote.customerId] } }
  }
}
