import { BlockList, isIP } from 'node:net'

/** Whether a host is this machine: a loopback address, or a name under localhost (RFC 6761). */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase()
  return isIP(name) === 0 ? /(^|\.)localhost$/.test(name) : holds(loopback, name)
}

/** Whether a server that listens on this host accepts connections to every address. */
export const isWildcard = (host: string): boolean => isIP(host) !== 0 && holds(wildcard, host)

/** Whether two servers on these hosts cannot have the same port. A name listens on each address. */
export function areHostsShared(one: string, other: string): boolean {
  const hosts = [one, other]
  const isNamed = hosts.every(isLoopback) && hosts.some((host) => isIP(host) === 0)
  return one === other || hosts.some(isWildcard) || isNamed
}

/** A host in a URL: only there an IPv6 address has brackets. */
export const urlHost = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host)

/** Also finds IPv4 addresses that are written as IPv6 ones, such as ::ffff:127.0.0.1. */
const holds = (addresses: BlockList, host: string): boolean =>
  addresses.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

const wildcard = new BlockList()
wildcard.addAddress('0.0.0.0')
wildcard.addAddress('::', 'ipv6')
