import { systemTime } from './system-time.ts'

/** What the client needs of its runtime. React Native has a `URL` whose parts throw. */
const always: Readonly<Record<string, () => unknown>> = {
  'URL.pathname': () => new URL('https://a.example/b').pathname === '/b',
  URLSearchParams: () => new URLSearchParams({ a: 'b' }).toString() === 'a=b',
  AbortController: () => new AbortController().signal,
  performance: () => systemTime.elapsedMs() >= 0,
  'Symbol.asyncIterator': () => Symbol.asyncIterator,
}
const forSecret = { btoa: () => btoa('') === '' }
const forKey: Readonly<Record<string, () => unknown>> = {
  ...forSecret,
  atob: () => atob('') === '',
  TextEncoder: () => new TextEncoder(),
  'crypto.subtle': () => crypto.subtle,
  'crypto.randomUUID': () => crypto.randomUUID,
}

type Used = {
  readonly fetch?: unknown
  readonly clientSecret?: unknown
  readonly privateKey?: unknown
}

/** Throws a TypeError that names what the runtime lacks, before the first request needs it. */
export function requireRuntime({ fetch, clientSecret, privateKey }: Used): void {
  const needed = {
    ...always,
    ...(fetch === undefined && { fetch: () => globalThis.fetch }),
    ...(clientSecret !== undefined && forSecret),
    ...(privateKey !== undefined && forKey),
  }
  const missing = Object.entries(needed).filter(([, has]) => !isThere(has))
  if (missing.length === 0) return
  const names = missing.map(([name]) => name).join(', ')
  throw new TypeError(`the runtime lacks ${names}, which this client needs; load a polyfill first`)
}

function isThere(has: () => unknown): boolean {
  try {
    return Boolean(has())
  } catch {
    return false
  }
}
