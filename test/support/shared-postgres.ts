import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { prepareServer } from './test-database.ts'

/** One PostgreSQL server for a whole run of the tests; `BURSAR_TEST_POSTGRES=debian` takes Debian's instead of the newest. */
let server: PostgresServer | undefined

export async function globalSetup(): Promise<void> {
  const version = process.env.BURSAR_TEST_POSTGRES === 'debian' ? 'debian' : 'newest'
  server = await startPostgres({ version })
  await prepareServer(server)
  // The test files run in processes of their own, which inherit this.
  process.env.BURSAR_TEST_POSTGRES_PORT = String(server.port)
}

export async function globalTeardown(): Promise<void> {
  await server?.stop()
}
