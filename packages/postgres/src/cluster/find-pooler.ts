import { ConfigError, limitsOf, type ServerAddress, systemTime } from '@bursar/base'
import type { Connection } from '../driver/connection.ts'
import { openStateless } from './with-primary.ts'

const limits = limitsOf({
  /** Times that a start looks for a pooler: other programs may take the session in between. */
  poolerLooks: 5,
  poolerLookMs: 5000,
})

/**
 * Throws a ConfigError if one of the addresses is a pooler that gives each transaction another
 * session. Acknowledged changes would be lost there. Skips a server that cannot be used.
 */
export async function refusePooler(addresses: readonly ServerAddress[]): Promise<void> {
  const found = await Promise.all(
    // `openServers` says why a server cannot be used.
    addresses.map((address) => changesSessions(address).catch(() => false)),
  )
  const pooler = addresses[found.indexOf(true)]
  if (pooler === undefined) return
  throw new ConfigError(
    `${pooler.label} is a pooler that gives each transaction another session. Set BURSAR_POOLER=transaction, run migrate with it, and start again.`,
  )
}

/**
 * Interleaves the transactions of two connections. To a server, or to a pooler that keeps sessions,
 * each connection has one process of the server for itself.
 */
async function changesSessions(address: ServerAddress): Promise<boolean> {
  const [first, second] = [openStateless(address), openStateless(address)]
  // A pooler whose sessions are all taken lets a connection wait.
  const cancel = systemTime.after(limits.poolerLookMs, () => {
    first.destroy()
    second.destroy()
  })
  try {
    const own = await processOf(first)
    for (let look = 0; look < limits.poolerLooks; look += 1) {
      // A pooler that has just got the session of the first back gives it to the second.
      await second.execute('begin')
      if ((await processOf(second)) === own) return true
      if ((await processOf(first)) !== own) return true
      await second.execute('commit')
      if ((await processOf(first)) !== own) return true
    }
    return false
  } finally {
    cancel()
    first.destroy()
    second.destroy()
  }
}

/** Its number and start, because the servers behind one address may both have the number. */
async function processOf(connection: Connection): Promise<string> {
  const text = 'select pid, backend_start from pg_stat_activity where pid = pg_backend_pid()'
  const [row = []] = await connection.query({ text })
  return row.map(String).join(' ')
}
