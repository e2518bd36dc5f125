import { openConnection } from '../../../src/store/postgres/driver/connection.ts'
import type { PostgresServer } from '../../support/postgres-server.ts'
import { addressesOf } from '../../support/test-database.ts'

/** What one PostgreSQL server answers its superuser, as text; primary or standby alike. */
export async function askServer(
  server: PostgresServer,
  sql: string,
  database = 'faults',
): Promise<(string | null)[][]> {
  const session = openSession(server, database)
  try {
    if (sql.includes(';')) {
      await session.execute(sql)
      return []
    }
    const rows = await session.query({ text: sql })
    return rows.map((row) => row.map((value) => (value === null ? null : String(value))))
  } finally {
    session.destroy()
  }
}

/** A session that the test holds. */
export function openSession(server: PostgresServer, database = 'faults', user = 'postgres') {
  const [address] = addressesOf(server.url(user, database))
  if (address === undefined) throw new Error('no address')
  return openConnection(address, { parameters: {}, connectTimeoutMs: 5000 })
}
