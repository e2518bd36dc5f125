import { RateLimiterMemory } from 'rate-limiter-flexible'
import { limits } from '../../platform/limits.ts'
import { networkOf } from '../../values/ip-network.ts'

/** Counts failures for the sender's address only, so that nobody can lock a customer out. */
export type GuessLimiter = {
  /** Seconds to wait, or 0. Called before credentials are checked, so a right guess waits too. */
  waitSeconds(address: string, clientId: string): Promise<number>
  countFailure(address: string, clientId: string): Promise<void>
}

export function openGuessLimiter(): GuessLimiter {
  const byAddress = openCounter(limits.failuresPerAddress)
  const byClient = openCounter(limits.failuresPerAddressAndClient)
  const keysOf = (address: string, clientId: string) => {
    const network = networkOf(address)
    // The caller chooses the id. Cutting it bounds memory.
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

/** Counts failures by key within a window. Drops the oldest key when there are too many. */
function openCounter(failuresMax: number) {
  const { failureWindowSeconds: duration } = limits
  const limiter = new RateLimiterMemory({ points: failuresMax, duration })
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
      const oldest = keys.size > limits.failureKeysMax ? keys.values().next() : undefined
      if (oldest === undefined || oldest.done === true) return
      keys.delete(oldest.value)
      await limiter.delete(oldest.value)
    },
  }
}
