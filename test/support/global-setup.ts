import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { prepareServer, testStore } from './test-database.ts'

/**
 * What a run of the tests shares: a PostgreSQL server, if the run is on PostgreSQL, and a store
 * that is filled with the sandbox once and then copied. Test processes inherit the variables.
 * `BURSAR_TEST_POSTGRES=debian` starts Debian's build instead of the npm package's.
 */
let server: PostgresServer | undefined
let folder: string | undefined

export async function globalSetup(): Promise<void> {
  process.env.BURSAR_TEST_MASTER_KEY = randomBytes(32).toString('base64')
  if (testStore === 'postgres') {
    const version = process.env.BURSAR_TEST_POSTGRES === 'debian' ? 'debian' : 'newest'
    server = await startPostgres({ version })
    await prepareServer(server)
    process.env.BURSAR_TEST_POSTGRES_PORT = String(server.port)
  }
  process.env.BURSAR_TEST_SANDBOX = await fillSandbox()
}

export async function globalTeardown(): Promise<void> {
  await server?.stop()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
}

/** Fills a store and leaves it for copies; returns its folder, or its name on PostgreSQL. */
async function fillSandbox(): Promise<string> {
  // Imported here because the harness reads the variables that are set above.
  const { openPlace, startServiceAt } = await import('./harness.ts')
  const place = await openPlace()
  const service = await startServiceAt({ ...place, remove: async () => {} })
  await service.stop()
  const { pathname } = new URL(place.env.DATABASE_URL ?? '')
  if (testStore === 'postgres') return pathname.slice(1)
  folder = join(pathname, '..')
  return folder
}
