import { isIPv6 } from 'node:net'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import {
  failureKeysMax,
  failuresPerAddress,
  failuresPerAddressAndClient,
  failureWindowSeconds,
} from '../limits.ts'

/**
 * Slows down whoever guesses. Only failures count, and only against the address that they come from: whatever
 * someone else tries, a customer's own address is never shut out.
 */
export type GuessLimiter = {
  /** Seconds to wait, or 0. Asked before the credentials are looked at, so that a lucky guess is not answered either. */
  waitSeconds(address: string, clientId: string): Promise<number>
  countFailure(address: string, clientId: string): Promise<void>
}

export function openGuessLimiter(): GuessLimiter {
  const byAddress = openCounter(failuresPerAddress)
  const byClient = openCounter(failuresPerAddressAndClient)
  const keysOf = (address: string, clientId: string) => {
    const network = networkOf(address)
    // The name is the caller's to choose: cut, so that long ones do not fill the memory.
    return { network, client: `${network} ${clientId.slice(0, 64)}` }
  }
  return {
    waitSeconds: async (address, clientId) => {
      const { network, client } = keysOf(address, clientId)
      const waits = await Promise.all([byAddress.waitMs(network), byClient.waitMs(client)])
      return Math.ceil(Math.max(...waits) / 1000)
    },
    countFailure: async (address, clientId) => {
      const { network, client } = keysOf(address, clientId)
      await Promise.all([byAddress.count(network), byClient.count(client)])
    },
  }
}

/** Counts by key within a window, remembering a bounded number of keys: the one first seen goes first. */
function openCounter(failuresMax: number) {
  const limiter = new RateLimiterMemory({ points: failuresMax, duration: failureWindowSeconds })
  const keys = new Set<string>()
  return {
    waitMs: async (key: string): Promise<number> => {
      const state = await limiter.get(key)
      return state !== null && state.consumedPoints >= failuresMax ? state.msBeforeNext : 0
    },
    count: async (key: string): Promise<void> => {
      keys.delete(key)
      keys.add(key)
      await limiter.penalty(key)
      const oldest = keys.size > failureKeysMax ? keys.values().next() : undefined
      if (oldest === undefined || oldest.done === true) return
      keys.delete(oldest.value)
      await limiter.delete(oldest.value)
    },
  }
}

/** An IPv4 address as it is; of an IPv6 address the /64, since one subscriber has all addresses of it. */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return plain
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)
  if (mapped?.[1] !== undefined) return mapped[1]
  // The URL parser writes an address in the one canonical way, dotted tail and leading zeros gone.
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`
}
