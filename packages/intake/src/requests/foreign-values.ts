import { type Logger, limitsOf, systemTime } from '@bursar/base'
import {
  contractLimits,
  type OperatorInput,
  type OperatorPrincipal,
  problem,
} from '@bursar/contract'
import type { HttpFault } from '../refused-records.ts'

const limits = limitsOf({
  /**
   * Foreign ids, addresses and memos that a client bound to a customer may meet in an hour, on each
   * process. Honest systems meet one where two customers register the same by mistake.
   */
  foreignValuesPerHourMax: 20,
})

/**
 * What clients that are bound to a customer learn of the ids, addresses and memos of others: that
 * a value cannot be stored, and that only a few times an hour.
 */
export type ForeignValues = {
  /** Throws a 429 if the caller has sent as many foreign values in this hour as it may. */
  requireFew(caller: OperatorPrincipal): void
  /** The faults that the caller may see. Counts and logs those of foreign values. */
  shown(input: OperatorInput, faults: readonly HttpFault[]): readonly HttpFault[]
}

const HOUR_MS = 3_600_000

/** The number of foreign values that a client has sent since a time of `elapsedMs`. */
type Sent = { readonly since: number; readonly values: number }

export function openForeignValues(log: Logger): ForeignValues {
  const clients = new Map<string, Sent>()
  const sentBy = (clientId: string, now: number): Sent => {
    const sent = clients.get(clientId)
    return sent === undefined || now - sent.since >= HOUR_MS ? { since: now, values: 0 } : sent
  }
  const forget = (now: number) => {
    for (const [clientId, { since }] of clients) {
      if (now - since >= HOUR_MS) clients.delete(clientId)
    }
  }
  const requireFew = ({ boundTo, clientId }: OperatorPrincipal) => {
    const now = systemTime.elapsedMs()
    const { since, values } = sentBy(clientId, now)
    if (boundTo === null || values < limits.foreignValuesPerHourMax) return
    const seconds = Math.floor((since + HOUR_MS - now) / 1000) + 1
    const detail =
      'this client has sent too many values that cannot be stored; wait for the seconds that Retry-After names'
    throw problem('tooManyRequests', detail, { retryAfter: seconds })
  }
  return {
    requireFew,
    shown: ({ caller }, faults) => {
      if (caller.boundTo === null) return faults
      const now = systemTime.elapsedMs()
      const sent = sentBy(caller.clientId, now)
      let left = limits.foreignValuesPerHourMax - sent.values
      const listed = faults.slice(0, contractLimits.faultsAnsweredMax).filter(({ code }) => {
        if (code !== 'held') return true
        left -= 1
        return left >= 0
      })
      const values = faults.filter(({ code }) => code === 'held').length
      if (values === 0) return faults
      forget(now)
      clients.set(caller.clientId, { since: sent.since, values: sent.values + values })
      log.warn({ client: caller.clientId, values }, 'a bound client sent values of other customers')
      if (listed.length === 0) requireFew(caller)
      return listed.map((fault) => (fault.code === 'held' ? { ...fault, ...notStorable } : fault))
    },
  }
}

const notStorable = { code: 'not_storable', reason: 'cannot be stored' } as const
