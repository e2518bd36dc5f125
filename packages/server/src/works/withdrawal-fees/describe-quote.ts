import { printInstant } from '@bursar/base'
import type { FeeQuote, FeeQuoteStore } from '@bursar/records'

/** What has become of a fee. `now` is of the store's clock, which judges every fee. */
const stateOf = (quote: FeeQuote, now: bigint): 'OPEN' | 'CONSUMED' | 'EXPIRED' => {
  if (quote.consumption !== undefined) return 'CONSUMED'
  return now < quote.expiresAt ? 'OPEN' : 'EXPIRED'
}

/** A guaranteed fee as the operator sees it, over HTTP and on the command line. */
export const describeQuote = (quote: FeeQuote) => ({
  id: quote.id,
  customer_id: quote.customerId,
  asset: quote.asset,
  crypto_network: quote.network,
  ...(!quote.isErased && {
    destination_address: quote.address,
    amount: quote.amount,
    fee: quote.fee,
    total: quote.total,
  }),
  created_at: printInstant(quote.createdAt),
  expires_at: printInstant(quote.expiresAt),
  ...(quote.consumption !== undefined && {
    withdrawal: quote.consumption.withdrawal,
    consumed_at: printInstant(quote.consumption.at),
  }),
})

/** A quote of any customer, and what has become of it. Undefined if it is unknown. */
export async function findQuote({ operator }: Pick<FeeQuoteStore, 'operator'>, id: string) {
  const quote = await operator.find(id)
  if (quote === undefined) return undefined
  const { now } = await operator.times()
  return { ...describeQuote(quote), state: stateOf(quote, now) }
}
