import { useSyncExternalStore } from 'react'

/**
 * The screen and its query are in the fragment of the URL. A browser never sends the fragment, so
 * a link that somebody opens leaves no memo or id in the log of a proxy.
 */
export type Route = {
  /** `['records', 'statements', id]`. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

let known: { readonly hash: string; readonly route: Route } | undefined

function currentRoute(): Route {
  const { hash } = location
  if (known?.hash === hash) return known.route
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const segments = path.split('/').filter((segment) => segment !== '')
  known = { hash, route: { path: segments.map(decode), query: new URLSearchParams(query) } }
  return known.route
}

/** A segment that is not percent-encoded text is kept as it is. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

export const useRoute = (): Route => useSyncExternalStore(subscribe, currentRoute)

function subscribe(changed: () => void): () => void {
  addEventListener('hashchange', changed)
  return () => removeEventListener('hashchange', changed)
}

export function linkTo(path: readonly string[], query: Iterable<[string, string]> = []): string {
  const text = new URLSearchParams([...query]).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

export function go(link: string): void {
  location.hash = link
}

/** Parameters to set, or to leave out where they are empty. */
export type Changes = Readonly<Record<string, string | undefined>>

/** The query with some parameters set, or left out where they are empty. */
export function withParameters(query: URLSearchParams, changes: Changes): URLSearchParams {
  const changed = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') changed.delete(name)
    else changed.set(name, value)
  }
  return changed
}

/** The customer and the instant of a query. They go along from screen to screen. */
export const placeOf = (query: URLSearchParams): readonly [string, string][] =>
  [...query].filter(([name]) => name === 'customer' || name === 'as_of')

/**
 * Keeps the place in a screen: an entry of the history that is opened again scrolls to where the
 * person was. Each entry has its own place, also of two lists under one URL.
 */
export function keepScroll(): () => void {
  history.scrollRestoration = 'manual'
  const note = () => {
    // A list that is loading is too short for its place. It scrolls there once it has its rows.
    const lowest = document.documentElement.scrollHeight - innerHeight
    if (lowest + 1 < placeOfEntry()) return
    history.replaceState({ ...history.state, scroll: scrollY }, '')
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const later = () => {
    clearTimeout(timer)
    timer = setTimeout(note, 150)
  }
  addEventListener('scroll', later, { passive: true })
  return () => {
    clearTimeout(timer)
    removeEventListener('scroll', later)
  }
}

/** Scrolls to the place that this entry of the history had, or to the top of a new one. */
export const restoreScroll = (): void => scrollTo(0, placeOfEntry())

function placeOfEntry(): number {
  const { scroll } = (history.state ?? {}) as { readonly scroll?: number }
  return scroll ?? 0
}
