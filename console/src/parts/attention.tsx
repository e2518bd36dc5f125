import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { type Attention, type Matter, readAttention } from '../api/read-attention.ts'
import { useSession } from '../session/console-session.ts'
import { groupedCount } from '../values/amounts.ts'
import { useCustomer } from './customer-names.tsx'
import { type Loaded, useLoad } from './use-load.ts'

type Known = readonly [Loaded<Attention | undefined>, refresh: () => void]

const AttentionContext = createContext<Known>([{ state: 'loading' }, () => {}])

const REFRESH_MS = 60_000

/** What waits for somebody: the badges of the navigation and the start screen share it. */
export function AttentionProvider({ children }: { readonly children: ReactNode }) {
  const session = useSession()
  const customerId = useCustomer()
  const known = useLoad(`attention ${customerId}`, async (signal) =>
    session.isStaff ? await readAttention(session, customerId, signal) : undefined,
  )
  const [, refresh] = known
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') refresh()
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [refresh])
  return <AttentionContext.Provider value={known}>{children}</AttentionContext.Provider>
}

export const useAttention = (): Known => useContext(AttentionContext)

/** `27`, or `10,000+` where the server counted no further. */
export const countText = ({ count, more }: Pick<Matter, 'count' | 'more'>): string =>
  `${groupedCount(count)}${more ? '+' : ''}`

/** `1 statement`, `27 statements`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${groupedCount(count)} ${count === 1 ? noun : plural}`
