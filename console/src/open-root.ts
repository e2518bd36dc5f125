import { type ReactNode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'

/** React's half of the script, which is evaluated before the console's own. It draws in slices. */
export const openRoot = (place: HTMLElement, page: ReactNode): void =>
  startTransition(() => createRoot(place).render(page))
