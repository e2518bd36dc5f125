import type { Work } from '../contract/operation.ts'
import { Problem } from '../contract/problem.ts'
import type { FeeQuoteStore } from '../store/fee-quotes.ts'
import { describeQuote, stateOf } from './describe-quote.ts'

/** The work of getWithdrawalFee: a quote of any customer, and what has become of it. */
export function findQuote({ quotes }: { readonly quotes: Pick<FeeQuoteStore, 'operator'> }): Work {
  return async ({ id, trace }) => {
    const quote = await quotes.operator.find(id)
    if (quote === undefined) throw new Problem(404, `no fee found for id: '${id}'`)
    trace.rows = 1
    const { now } = await quotes.operator.times()
    return { ...describeQuote(quote), state: stateOf(quote, now) }
  }
}
