import { openConnection } from '../../../packages/postgres/src/driver/connection.ts'
import type { PostgresServer } from '../../support/postgres-server.ts'
import { addressesOf } from '../../support/test-database.ts'

/** Runs a statement as superuser on one server, primary or standby. Returns the rows as text. */
export async function askServer(
  server: Pick<PostgresServer, 'url'>,
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

/** Opens a session that the test must end. */
export function openSession(
  server: Pick<PostgresServer, 'url'>,
  database = 'faults',
  user = 'postgres',
) {
  const [address] = addressesOf(server.url(user, database))
  if (address === undefined) throw new Error('no address')
  return openConnection(address, { parameters: {}, connectTimeoutMs: 60_000 })
}
