import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { prepareServer, type StoreName, testStore } from './test-database.ts'

/**
 * What a run of the tests shares: a PostgreSQL server, and a store of each engine that is filled
 * with the sandbox once and then copied. Test processes inherit the variables, and so do programs
 * that they start. `BURSAR_TEST_STORE` leaves out the other engine; `BURSAR_TEST_POSTGRES=debian`
 * starts Debian's build instead of the npm package's.
 */
let server: PostgresServer | undefined
let folder: string | undefined
let filled: string | undefined

/** Where Linux keeps files in memory. */
const memory = '/dev/shm'
/** A run takes some hundred megabytes; a container may have 64. */
const MEMORY_BYTES_MIN = 4 * 1024 ** 3

/** Commits of the tests wait for no disk where memory has room. Fault tests use the disk. */
function useMemory(): void {
  if (!existsSync(memory)) return
  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize < MEMORY_BYTES_MIN) return
  folder = mkdtempSync(join(memory, 'bursar-tests-'))
  // PostgreSQL runs as another user if the tests run as root.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
}

export async function globalSetup(): Promise<void> {
  process.env.BURSAR_TEST_MASTER_KEY = randomBytes(32).toString('base64')
  process.env.NODE_OPTIONS = `--import=${new URL('patient.ts', import.meta.url).href}`
  useMemory()
  const stores: readonly StoreName[] =
    process.env.BURSAR_TEST_STORE === undefined ? ['sqlite', 'postgres'] : [testStore]
  if (stores.includes('postgres')) {
    const version = process.env.BURSAR_TEST_POSTGRES === 'debian' ? 'debian' : 'newest'
    server = await startPostgres({ version })
    await prepareServer(server)
    process.env.BURSAR_TEST_POSTGRES_PORT = String(server.port)
    process.env.BURSAR_TEST_SANDBOX_POSTGRES = (await fillSandbox('postgres')).pathname.slice(1)
  }
  if (stores.includes('sqlite')) {
    filled = join((await fillSandbox('sqlite')).pathname, '..')
    process.env.BURSAR_TEST_SANDBOX_SQLITE = filled
  }
}

export async function globalTeardown(): Promise<void> {
  await server?.stop()
  for (const path of [filled, folder]) {
    if (path !== undefined) rmSync(path, { recursive: true, force: true })
  }
}

/** Fills a store, leaves it for copies, and returns its URL. */
async function fillSandbox(store: StoreName): Promise<URL> {
  // Imported here because the harness reads the variables that are set above.
  const { openPlace, startServiceAt } = await import('./harness.ts')
  const place = await openPlace(store)
  const service = await startServiceAt({ ...place, remove: async () => {} }, { store })
  await service.stop()
  return new URL(place.env.DATABASE_URL ?? '')
}
