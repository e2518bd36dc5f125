import { isIP } from 'node:net'
import { problem } from '../../contract/problem.ts'
import type { Request } from '../../contract/request.ts'

/**
 * Throws a 403 for a request that a page of another site may have sent: a browser says where it
 * comes from. Programs send no Origin. A page whose own name was made to point at this machine has
 * that name in Host, so a name must be one that no public DNS answers.
 */
export function refuseForeignPage({ headers }: Pick<Request, 'headers'>, publicUrl: string): void {
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
