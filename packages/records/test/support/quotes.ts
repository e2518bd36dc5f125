import type { TestContext } from 'node:test'
import { asTenant } from '@bursar/contract'
import { newStorePlace, type StorePlace } from '../../../../test/support/store-place.ts'
import type { ConsumeRequest, FeeQuoteStore, NewFeeQuote } from '../../src/fee-quotes.ts'

export const acme = asTenant('acme')
export const noon = BigInt(Date.parse('2026-11-22T12:00:00Z')) * 1000n
export const minutes = (count: number): bigint => BigInt(count) * 60_000_000n
export const wallet = '0xF0Aa84466e353E5390be37FE2934301c07c19a55'

/** Ids that rise with time, as those of the service do. */
export const idOf = (at: number): string =>
  `01a1fc67-${String(Math.floor(at / 1000)).padStart(4, '0')}-7000-8000-${String(at).padStart(12, '0')}`

export const aQuote = (over: Partial<NewFeeQuote> = {}): NewFeeQuote => ({
  id: idOf(1),
  clientId: 'client_1',
  asset: 'USDC',
  network: 'ETHEREUM',
  address: wallet,
  canonicalAddress: wallet,
  amount: '100',
  fee: '2.99',
  total: '102.99',
  lifeSeconds: 600,
  ...over,
})

export const aWithdrawal = (over: Partial<ConsumeRequest> = {}): ConsumeRequest => ({
  id: idOf(1),
  customerId: 'acme',
  asset: 'USDC',
  network: 'ETHEREUM',
  address: wallet,
  amount: '100',
  withdrawal: 'withdrawal-1',
  ...over,
})

/** A new store, whose clock shows noon, that is closed and deleted after the test. */
export async function openTestQuotes(
  context: TestContext,
): Promise<{ quotes: FeeQuoteStore; place: StorePlace }> {
  const place = await newStorePlace(context)
  await place.setClock(noon)
  return { quotes: await place.openQuotes(), place }
}
