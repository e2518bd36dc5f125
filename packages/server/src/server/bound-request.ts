import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { limitsOf } from '@bursar/base'
import { type Problem, problem } from '@bursar/contract'

const limits = limitsOf({
  /** The longest path has an id of 36 characters; the rest is room for the echo of a wrong one. */
  pathLengthMax: 2048,
  /** The end of `X-Forwarded-For`, where trusted proxies write: at least 10 addresses. */
  forwardedForLengthMax: 512,
})

/** What the router may read: the path alone, and of that no more than a real one can have. */
export const boundedRouting = {
  routerOptions: {
    maxParamLength: limits.pathLengthMax,
    // Each operation reads the query itself, after the caller is known.
    querystringParser: () => ({}),
  },
  // The router would decode the whole path. The request keeps it as `originalUrl`.
  rewriteUrl: ({ url = '/' }: IncomingMessage): string => (isTooLong(url) ? '/' : url),
}

/** The refusal of a path that was kept from the router. */
export function pathRefusal(url: string): Problem | undefined {
  if (!isTooLong(url)) return undefined
  return problem('headersTooLarge', `the path must have at most ${limits.pathLengthMax} characters`)
}

/**
 * The target of a request as a path, once and before all else reads it: the absolute form `GET
 * http://HOST/path` asks for `/path` (RFC 9112, section 3.2.2).
 */
export function originForm(target = '/'): string {
  if (target.startsWith('/')) return target
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path === target || path.startsWith('/') ? path : `/${path}`
}

/** The router ends a path at a fragment too, which no client should send. */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/)
  return end < 0 ? url : url.slice(0, end)
}

const isTooLong = (url: string): boolean =>
  url.length > limits.pathLengthMax && pathOf(url).length > limits.pathLengthMax

/** Keeps the end of a long `X-Forwarded-For`: trusted proxies append, strangers write before. */
export function cutForwardedFor(headers: IncomingHttpHeaders): void {
  const forwarded = headers['x-forwarded-for']
  if (typeof forwarded !== 'string' || forwarded.length <= limits.forwardedForLengthMax) return
  const end = forwarded.slice(-limits.forwardedForLengthMax)
  headers['x-forwarded-for'] = end.slice(end.indexOf(',') + 1)
}
