import type { WriteInput } from '../contract/operation.ts'
import type { FeeQuoteStore } from '../store/fee-quotes.ts'
import { describeQuote } from './describe-quote.ts'
import { consumeProblem } from './fee-problems.ts'

export type ConsumeDeps = { readonly quotes: Pick<FeeQuoteStore, 'operator'> }

/** The work of consumeWithdrawalFee: takes a quote for one withdrawal. */
export function consumeQuote({ quotes }: ConsumeDeps) {
  return async ({ id, body, trace }: Pick<WriteInput, 'id' | 'body' | 'trace'>) => {
    const member = (name: string) => body.get(name) ?? ''
    const consumed = await quotes.operator.consume({
      id,
      customerId: member('customer_id'),
      asset: member('asset'),
      network: member('crypto_network'),
      address: member('destination_address'),
      amount: member('amount'),
      withdrawal: member('withdrawal'),
    })
    if (consumed.outcome !== 'consumed') throw consumeProblem(consumed, id)
    trace.rows = 1
    return describeQuote(consumed.quote)
  }
}
