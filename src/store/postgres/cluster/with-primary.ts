import { ConfigError } from '../../../platform/config.ts'
import type { ServerAddress } from '../../../platform/postgres-url.ts'
import { type Connection, openConnection } from '../driver/connection.ts'
import { isPassing, toldSafely, unavailable } from '../driver/failure.ts'

/** Work on the first of the servers that is a primary, over a session of its own. */
export async function withPrimary<T>(
  addresses: readonly ServerAddress[],
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const told: string[] = []
  for (const address of addresses) {
    const connection = openConnection(address, { parameters: {}, connectTimeoutMs: CONNECT_MS })
    try {
      const [row] = await connection.query({ text: 'select pg_is_in_recovery()' })
      if (String(row?.[0]) === 'f') return await work(connection)
      told.push(`${address.label} is a standby`)
    } catch (error) {
      if (!isPassing(error)) throw explained(error, address)
      told.push(`${address.label}: ${toldSafely(error)}`)
    } finally {
      await connection.close()
    }
  }
  throw unavailable(`no primary: ${told.join(', ')}`)
}

const CONNECT_MS = 5000

/** What the operator can mend about a login is told in a sentence. */
function explained(error: unknown, { label, credentials }: ServerAddress): unknown {
  const { code } = (error ?? {}) as { code?: unknown }
  switch (code) {
    case '28000':
    case '28P01':
      return new ConfigError(
        `${label} refuses the login of ${credentials.user}; look at the URL's password.`,
      )
    case '3D000':
      return new ConfigError(`${label} has no database ${credentials.database}; create it first.`)
    case '42501':
      return new ConfigError(
        `The role ${credentials.user} may not do that on ${label} (${toldSafely(error)}). Run migrate with the owner's URL.`,
      )
    default:
      return error
  }
}
