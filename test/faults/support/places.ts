import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { withPrimary } from '../../../packages/postgres/src/cluster/with-primary.ts'
import { addressesOf, openTestDatabase } from '../../support/test-database.ts'

/** An empty store for programs that are killed. */
export type Place = {
  readonly env: Readonly<Record<string, string>>
  readonly engine: 'sqlite' | 'postgres'
  /** PostgreSQL only. */
  readonly superuserUrl?: string
  /** Runs SQL past the programs. `bursar.` is removed for the embedded store. */
  ask(sql: string): Promise<unknown[][]>
  remove(): Promise<void>
}

export async function embedded(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-killed-'))
  const path = join(folder, 'bursar.db')
  return {
    env: { DATABASE_URL: `sqlite:${path}` },
    engine: 'sqlite',
    ask: async (sql) => {
      using db = new DatabaseSync(path, { readOnly: true })
      const rows = db.prepare(sql.replaceAll('bursar.', '')).all()
      return rows.map((row) => Object.values(row))
    },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

export async function postgres(): Promise<Place> {
  const database = await openTestDatabase()
  return {
    env: {
      DATABASE_URL: database.url,
      OPERATOR_DATABASE_URL: database.operatorUrl,
      BURSAR_MASTER_KEY: randomBytes(32).toString('base64'),
      // Several servers share the processor with everything else here.
      BURSAR_DATABASE_TIMEOUT_MS: '20000',
    },
    engine: 'postgres',
    superuserUrl: database.superuserUrl,
    ask: (sql) =>
      withPrimary(addressesOf(database.superuserUrl), async (connection) => {
        const rows = await connection.query({ text: sql })
        return rows.map((row) => row.map((cell) => (cell === null ? null : String(cell))))
      }),
    remove: database.drop,
  }
}
