import { isIP } from 'node:net'
import {
  type Operation,
  type OperatorPrincipal,
  type OperatorWork,
  type OperatorWorks,
  problem,
  type Request,
  type Route,
} from '@bursar/contract'
import {
  cursorKeysOf,
  openRateLimit,
  requireScope,
  routesOf,
  type ServiceParts,
} from '@bursar/server'

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

/**
 * Throws a 403 for a request that a page of another site may have sent: a browser says where it
 * comes from. Programs send no Origin. If a page of another site resolves its own name to this
 * machine, Host has that name. So Host must be a name that no public DNS answers.
 */
function refuseForeignPage({ headers }: Pick<Request, 'headers'>, publicUrl: string): void {
  const { host = '', origin, 'sec-fetch-site': site } = headers
  if (!isOwnHost(host, publicUrl)) {
    throw problem(
      'forbidden',
      'the Host header must be localhost, an address, or a name without a dot; set BURSAR_PUBLIC_URL to use another name',
    )
  }
  const isOwn = origin === undefined || origin === `http://${host}` || origin === `https://${host}`
  if (!isOwn || site === 'cross-site' || site === 'same-site') {
    throw problem('forbidden', 'a page of another site must not control the sandbox; check Origin')
  }
}

function isOwnHost(host: string, publicUrl: string): boolean {
  const url = URL.parse(`http://${host}`)
  if (url === null) return false
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const isLocal = name === 'localhost' || name.endsWith('.localhost') || !name.includes('.')
  return isLocal || isIP(name) > 0 || url.hostname === URL.parse(publicUrl)?.hostname
}
