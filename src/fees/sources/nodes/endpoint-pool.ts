import type { CryptoNetwork } from '../../../values/network.ts'
import type { Endpoint } from '../../schedule/schedule-values.ts'
import type { LookingGlass } from '../fee-event.ts'
import { type NodeClient, nodeClient } from './node-client.ts'

/** A node that has not answered in two seconds is asked again later; the next one is asked now. */
const answerTimeoutMs = 2_000
/** After n failures in a row an endpoint rests 2^n seconds, at most five minutes. */
const restSecondsMax = 300

type Place = { readonly node: NodeClient; failures: number; notBefore: bigint }

type Answer<T> = { readonly value: T; readonly host: string }

/** The endpoints of one network, in the operator's order. */
export type EndpointPool = {
  /**
   * The first endpoint's answer, or the next one's where it fails; undefined where none answered. Never rejects.
   * `last` is the host to ask after all others: a second look is worth more at another node.
   */
  readonly ask: <T>(
    look: (node: NodeClient, signal: AbortSignal) => Promise<T>,
    stop: AbortSignal,
    last?: string,
  ) => Promise<Answer<T> | undefined>
}

export function endpointPool(
  network: CryptoNetwork,
  endpoints: readonly Endpoint[],
  glass: LookingGlass,
): EndpointPool {
  const places: readonly Place[] = endpoints.map((endpoint) => {
    return { node: nodeClient(endpoint), failures: 0, notBefore: 0n }
  })
  const ask: EndpointPool['ask'] = async (look, stop, last) => {
    const inOrder = [
      ...places.filter(({ node }) => node.host !== last),
      ...places.filter(({ node }) => node.host === last),
    ]
    for (const place of inOrder) {
      if (stop.aborted) return undefined
      if (glass.clock() < place.notBefore) continue
      const { host } = place.node
      try {
        const signal = AbortSignal.any([stop, AbortSignal.timeout(answerTimeoutMs)])
        const value = await look(place.node, signal)
        if (place.failures > 0) glass.report({ event: 'node-recovered', network, host })
        place.failures = 0
        return { value, host }
      } catch (error) {
        if (stop.aborted) return undefined
        if (place.failures === 0) {
          glass.report({ event: 'node-failed', network, host, reason: reasonOf(error) })
        }
        rest(place, glass)
      }
    }
    return undefined
  }
  return { ask }
}

/** Messages of our own are safe to log; those of anything else may hold what the node sent. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && error.name === 'Error' ? error.message : 'answered garbage'
}

function rest(place: Place, { clock, random }: LookingGlass): void {
  place.failures += 1
  const seconds = Math.min(restSecondsMax, 2 ** Math.min(place.failures, 10))
  const jitteredMicros = Math.round(seconds * (0.5 + random() / 2) * 1_000_000)
  place.notBefore = clock() + BigInt(jitteredMicros)
}
