import type { Keyring } from '@bursar/base'
import type { FeeQuoteStore, RecoveryStore } from '@bursar/records'
import { type ClientDeps, nextSecond } from './clients.ts'

type RecoveryDeps = Pick<ClientDeps, 'clock'> & { readonly store: RecoveryStore }

/** What a recovery needs of the stored quotes. */
type RestoredQuotes = Pick<FeeQuoteStore['operator'], 'times' | 'resetSweep'>

/**
 * Starts the recovery of a restored store: every token is refused, and no client gets one. The
 * store's clock dates it, as it dates the quotes. Quotes that were issued while a clock was ahead
 * count as restored, too.
 */
export async function startRecovery(
  { store, quotes }: { readonly store: RecoveryStore; readonly quotes: RestoredQuotes },
  restoredTo: bigint,
): Promise<void> {
  const { now: restoredAt, newestQuote } = await quotes.times()
  const afterNewest = (newestQuote ?? 0n) + 1n
  const quotesBefore = afterNewest > restoredAt ? afterNewest : restoredAt
  await store.startRecovery({ restoredTo, restoredAt, quotesBefore }, nextSecond(restoredAt))
  await quotes.resetSweep()
}

/**
 * Lets clients get tokens again. A signing key that was revoked after the backup is valid again in
 * the restored store. So every key is revoked; at this point no token is valid that it could void.
 */
export async function confirmClients(
  { store, clock }: RecoveryDeps,
  keyring: Pick<Keyring, 'rotate'>,
): Promise<void> {
  await keyring.rotate('token-signing', { revokeOthers: true })
  await store.confirmClients(clock())
}
