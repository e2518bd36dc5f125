import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 760px)')

function subscribe(changed: () => void): () => void {
  narrow.addEventListener('change', changed)
  return () => narrow.removeEventListener('change', changed)
}

/** Whether the window is as narrow as a phone: lists are cards then, and never a table. */
export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches)
