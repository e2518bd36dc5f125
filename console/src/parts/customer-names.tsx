import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { readCustomers } from '../api/read-customers.ts'
import { useRoute } from '../router.ts'
import { useSession } from '../session/console-session.ts'

const NamesContext = createContext<ReadonlyMap<string, string>>(new Map())

/** Display names of customers, for every screen. Staff alone have them. */
export function CustomerNames({ children }: { readonly children: ReactNode }) {
  const session = useSession()
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map())
  useEffect(() => {
    if (!session.isStaff) return undefined
    const abort = new AbortController()
    // Without names the ids are shown, so a failure is no failure of the screen.
    void readNames(session, abort.signal).then(setNames, () => {})
    return () => abort.abort()
  }, [session])
  return <NamesContext.Provider value={names}>{children}</NamesContext.Provider>
}

const PAGES_MAX = 5

async function readNames(
  session: Parameters<typeof readCustomers>[0],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = cursor === undefined ? {} : { page_cursor: cursor }
    const { customers, next_page_cursor: next } = await readCustomers(session, query, signal)
    for (const { id, name } of customers) if (name !== undefined) names.set(id, name)
    cursor = next
    if (cursor === undefined) break
  }
  return names
}

export function useCustomerName(): (id: string) => string {
  const names = useContext(NamesContext)
  return (id) => names.get(id) ?? id
}

/** Whose records the screens show; empty for all. A person of one customer has no choice. */
export function useCustomer(): string {
  const { customerId } = useSession()
  const { query } = useRoute()
  return customerId ?? query.get('customer') ?? ''
}
