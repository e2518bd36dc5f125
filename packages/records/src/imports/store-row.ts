import type { Dialect } from '../dialect.ts'
import { ImportCancelled } from '../imports.ts'
import type { Session } from '../session.ts'
import { NothingChanged } from '../unavailable.ts'
import { importStatements, type StoredRow } from './import-statements.ts'

/**
 * Writes in the row of an import that it is stored, in the transaction of its merge. Throws, and so
 * rolls the merge back, if somebody has cancelled the import, or has taken it for lost.
 */
export async function storeRow(session: Session, dialect: Dialect, row: StoredRow): Promise<void> {
  const statements = importStatements(dialect)
  const stored = await session.rows(statements.store(row))
  if (stored.length > 0) return
  const [found] = await session.rows(statements.find(row.id, undefined))
  if (found?.state === 'running') throw new ImportCancelled()
  throw new NothingChanged('the import was taken for lost, so nothing was stored; run it again')
}
