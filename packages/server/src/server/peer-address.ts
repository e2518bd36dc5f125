import { isIP } from 'node:net'
import type { Logger } from '@bursar/base'
import type { FastifyRequest } from 'fastify'

/**
 * The caller's IP address: the socket's, or the one that a trusted proxy forwarded. A forwarded
 * value is a key and a log field, so anything but an address is replaced by the socket's.
 */
export function peerAddress(raw: FastifyRequest): string {
  const { ip } = raw
  if (ip === raw.socket.remoteAddress) return ip
  // Nearly always an address alone. Only a proxy adds a port.
  if (isIP(ip) !== 0) return ip
  const [, address = ''] = /^\[?([^\]]*?)\]?(?::\d+)?$/.exec(ip.slice(0, 64)) ?? []
  return isIP(address) === 0 ? (raw.socket.remoteAddress ?? '') : address
}

/**
 * Warns once when a proxy that is not trusted forwards an address. Every customer behind it then
 * counts as one address, so a few wrong secrets of one lock all of them out.
 */
export function warnOfUntrustedProxy(log: Logger): (raw: FastifyRequest) => void {
  let hasWarned = false
  return (raw) => {
    if (hasWarned || raw.headers['x-forwarded-for'] === undefined) return
    const peer = raw.socket.remoteAddress
    // The address is the socket's for text that is not an address too, which a trusted proxy sent.
    if (raw.address !== peer || raw.ip !== peer) return
    hasWarned = true
    log.warn(
      { peer, setting: 'BURSAR_TRUSTED_PROXIES' },
      'X-Forwarded-For came from an address that is not a trusted proxy and is ignored; if it is your proxy, name it in BURSAR_TRUSTED_PROXIES, or failed logins of one customer lock out all',
    )
  }
}
