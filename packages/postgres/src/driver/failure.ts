import { ConfigError, isOutOfDescriptors, outOfDescriptors } from '@bursar/base'
import { StoreCorrupted, StoreDamaged, StoreRefused, StoreUnavailable } from '@bursar/records'

export function unavailable(reason: string, cause?: unknown): StoreUnavailable {
  return new StoreUnavailable(cause === undefined ? reason : `${reason}: ${safeMessage(cause)}`)
}

export const sessionLost = () =>
  Object.assign(new Error('the session was lost'), { code: 'ECONNRESET' })

type Failure = {
  readonly code?: unknown
  readonly message?: unknown
  readonly table_name?: unknown
}

/** An error as text for the log: code and table only where the message may quote stored values. */
export function safeMessage(error: unknown): string {
  const { code, message, table_name: table } = (error ?? {}) as Failure
  if (isOutOfDescriptors(error)) return outOfDescriptors
  if (typeof code !== 'string') return error instanceof Error ? error.message : 'unknown'
  // Class 28 is about logins: its messages name a role.
  const quotesValues = /^(2[0-79]|42P02|P0)/.test(code)
  const where = typeof table === 'string' ? ` on ${table}` : ''
  return quotesValues ? `${code}${where}` : `${code}: ${String(message)}`
}

/**
 * SQLSTATEs that may be gone at the next attempt: connection lost (08), conflict (40), out of
 * resources (53), shutdown (57), system error (58), read-only (25006), lock time-out (55P03).
 */
const passing = /^(08|40|53|57|58)|^(25006|55P03)$/

const ofTheSocket =
  /^(CONNECTION_|CONNECT_TIMEOUT$|ECONN|EPIPE$|ETIMEDOUT$|EHOSTUNREACH$|ENETUNREACH$|ENOTFOUND$|EAI_AGAIN$|ETLS$|EREFUSED$)/

/**
 * The failure of a session whose role or settings may not be used. At the start it is a fault of
 * the configuration. Later the server is treated as one that is down.
 */
export const sessionRefused = (message: string) =>
  Object.assign(new ConfigError(message), { code: REFUSED })

const REFUSED = 'EREFUSED'

export const isSessionRefused = (error: unknown): error is Error => codeOf(error) === REFUSED

/** A pooler refuses a session that starts with settings that it does not keep. */
export const areSettingsRefused = (error: unknown): error is Error =>
  /^(08P01|0A000)$/.test(codeOf(error)) && /parameter|option/i.test((error as Error).message)

/** The session is lost, or its server does not answer or is read-only. Another may do better. */
export function isLostSession(error: unknown): boolean {
  const code = codeOf(error)
  return ofTheSocket.test(code) || /^(08|57P0[123]|25006|53300)/.test(code)
}

/** No new session is of use either: the server is not listening, read-only or refused. */
export const isConnectFailure = (error: unknown): boolean =>
  /^(CONNECT_TIMEOUT|ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETLS|EREFUSED|57P03|25006)$/.test(
    codeOf(error),
  )

/** All connections of the server are taken. */
export const isFull = (error: unknown): boolean => codeOf(error) === '53300'

/** A later attempt may succeed. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  return passing.test(code) || ofTheSocket.test(code) || isOutOfDescriptors(error)
}

/** A statement has waited for a lock as long as its transaction allows. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'

/** An earlier statement of the transaction has failed. */
export const isAborted = (error: unknown): boolean => codeOf(error) === '25P02'

/** The server has ended a statement, most often at its deadline. */
export const isEnded = (error: unknown): boolean => codeOf(error) === '57014'

/** A statement met a stored text that is no JSON, or no id. Values of requests are checked. */
const isMalformed = (error: unknown): boolean => codeOf(error) === '22P02'

/** The server found a page or an index damaged. */
const isDamage = (error: unknown): boolean => /^XX00[12]$/.test(codeOf(error))

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as Failure
  return typeof code === 'string' ? code : ''
}

/** Maps errors of the database to StoreUnavailable or, if retrying is useless, to StoreRefused. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    if (isPassing(error)) throw unavailable('the database', error)
    if (isDamage(error)) throw new StoreCorrupted(safeMessage(error))
    if (isMalformed(error)) throw new StoreDamaged('a stored text has not the form of its type')
    throw isRefusal(error) ? new StoreRefused(`the database refused: ${safeMessage(error)}`) : error
  }
}

/** The server rejected the statement, so nothing was done. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && error.name === 'PostgresError'
