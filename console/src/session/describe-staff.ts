import { fetchOrLose, readProblem } from '../api-problem.ts'
import { base } from '../page-settings.ts'
import type { Session } from './console-session.ts'

/** What the server knows of a caller of the operator's API. */
export async function describeStaff(
  token: string,
): Promise<Pick<Session, 'customerId' | 'isPerson' | 'scopes'>> {
  const response = await fetchOrLose(`${base}/ingest/v1/caller`, {
    headers: { authorization: `Bearer ${token}` },
  })
  if (!response.ok) throw await readProblem(response)
  const { customer_id: customerId, subject, scopes } = await response.json()
  return { customerId, isPerson: subject !== undefined, scopes: new Set<string>(scopes) }
}
