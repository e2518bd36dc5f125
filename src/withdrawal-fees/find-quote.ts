import type { FeeQuoteStore } from '../store/fee-quotes.ts'
import { describeQuote, stateOf } from './describe-quote.ts'

/** A quote of any customer, and what has become of it. Undefined if it is unknown. */
export async function findQuote({ operator }: Pick<FeeQuoteStore, 'operator'>, id: string) {
  const quote = await operator.find(id)
  if (quote === undefined) return undefined
  const { now } = await operator.times()
  return { ...describeQuote(quote), state: stateOf(quote, now) }
}
