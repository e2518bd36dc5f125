import type { Session } from '../session/console-session.ts'
import { requestJson } from './send-request.ts'

/** What the store keeps of a customer. */
export type Customer = {
  readonly id: string
  readonly name?: string
  readonly counts: Readonly<Record<string, number>>
  readonly changed_at?: string
  readonly kept_since: Readonly<Record<string, string>>
}

type CustomersPage = {
  readonly customers: readonly Customer[]
  readonly next_page_cursor?: string
}

/** Customers by the start of their id or of a word of their name, in the order of their ids. */
export function readCustomers(
  session: Session,
  query: { readonly prefix?: string; readonly limit?: string; readonly page_cursor?: string },
  signal?: AbortSignal,
): Promise<CustomersPage> {
  return requestJson(session, `/ingest/v1/customers?${new URLSearchParams(query)}`, { signal })
}

/** Customers whose id or name is like a text that no customer has. */
export async function similarCustomers(
  session: Session,
  text: string,
  signal: AbortSignal,
): Promise<readonly Customer[]> {
  for (const length of [text.length, 4, 2]) {
    const prefix = text.slice(0, length)
    if (prefix === '') continue
    const { customers } = await readCustomers(session, { prefix, limit: '5' }, signal)
    if (customers.length > 0) return customers
  }
  return []
}
