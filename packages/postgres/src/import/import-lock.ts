import { randomInt } from 'node:crypto'
import { limitsOf, systemTime } from '@bursar/base'
import { type ImportLock, LOCK_NUMBER_END } from '@bursar/records'
import { keepSession } from '../cluster/keep-session.ts'
import type { Servers } from '../cluster/servers.ts'
import { unavailable } from '../driver/failure.ts'

const limits = limitsOf({
  /** How long the note waits for the lock by which others see that an import runs. */
  importLockMs: 5000,
})

/**
 * An advisory lock of an open transaction, because a pooler may give each transaction another
 * session. The transaction reads and writes nothing, so it keeps no row from VACUUM.
 */
export function openImportLock(servers: Servers): ImportLock {
  let held: Held | undefined
  return {
    hold: async () => {
      held ??= holding(servers)
      const late = Promise.withResolvers<never>()
      const reason = 'the lock that shows that imports run cannot be had'
      const cancel = systemTime.after(limits.importLockMs, () => late.reject(unavailable(reason)))
      try {
        await Promise.race([held.begun, late.promise])
        return held.number
      } finally {
        cancel()
      }
    },
    release: () => {
      held?.end()
      held = undefined
    },
  }
}

type Held = { readonly number: number; readonly begun: Promise<void>; readonly end: () => void }

function holding(servers: Servers): Held {
  const number = randomInt(LOCK_NUMBER_END)
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    number,
    begun: promise,
    end: keepSession(servers, { begin: beginOf(number), begun: resolve }),
  }
}

/** It is shared, so that a new session has it beside one whose loss the server has not noticed. */
const beginOf = (number: number): string => `
  begin;
  select set_config(name, value, true)
  from (values ${Object.entries(settings)
    .map(([name, value]) => `('${name}', '${value}')`)
    .join(', ')}) as wanted (name, value)
  join pg_settings using (name);
  select pg_advisory_xact_lock_shared(${number})`

/** The transaction lasts, and ends soon after the machine of its process is gone. */
const settings = {
  idle_in_transaction_session_timeout: 0,
  // Unknown before PostgreSQL 17.
  transaction_timeout: 0,
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
}
