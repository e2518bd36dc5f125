import { isIPv6 } from 'node:net'

/** An IPv4 address unchanged, an IPv6 address as its /64: one subscriber holds all of it. */
export function networkOf(address: string): string {
  if (!address.includes(':') && !address.includes('%')) return address
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return plain
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)
  if (mapped?.[1] !== undefined) return mapped[1]
  // The URL parser writes the canonical form, without a dotted tail or leading zeros.
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`
}
