import { commandHint, type Logger, printInstant } from '@bursar/base'
import { problem } from '@bursar/contract'
import type { Recovery } from '@bursar/records'

/** Whether the store was restored and its operator has not yet confirmed which clients are live. */
export const awaitsClients = (recovery: Recovery | undefined): boolean =>
  recovery !== undefined &&
  recovery.reconciledAt === undefined &&
  recovery.clientsConfirmedAt === undefined

/** Throws a Problem 503 until the clients are confirmed: a disabled one may look live. */
export function requireClients(recovery: Recovery | undefined): void {
  if (!awaitsClients(recovery)) return
  const detail = 'the service is being restored and issues and accepts no tokens, try again later'
  const cause = new Error(sentenceOf(recovery))
  throw problem('unavailable', detail, { retryAfter: 60, cause })
}

/** Logs each change of the recovery once. */
export function openRecoveryLog(log: Logger): (recovery: Recovery | undefined) => void {
  let reported: string | undefined
  return (recovery) => {
    const sentence = sentenceOf(recovery)
    if (sentence === reported) return
    // A store that has nothing to reconcile is not worth a line at the start.
    if (sentence !== undefined) log.warn({ restored_to: isoOf(recovery) }, sentence)
    else if (reported !== undefined)
      log.info({ restored_to: isoOf(recovery) }, 'the store is reconciled')
    reported = sentence
  }
}

const isoOf = (recovery: Recovery | undefined) => recovery && printInstant(recovery.restoredTo)

function sentenceOf(recovery: Recovery | undefined): string | undefined {
  if (awaitsClients(recovery)) {
    return `the store was restored and its clients are not confirmed, so no token is issued or accepted; run ${commandHint('reconcile')}`
  }
  if (recovery === undefined || recovery.reconciledAt !== undefined) return undefined
  return `the store was restored and its fees are not reconciled, so fees from before the restore cannot be consumed; run ${commandHint('reconcile')}`
}
