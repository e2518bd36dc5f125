import type { Session } from '../session/console-session.ts'
import { requestJson } from './send-request.ts'

/** What is owed and was not paid, in one asset. Amounts of two assets are never added. */
export type ShortfallSum = {
  readonly asset: string
  readonly shortfall: string
  readonly owed: string
  readonly paid: string
  readonly statements: number
  readonly customers: number
  readonly oldest_period_end: string
  /** Whether the figures are of the first ten thousand rows alone. */
  readonly more: boolean
  readonly by_customer: readonly {
    readonly customer_id: string
    readonly shortfall: string
    readonly statements: number
  }[]
  readonly by_period: readonly {
    readonly period_start: string
    readonly owed: string
    readonly paid: string
    readonly shortfall: string
    readonly statements: number
  }[]
}

/** Records that wait for somebody. */
export type Matter = {
  readonly count: number
  readonly more: boolean
  readonly since?: string
  readonly oldest?: string
  readonly newest?: string
  readonly customers: readonly { readonly customer_id: string; readonly count: number }[]
}

export type Attention = {
  readonly shortfalls: readonly ShortfallSum[]
  readonly failed_quotes: Matter
  readonly pending_quotes: Matter
  readonly pending_accounts: Matter
  readonly rejected_accounts: Matter
  readonly deprecated_instructions: Matter
}

export function readAttention(
  session: Session,
  customerId: string,
  signal?: AbortSignal,
): Promise<Attention> {
  const query = new URLSearchParams(customerId === '' ? {} : { customer_id: customerId })
  return requestJson(session, `/ingest/v1/attention?${query}`, { signal })
}
