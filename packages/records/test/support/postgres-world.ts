import { describe } from 'node:test'
import type { PostgresServer } from '../../../../test/support/postgres-server.ts'
import { addressesOf, prepareServer, testStore } from '../../../../test/support/test-database.ts'
import { type Connection, openConnection } from '../../../postgres/src/driver/connection.ts'
import type { SessionSettings } from '../../../postgres/src/driver/sessions.ts'

/** Declares tests of PostgreSQL, which run in the PostgreSQL pass only. */
export const onPostgres: (name: string, suite: () => void) => void =
  testStore === 'postgres' ? describe : () => {}

/** Connects to the first server of a URL. The caller closes it. */
export function connectTo(url: string, parameters: SessionSettings = {}): Connection {
  const [address] = addressesOf(url)
  if (address === undefined) throw new Error('the URL names no server')
  return openConnection(address, { parameters, connectTimeoutMs: 60_000 })
}

/** Runs one statement on the first server of a URL and returns the rows as text. */
export async function askAt(url: string, sql: string): Promise<(string | null)[][]> {
  const connection = connectTo(url)
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
