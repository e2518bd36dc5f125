import type { Hit } from '../../api/find.ts'

/** What this tab has looked up. It goes when the tab is closed or the person signs out. */
const KEY = 'bursar.recent'
const ENTRIES_MAX = 10

type Recent = { readonly hits: readonly Hit[]; readonly customers: readonly string[] }

function read(): Recent {
  const stored = sessionStorage.getItem(KEY)
  return stored === null ? { hits: [], customers: [] } : JSON.parse(stored)
}

const write = (recent: Recent): void => sessionStorage.setItem(KEY, JSON.stringify(recent))

export const recentHits = (): readonly Hit[] => read().hits
export const recentCustomers = (): readonly string[] => read().customers

export function rememberHit(hit: Hit): void {
  const recent = read()
  const others = recent.hits.filter(({ id, kind }) => id !== hit.id || kind !== hit.kind)
  write({ ...recent, hits: [hit, ...others].slice(0, ENTRIES_MAX) })
}

export function rememberCustomer(id: string): void {
  const recent = read()
  const others = recent.customers.filter((other) => other !== id)
  write({ ...recent, customers: [id, ...others].slice(0, ENTRIES_MAX) })
}
