import type { Work } from '../contract/operation.ts'
import { Problem } from '../contract/problem.ts'
import type { FeeQuoteStore } from '../store/fee-quotes.ts'
import type { ConsumeDeps } from './consume-quote.ts'
import { describeQuote, stateOf } from './describe-quote.ts'

/** A quote of any customer, and what has become of it. Undefined if it is unknown. */
export async function findQuote({ operator }: Pick<FeeQuoteStore, 'operator'>, id: string) {
  const quote = await operator.find(id)
  if (quote === undefined) return undefined
  const { now } = await operator.times()
  return { ...describeQuote(quote), state: stateOf(quote, now) }
}

/** The work of getWithdrawalFee. */
export function answerQuote({ quotes }: ConsumeDeps): Work {
  return async ({ id, trace }) => {
    const found = await findQuote(quotes, id)
    if (found === undefined) throw new Problem(404, `no fee found for id: '${id}'`)
    trace.rows = 1
    return found
  }
}
