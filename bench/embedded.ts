import { join } from 'node:path'
import type { Config } from '../src/platform/config.ts'
import { configOf, temporaryFolder } from '../test/support/harness.ts'
import { type Listening, pinnedOutput, startProcess } from './process.ts'
import { openReadWorld, type ReadWorld } from './rows/read-world.ts'
import { accounts, fill } from './world.ts'

/** A server of a benchmark logs nothing, and refuses no quote and no token. */
export const serverEnv = {
  PORT: '0',
  LOG_LEVEL: 'silent',
  BURSAR_ACCEPT_SAMPLE_FEES: 'true',
  BURSAR_FEE_QUOTES_OPEN_MAX: '1000000000',
  BURSAR_OAUTH_REQUESTS_PER_SECOND_MAX: '0',
}

export type OpenedStore = {
  readonly config: Config
  readonly world: ReadWorld
  readonly service: Listening
  stop(): Promise<void>
}

/** Fills an embedded store and starts a server on it. */
export async function openEmbedded(
  records: number,
): Promise<OpenedStore & { readonly filledMs: number }> {
  const folder = temporaryFolder()
  const file = join(folder, 'bench.db')
  const config = configOf({ DATABASE_URL: `sqlite:${file}` })
  const startedAt = performance.now()
  await fill(config, accounts(records))
  const filledMs = performance.now() - startedAt
  const service = await startProcess(['dist/main.js', 'serve'], {
    env: { DATABASE_URL: config.databaseUrl, ...serverEnv },
  })
  const sqlRate = async (limit: number, seconds: number) => {
    const words = ['bench/servers/sqlite-pages.ts', file, records, limit, seconds]
    return Number(pinnedOutput(words.map(String)))
  }
  const goals = { get: 0.55, coldList: 0.25, hotList: 0.6, nginx: 0.5, quote: 0.5 }
  const world = await openReadWorld(
    { config, url: service.url, records },
    { folder, goals, sqlRate },
  )
  return { config, world, service, filledMs, stop: service.stop }
}
