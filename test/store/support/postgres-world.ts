import { describe } from 'node:test'
import { openConnection } from '../../../src/store/postgres/driver/connection.ts'
import type { PostgresServer } from '../../support/postgres-server.ts'
import { addressesOf, prepareServer, testStore } from '../../support/test-database.ts'

/** Declares tests of PostgreSQL, which run in the PostgreSQL pass only. */
export const onPostgres: (name: string, suite: () => void) => void =
  testStore === 'postgres' ? describe : () => {}

/** Runs one statement on the first server of a URL and returns the rows as text. */
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

/** Prepares the roles and a database on a server that the test may stop and change. */
export async function prepareOwn(server: PostgresServer) {
  await prepareServer(server)
  const database = 'bursar_template'
  return {
    url: server.url('bursar', database),
    ask: (sql: string) => askAt(server.url('postgres', database), sql),
  }
}
