import { DatabaseSync } from 'node:sqlite'
import type { StorePlace } from '../../../../test/support/store-place.ts'
import { testStore } from '../../../../test/support/test-database.ts'

const isPostgres = testStore === 'postgres'

/** The name of a table of credentials. */
export const nameOf = (table: string) => (isPostgres ? `bursar.${table}` : table)

/** Writes to the tables past the program. */
export async function runPast(
  { ask, where }: StorePlace,
  ...statements: readonly string[]
): Promise<void> {
  if (isPostgres) {
    for (const statement of statements) await ask(statement)
    return
  }
  using db = new DatabaseSync(where, { timeout: 5000 })
  for (const statement of statements) db.exec(statement)
}
