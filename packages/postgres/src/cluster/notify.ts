import { hash } from 'node:crypto'
import { limitsOf, systemTime } from '@bursar/base'
import { textArray } from '../driver/connection.ts'
import { postgresLimits } from '../limits.ts'
import type { Servers } from './servers.ts'

const limits = limitsOf({
  /** Commits of so long a time share a notification. */
  notifiedTogetherMs: 20,
  /** Names of customers in one: 12 bytes each, of the 8,000 that a notification may have. */
  notifiedNamesMax: 600,
})

/** The channel on which writers say whose records they have changed. */
export const CHANGES = 'bursar_changes'

/** In place of names, where there are too many. */
export const ANY_CUSTOMER = '*'

/** A customer on that channel. The log of a server may show it, and must not name anybody. */
export const changeName = (customerId: string): string =>
  hash('sha256', customerId, 'buffer').subarray(0, 8).toString('base64url')

/** Tells readers of every process that customers have changed, after the commit. */
export type Notifier = {
  /** Undefined for customers that are not known. Tells soon, with what others note meanwhile. */
  note(customerIds: readonly string[] | undefined): void
  /** Resolves once every note is sent, or has failed: readers then wait until their end. */
  sent(): Promise<void>
}

/**
 * Notifications have a transaction of their own: one inside a transaction takes a lock of the whole
 * server from its commit, and so commits would wait for each other.
 */
export function openNotifier(servers: Servers): Notifier {
  let names = new Set<string>()
  let sending: Promise<void> | undefined
  const send = async () => {
    await new Promise<void>((resolve) => {
      systemTime.after(limits.notifiedTogetherMs, resolve)
    })
    // What is noted while a notification is sent goes with the next one.
    while (names.size > 0) {
      const payloads = payloadsOf([...names])
      names = new Set()
      await servers
        .rows({
          text: `select pg_notify('${CHANGES}', payload) from unnest($1::text[]) as note (payload)`,
          values: [textArray(payloads)],
        })
        .catch(() => {})
    }
    sending = undefined
  }
  return {
    note: (customerIds) => {
      const isMany =
        customerIds === undefined || customerIds.length > postgresLimits.notifiedCustomersMax
      for (const name of isMany ? [ANY_CUSTOMER] : customerIds.map(changeName)) names.add(name)
      if (names.size > 0) sending ??= send()
    },
    sent: async () => {
      await sending
    },
  }
}

function payloadsOf(names: readonly string[]): readonly string[] {
  if (names.includes(ANY_CUSTOMER)) return [ANY_CUSTOMER]
  return Array.from({ length: Math.ceil(names.length / limits.notifiedNamesMax) }, (_, at) =>
    names.slice(at * limits.notifiedNamesMax, (at + 1) * limits.notifiedNamesMax).join(' '),
  )
}
