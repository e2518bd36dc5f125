import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemTime } from '@bursar/base'
import { temporaryFolder } from '../../../../test/support/harness.ts'
import { testSealing } from '../../../../test/support/test-sealing.ts'
import { openSqliteStore } from '../../../sqlite/src/open-sqlite-store.ts'

export type Plans = ReturnType<typeof openPlans>

/** Explains queries of an empty store. */
export function openPlans() {
  const folder = temporaryFolder()
  const path = join(folder, 'plans.db')
  const store = openSqliteStore(path, systemTime.now, testSealing)
  const db = new DatabaseSync(path)
  return {
    /** The steps of a query. */
    explain: (sql: string): string[] =>
      db
        .prepare(`explain query plan ${sql}`)
        .all()
        .map((row) => String(row.detail)),
    /** The operations of the program that a query is compiled to. */
    operations: (sql: string): string[] =>
      db
        .prepare(`explain ${sql.replaceAll(/\$(\d+)/g, '?$1')}`)
        .all()
        .map(({ opcode }) => String(opcode)),
    close: async () => {
      db.close()
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
