import { useSyncExternalStore } from 'react'

/** What the browser keeps for a person: how times are shown, saved views, chosen columns. */
const listeners = new Set<() => void>()

function subscribe(changed: () => void): () => void {
  listeners.add(changed)
  addEventListener('storage', changed)
  return () => {
    listeners.delete(changed)
    removeEventListener('storage', changed)
  }
}

/** A text under a key. A browser that keeps nothing answers the fallback. */
function stored(key: string): string | null {
  try {
    return localStorage.getItem(`bursar.${key}`)
  } catch {
    return null
  }
}

export function store(key: string, text: string): void {
  try {
    localStorage.setItem(`bursar.${key}`, text)
  } catch {
    // A full or closed storage loses a preference and nothing else.
  }
  for (const changed of listeners) changed()
}

export const usePreference = (key: string): string | null =>
  useSyncExternalStore(subscribe, () => stored(key))

/** Light, dark, or what the system has. */
export const useTheme = (): string => usePreference('theme') ?? 'system'

/** Whether the names of the API stand beside the labels. */
export const useHasNames = (): boolean => usePreference('names') === 'on'

/** Whether times are shown in UTC, as the API answers them, or in the zone of the browser. */
export const useIsUtc = (): boolean => usePreference('zone') !== 'local'
