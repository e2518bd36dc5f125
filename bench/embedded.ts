import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '@bursar/base'
import { configOf, temporaryFolder } from '../test/support/harness.ts'
import { type Listening, pinnedOutput, startProcess } from '../test/support/server-process.ts'
import type { ImportTarget } from './rows/imports.ts'
import { openReadWorld, type ReadWorld } from './rows/read-world.ts'
import { accounts, fill } from './world.ts'

/** A server of a benchmark logs nothing, and refuses no quote and no token in an hour. */
export const serverEnv = {
  PORT: '0',
  LOG_LEVEL: 'silent',
  BURSAR_ACCEPT_SAMPLE_FEES: 'true',
  BURSAR_FEE_QUOTES_OPEN_MAX: '1000000000',
  BURSAR_TOKEN_LIFE_SECONDS: '3600',
  BURSAR_OAUTH_REQUESTS_PER_SECOND_MAX: '0',
  // All clients have the address of this machine.
  BURSAR_CONNECTIONS_PER_ADDRESS_MAX: '30000',
}

export type OpenedStore = {
  readonly config: Config
  /** What a command needs to use the store. */
  readonly env: Readonly<Record<string, string>>
  readonly imports: ImportTarget
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
  const env = { DATABASE_URL: config.databaseUrl }
  const service = await startProcess(['dist/main.js', 'serve'], {
    env: { ...env, ...serverEnv },
  })
  const sqlRate = async (limit: number, seconds: number) => {
    const words = ['bench/servers/sqlite-pages.ts', file, records, limit, seconds]
    return Number(pinnedOutput(words.map(String)))
  }
  const goals = { get: 0.6, coldList: 0.25, hotList: 0.6, nginx: 0.5, quote: 0.4 }
  const world = await openReadWorld(
    { config, url: service.url, records },
    { folder, goals, sqlRate },
  )
  const imports = importTarget(join(folder, 'import'))
  return { config, env, imports, world, service, filledMs, stop: service.stop }
}

/** A new store for each import. */
function importTarget(folder: string): ImportTarget {
  const file = join(folder, 'store.db')
  return {
    env: { DATABASE_URL: `sqlite:${file}` },
    bulk: 'bulk insert',
    goals: { bytes: 2, startMs: 300 },
    reset: () => rmSync(folder, { recursive: true, force: true }),
    bulkRate: () => Number(pinnedOutput(['bench/servers/sqlite-bulk.ts', file])),
    bytes: () => bytesIn(folder),
  }
}

export const bytesIn = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
