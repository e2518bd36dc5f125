import { Problem } from '../../contract/problem.ts'
import type { Route } from '../../contract/request.ts'

/** A 405 with `Allow` where the path has other methods, else a 404. */
export function openUnknownRoute(routes: readonly Route[]): (path: string) => Problem {
  const patterns = routes.map(({ path, method }) => ({ pattern: patternOf(path), method }))
  return (path) => {
    const methods = patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
    if (methods.length === 0) {
      return new Problem(404, 'there is nothing at this path; /openapi.json lists every operation')
    }
    const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    return new Problem(405, `the method must be ${allowed.join(' or ')}`, {
      headers: { allow: allowed.join(', ') },
    })
  }
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:[a-z]+/g, '[^/]*')}$`)
