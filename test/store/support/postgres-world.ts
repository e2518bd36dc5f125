import { describe } from 'node:test'
import { openConnection } from '../../../src/store/postgres/driver/connection.ts'
import type { PostgresServer } from '../../support/postgres-server.ts'
import { addressesOf, prepareServer, testStore } from '../../support/test-database.ts'

/** What only PostgreSQL has is declared only where the run is about it. */
export const onPostgres: (name: string, suite: () => void) => void =
  testStore === 'postgres' ? describe : () => {}

/** One statement on the one server that a URL names, whatever its role; the rows as text. */
export async function askAt(url: string, sql: string): Promise<(string | null)[][]> {
  const [address] = addressesOf(url)
  if (address === undefined) throw new Error('the URL names no server')
  const connection = openConnection(address, { parameters: {}, connectTimeoutMs: 5000 })
  try {
    const rows = await connection.query({ text: sql })
    return rows.map((row) => row.map((value) => (value === null ? null : String(value))))
  } finally {
    await connection.close()
  }
}

/** A server of the test's own, with roles and one database, for tests that stop and change it. */
export async function prepareOwn(server: PostgresServer) {
  await prepareServer(server)
  const database = 'bursar_template'
  return {
    url: server.url('bursar', database),
    ask: (sql: string) => askAt(server.url('postgres', database), sql),
  }
}
