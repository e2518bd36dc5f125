import type { Route } from '@bursar/contract'

/** The headers of a page that runs its own scripts only and that no other site can embed. */
export const htmlHeaders = (rules: readonly string[]) => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    ...rules,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
})

/** To a relative place, so that it also holds behind a proxy that adds a path. */
export const redirect = (path: string, location: string, operation: string): Route => ({
  method: 'GET',
  path,
  operation,
  answer: () => ({ status: 302, headers: { location }, body: '' }),
})

/** JSON for a script element, which no text in it can close. */
export const jsonInPage = (value: object): string =>
  JSON.stringify(value).replaceAll('<', '\\u003c')
