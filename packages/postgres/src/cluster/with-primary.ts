import { ConfigError, type ServerAddress } from '@bursar/base'
import { NoPrimary } from '@bursar/records'
import { type Connection, openConnection, type SessionOptions } from '../driver/connection.ts'
import { areSettingsRefused, isPassing, safeMessage } from '../driver/failure.ts'
import { defaultSettings, endTransactionTimeout } from '../driver/required-settings.ts'
import { requireSettings } from '../schema/session-settings.ts'

/**
 * Runs work on the first of the servers that is a primary, over its own session. The work must keep
 * nothing in the session from one transaction to the next, because a pooler may be in between.
 */
export async function withPrimary<T>(
  addresses: readonly ServerAddress[],
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const reasons: string[] = []
  for (const address of addresses) {
    let connection = openStateless(address, { isPinned: true, parameters: unbounded })
    try {
      const [row] = await isStandby(connection).catch(async (error: unknown) => {
        if (!areSettingsRefused(error)) throw error
        connection = openStateless(address)
        return await isStandby(connection)
      })
      // A pooler may refuse settings or drop them.
      await requireSettings(connection, defaultSettings)
      if (row?.is_standby === false) return await work(connection)
      reasons.push(`${address.label} is a standby`)
    } catch (error) {
      if (error instanceof ConfigError || !isPassing(error)) throw explained(error, address)
      reasons.push(`${address.label}: ${safeMessage(error)}`)
    } finally {
      await connection.close()
    }
  }
  throw new NoPrimary(`no primary: ${reasons.join(', ')}`)
}

const isStandby = (connection: Connection) =>
  connection.rows({
    text: `select pg_is_in_recovery() as is_standby, ${endTransactionTimeout} as ended`,
  })

/** A check of every record takes hours, whatever deadlines the role has. The library drops a 0. */
const unbounded = {
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
}

/** Opens a session of which nothing lasts from one transaction to the next. */
export const openStateless = (
  address: ServerAddress,
  options: Partial<Pick<SessionOptions, 'isPinned' | 'parameters'>> = {},
): Connection =>
  openConnection(address, {
    parameters: {},
    connectTimeoutMs: 5000,
    pooler: 'transaction',
    ...options,
  })

/** A refused login as an error that says what the operator can do. */
function explained(error: unknown, { label, credentials }: ServerAddress): unknown {
  const { code } = (error ?? {}) as { code?: unknown }
  switch (code) {
    case '28000':
      return new ConfigError(
        `${label} refuses the login of ${credentials.user}: ${safeMessage(error)}.`,
      )
    case '28P01':
      return new ConfigError(
        `${label} refuses the login of ${credentials.user}; check the password in the URL.`,
      )
    case '3D000':
      return new ConfigError(`${label} has no database ${credentials.database}; create it first.`)
    case '42501':
      return new ConfigError(
        `The role ${credentials.user} lacks a right on ${label}: ${safeMessage(error)}.`,
      )
    default:
      return error
  }
}
