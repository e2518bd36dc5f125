import type { Hit } from '../../api/find-hits.ts'
import type { Session } from '../../session/console-session.ts'

const ENTRIES_MAX = 10
const keyOf = ({ key }: Session): string => `bursar.recent ${key}`

/** What a person has looked up in this tab. It goes when the tab is closed or they sign out. */
type Recent = { readonly hits: readonly Hit[]; readonly customers: readonly string[] }

function read(session: Session): Recent {
  const stored = sessionStorage.getItem(keyOf(session))
  return stored === null ? { hits: [], customers: [] } : JSON.parse(stored)
}

const write = (session: Session, recent: Recent): void =>
  sessionStorage.setItem(keyOf(session), JSON.stringify(recent))

export const recentHits = (session: Session): readonly Hit[] => read(session).hits

export function rememberHit(session: Session, hit: Hit): void {
  const recent = read(session)
  const others = recent.hits.filter(({ id, kind }) => id !== hit.id || kind !== hit.kind)
  write(session, { ...recent, hits: [hit, ...others].slice(0, ENTRIES_MAX) })
}

export function rememberCustomer(session: Session, id: string): void {
  const recent = read(session)
  const others = recent.customers.filter((other) => other !== id)
  write(session, { ...recent, customers: [id, ...others].slice(0, ENTRIES_MAX) })
}
