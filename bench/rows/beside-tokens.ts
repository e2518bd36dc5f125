import type { Config } from '@bursar/base'
import type { Listening } from '../../test/support/server-process.ts'
import { runAtFixedRate } from '../fixed-rate.ts'
import type { Row } from '../report.ts'
import { makeClient } from '../world.ts'
import type { ReadWorld } from './read-world.ts'
import { tokenLoad } from './writes.ts'

const LISTS_A_SECOND = 1000
const TOKENS_A_SECOND = 1000

type BesideTokens = {
  readonly config: Config
  readonly world: ReadWorld
  readonly service: Listening
  readonly seconds: number
}

/** The latency of lists while the server signs tokens in place, beside that of lists alone. */
export function besideTokensRow({ config, world, service, seconds }: BesideTokens): Row {
  const { url } = service
  const lists = () => {
    const requests = world.pages(100)
    return runAtFixedRate({ url, tokens: world.tokens, requests, rate: LISTS_A_SECOND, seconds })
  }
  return {
    name: 'p99 of lists, beside 1,000 tokens/s',
    goal: 2,
    atMost: true,
    unit: 'ms',
    reference: 'ms alone',
    measure: async () => {
      const load = tokenLoad(await makeClient(config))
      const { p99: theirs } = await lists()
      const [{ p99: ours }] = await Promise.all([
        lists(),
        runAtFixedRate({ url, ...load, rate: TOKENS_A_SECOND, seconds }),
      ])
      return { ours, theirs }
    },
  }
}
