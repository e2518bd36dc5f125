import { type Problem, problem } from '@bursar/contract'
import type { FastifyInstance } from 'fastify'

/** A 405 with `Allow` where the path has other methods, else a 404. */
export function openUnknownRoute(server: FastifyInstance): (path: string) => Problem {
  const methodsOf = new Map<string, Set<string>>()
  server.addHook('onRoute', ({ url, method }) => {
    const methods = methodsOf.get(url) ?? new Set()
    methodsOf.set(url, methods)
    for (const each of [method].flat()) methods.add(each)
  })
  let patterns: readonly { readonly pattern: RegExp; readonly methods: Set<string> }[] | undefined
  return (path) => {
    patterns ??= [...methodsOf].map(([url, methods]) => ({ pattern: patternOf(url), methods }))
    const allowed = patterns
      .filter(({ pattern }) => pattern.test(path))
      .flatMap(({ methods }) => [...methods])
    if (allowed.length === 0) {
      return problem(
        'notFound',
        'there is nothing at this path; /openapi.json lists every operation',
      )
    }
    return problem('methodNotAllowed', `the method must be ${allowed.join(' or ')}`, {
      headers: { allow: allowed.join(', ') },
    })
  }
}

const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .replace(/[.]/g, '\\.')
      .replaceAll('*', '.*')
      .replace(/:[a-z]+/g, '[^/]*')}$`,
  )
