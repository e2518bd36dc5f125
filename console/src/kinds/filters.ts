import type { Filter, Kind } from './kind.ts'

export const filter = (name: string, label: string): Filter => ({ name, label, type: 'text' })

export const refIds = filter('ref_ids', 'Reference')

const created: readonly Filter[] = [
  { name: 'created_at.gte', label: 'Created from', type: 'instant' },
  { name: 'created_at.lt', label: 'Created before', type: 'instant' },
]
export const createdFilters = created

export const owners = [
  filter('profile_ids', 'Profile'),
  filter('identity_ids', 'Identity'),
  filter('account_ids', 'Account'),
]

export const byId = { filter: 'ids', matched: 'id', takes: 'uuid' } as const
export const byRef = { filter: 'ref_ids', matched: 'ref_id', takes: 'any' } as const
export const byOwner = [
  { filter: 'identity_ids', matched: 'identity_id', takes: 'uuid' },
  { filter: 'account_ids', matched: 'account_id', takes: 'uuid' },
  { filter: 'profile_ids', matched: 'profile_id', takes: 'uuid' },
] as const

/** What the list over all customers takes, besides the customer and the order. */
export const wideFilters = ({ statuses, name }: Kind): readonly Filter[] => [
  ...(statuses.length === 0
    ? []
    : [{ name: 'status', label: 'Status', type: 'text', choices: statuses } as const]),
  ...(name === 'statements'
    ? ([{ name: 'shortfall', label: 'Shortfall', type: 'flag' }, filter('asset', 'Asset')] as const)
    : created),
]

/** Parameters that the list over all customers has and a customer's list has not. */
export function isWideOnly(kind: Kind, name: string): boolean {
  if (name === 'order_by') return true
  const isWide = wideFilters(kind).some((entry) => entry.name === name)
  return isWide && !kind.filters.some((entry) => entry.name === name)
}
