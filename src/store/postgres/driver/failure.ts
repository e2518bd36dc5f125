import { StoreUnavailable } from '../../unavailable.ts'

/** What the store cannot do now and may do shortly. `cause` is for the log. */
export function unavailable(reason: string, cause?: unknown): StoreUnavailable {
  return new StoreUnavailable(cause === undefined ? reason : `${reason}: ${toldSafely(cause)}`)
}

type Told = { readonly code?: unknown; readonly message?: unknown; readonly table_name?: unknown }

/**
 * An error of the database in words that may be logged. Its own message, detail and context can quote values of a
 * record (a key that clashes, a text that is no number), so only where it cannot is more told than the code.
 */
export function toldSafely(error: unknown): string {
  const { code, message, table_name: table } = (error ?? {}) as Told
  if (typeof code !== 'string') return error instanceof Error ? error.message : 'unknown'
  const quotesValues = /^(2[0-9]|42P02|P0)/.test(code)
  const where = typeof table === 'string' ? ` on ${table}` : ''
  return quotesValues ? `${code}${where}` : `${code}: ${String(message)}`
}

/**
 * SQLSTATE classes and codes (PostgreSQL, appendix A) that pass by themselves or by the operator's hand: connection
 * lost (08), no resources (53), operator intervention and time-outs (57), system error (58), serialization and
 * recovery conflicts (40), a lock not to be had (55P03), a primary that is none any more (25006).
 */
const passing = /^(08|40|53|57|58)|^(25006|55P03)$/

const ofTheSocket =
  /^(CONNECTION_|CONNECT_TIMEOUT$|ECONN|EPIPE$|ETIMEDOUT$|EHOSTUNREACH$|ENETUNREACH$|ENOTFOUND$|EAI_AGAIN$|ETLS$)/

/** The session is gone, or its server is no primary or does not answer: another one may do better. */
export function isLostSession(error: unknown): boolean {
  const code = codeOf(error)
  return ofTheSocket.test(code) || /^(08|57P0[123]|25006|53300)/.test(code)
}

/** No new session is to be had there either: nothing listens, or it writes no more. */
export const isConnectFailure = (error: unknown): boolean =>
  /^(CONNECT_TIMEOUT|ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETLS|57P03|25006)$/.test(
    codeOf(error),
  )

/** All of the server's connections are taken. */
export const isFull = (error: unknown): boolean => codeOf(error) === '53300'

export function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  return passing.test(code) || ofTheSocket.test(code)
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as Told
  return typeof code === 'string' ? code : ''
}

/** Runs work on the database. What passes is a StoreUnavailable; anything else is a fault of ours, told without values. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    if (isPassing(error)) throw unavailable('the database', error)
    throw isRefusal(error) ? new Error(`the database refused: ${toldSafely(error)}`) : error
  }
}

/** The server's own answer: nothing was done. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && error.name === 'PostgresError'
