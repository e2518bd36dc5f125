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

/** The query with some parameters set, or left out where they are empty. */
export function withParameters(
  query: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
): URLSearchParams {
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
