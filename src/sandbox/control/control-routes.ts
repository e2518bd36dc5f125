import type { Operation, OperatorWork, OperatorWorks } from '../../contract/operation.ts'
import type { OperatorPrincipal } from '../../contract/principal.ts'
import type { Route } from '../../contract/request.ts'
import { requireScope } from '../../http/pipeline/authenticate.ts'
import { cursorKeysOf } from '../../http/pipeline/cursor.ts'
import { openRateLimit } from '../../http/pipeline/rate-limit.ts'
import { routesOf } from '../../http/pipeline/routes-of.ts'
import type { ServiceParts } from '../../service.ts'
import { refuseForeignPage } from './foreign-page.ts'

/** Who controls a sandbox: every program that reaches it. */
const anyProgram: OperatorPrincipal = {
  clientId: 'sandbox',
  tenant: null,
  boundTo: null,
  scopes: new Set(),
}

/** A route for each call. Writes run one after the other, so that none sees half of another. */
export function controlRoutes(
  operations: readonly Operation[],
  works: OperatorWorks,
  { keyring, url }: Pick<ServiceParts, 'keyring' | 'url'>,
): Route[] {
  const reads = new Set(operations.filter(({ method }) => method === 'GET').map(({ id }) => id))
  const inTurn = openTurns()
  const ordered = Object.entries(works).map(([id, work]): [string, OperatorWork] => [
    id,
    reads.has(id) ? work : (input) => inTurn(() => work(input)),
  ])
  return routesOf(operations, Object.fromEntries(ordered), {
    authenticate: (request) => {
      refuseForeignPage(request, url())
      return anyProgram
    },
    rateLimit: openRateLimit(0),
    requireScope,
    cursorKeys: cursorKeysOf(keyring),
  })
}

function openTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let previous: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = previous.then(work)
    previous = result.catch(() => {})
    return result
  }
}
