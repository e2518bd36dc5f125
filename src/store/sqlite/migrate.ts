import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Migration, refuseLaterStep } from '../sql/migration.ts'

/**
 * Brings one schema of a file up to date and returns the ids of the applied steps. Each step
 * commits with its row in schema_migration. Throws a ConfigError if a later version wrote the file.
 */
export function migrate(
  db: DatabaseSync,
  schema: string,
  migrations: readonly Migration[],
): readonly number[] {
  db.exec(
    `create table if not exists schema_migration (
       schema text not null, id integer not null, applied_at text not null, primary key (schema, id)
     ) strict, without rowid`,
  )
  const lastStep = db.prepare(
    'select coalesce(max(id), 0) as last from schema_migration where schema = ?',
  )
  const applied: number[] = []
  for (const migration of migrations) {
    // Another process may migrate the same file, so each transaction reads the last step.
    const done = inTransaction(db, () => {
      const last = Number(lastStep.get(schema)?.last)
      refuseLaterStep(`${schema} schema`, last, migrations.at(-1)?.id ?? 0)
      if (migration.id <= last) return false
      db.exec(migration.sql)
      const record = db.prepare(`insert into schema_migration values (?, ?, datetime('now'))`)
      record.run(schema, migration.id)
      return true
    })
    if (done) applied.push(migration.id)
  }
  return applied
}

/** The steps that a file has, such as `records 2`. Empty for a file that does not exist. */
export function appliedSteps(path: string): readonly string[] {
  if (!existsSync(path)) return []
  const db = new DatabaseSync(path)
  try {
    const table = db.prepare(`select 1 from sqlite_master where name = 'schema_migration'`)
    if (table.get() === undefined) return []
    const rows = db.prepare('select schema, id from schema_migration order by schema, id').all()
    return rows.map(({ schema, id }) => `${schema} ${id}`)
  } finally {
    db.close()
  }
}

/** Runs the work inside one transaction. Rolls it back and rethrows when the work throws. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  // An immediate transaction makes a second writer wait here instead of failing half way.
  db.exec('begin immediate')
  try {
    const result = work()
    db.exec('commit')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}
