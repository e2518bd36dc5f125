import { type Background, type Logger, limitsOf, systemTime } from '@bursar/base'
import type { FeeQuoteStore, Store } from '@bursar/records'

const limits = limitsOf({
  /** Consumed fees that are read together to get their events, and how long one may take. */
  feesAnnouncedTogether: 100,
  feeAnnouncedMs: 2000,
})

type AnnounceDeps = {
  readonly quotes: Pick<FeeQuoteStore, 'operator'>
  readonly store: Pick<Store, 'operator'>
}

/**
 * Adds an event for each consumed fee that has none. The consumption is durable before, with a note
 * that its event is due, and may be in another database than the events. So a process that ends in
 * between leaves the note, and the next one adds the event, once. Returns whether more may be due.
 */
export async function announceConsumed({ quotes, store }: AnnounceDeps): Promise<boolean> {
  const { feesAnnouncedTogether, feeAnnouncedMs } = limits
  const due = await quotes.operator.withoutEvent(feesAnnouncedTogether)
  for (const fee of due) {
    await store.operator.noteConsumed(fee, systemTime.elapsedMs() + feeAnnouncedMs)
    await quotes.operator.haveEvent([fee.id])
  }
  return due.length === feesAnnouncedTogether
}

/** Does it for as long as the service runs, and soon after `announceSoon`. */
export function startAnnouncing({
  log,
  background,
  ...deps
}: AnnounceDeps & { readonly log: Logger; readonly background: Background }) {
  const announce = async () => {
    try {
      while (await announceConsumed(deps));
      return {}
    } catch (error) {
      log.warn({ err: error }, 'events of consumed fees are late')
      return { isFailed: true }
    }
  }
  const { runSoon, stop } = background.start('announce-consumed-fees', announce)
  return { announceSoon: () => void runSoon(), stop }
}
