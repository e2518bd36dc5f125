import {
  type GetOperation,
  gets,
  type ListOperation,
  lists,
  type Operation,
} from '@bursar/contract'
import type { TestService } from './harness.ts'

/** Queries and paths for tests that loop over the operations. */

export { gets, lists }

export const reads: readonly (GetOperation | ListOperation)[] = [...gets, ...lists]

/** The memorable id of Acme's first record in the sandbox. */
export const acmeIdOf = (operation: Pick<Operation, 'id'>): string =>
  operation.id === 'getFiatAccount'
    ? '11111111-1111-4111-8111-111111111111'
    : '22222222-2222-4222-8222-222222222222'

export type Pairs = readonly (readonly [name: string, value: string])[]

/** A path that answers 200 to Acme: required parameters first, then the given ones. */
export function pathOf(operation: Operation, query: Pairs = [], customer = 'acme'): string {
  const path = operation.path.replace(':id', acmeIdOf(operation))
  return withQuery(path, [...requiredOf(operation, customer), ...query])
}

export function withQuery(path: string, query: Pairs): string {
  if (query.length === 0) return path
  const pairs = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${path}?${pairs.join('&')}`
}

const requiredOf = (operation: Operation, customer: string): Pairs =>
  operation.required.includes('customer_id') ? [['customer_id', customer]] : []

/** The method and body that a write needs to answer 200. */
export const callOf = ({ body }: Operation): { method?: 'POST'; body?: string } =>
  body !== undefined ? { method: 'POST', body: JSON.stringify(withdrawal) } : {}

export const withdrawal = {
  asset: 'USDC',
  crypto_network: 'ETHEREUM',
  destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
  amount: '100',
} as const

/** Quotes the fee of `withdrawal` and returns its id. */
export async function quoteFee({ call }: Pick<TestService, 'call'>): Promise<string> {
  const { body } = await call('/v2/transfer/fees/crypto-withdrawal', {
    method: 'POST',
    body: JSON.stringify(withdrawal),
  })
  return body.id
}
