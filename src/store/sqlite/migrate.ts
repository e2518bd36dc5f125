import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { limits } from '../../platform/limits.ts'
import {
  type AppliedStep,
  lastOf,
  type Migration,
  refuseEditedStep,
  refuseLaterStep,
} from '../sql/schema/migration.ts'
import { openDatabase, refuseLocked } from './database.ts'
import { emptyLog } from './import/disk-space.ts'

/**
 * Opens or creates a database and brings the named schemas of it up to date. Waits for the lock of
 * another process meanwhile. From then on no statement waits for one, because that would block the
 * process.
 */
export function openMigrated(
  path: string,
  schemas: Readonly<Record<string, readonly Migration[]>>,
  defineFunctions: (db: DatabaseSync) => void = () => {},
): DatabaseSync {
  const db = openDatabase(path)
  try {
    defineFunctions(db)
    const results = Object.entries(schemas).map(([schema, migrations]) =>
      refuseLocked(path, () => migrate(db, schema, migrations)),
    )
    const isChanged = results.includes(true)
    db.exec('pragma busy_timeout = 0')
    // A step may have rewritten every record.
    if (isChanged) emptyLog(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Brings one schema of a file up to date, and returns whether anything was due. Each step commits
 * with its row in schema_migration. Throws a ConfigError if a later version wrote the file, or if
 * an applied step was edited.
 */
export function migrate(
  db: DatabaseSync,
  schema: string,
  migrations: readonly Migration[],
): boolean {
  const name = `${schema} schema`
  const found = stepsOf(db, schema)
  refuseLaterStep(name, lastOf(found), migrations.at(-1)?.id ?? 0)
  refuseEditedStep(name, found, migrations)
  const isMarked = found.every(({ fingerprint }) => fingerprint !== undefined)
  // Reading takes no lock, so a file that is up to date opens while an import writes it.
  if (isMarked && lastOf(found) === migrations.at(-1)?.id) return false
  inTransaction(db, () => prepareTable(db, schema, migrations))
  for (const migration of migrations) {
    // Another process may migrate the same file, so each transaction reads the last step.
    inTransaction(db, () => {
      const last = lastOf(stepsOf(db, schema))
      refuseLaterStep(name, last, migrations.length)
      if (migration.id > last) apply(db, schema, migration)
    })
  }
  return true
}

/** Creates the table of steps, and marks the steps that a version without fingerprints applied. */
function prepareTable(db: DatabaseSync, schema: string, migrations: readonly Migration[]): void {
  db.exec(
    `create table if not exists schema_migration (
       schema text not null, id integer not null, applied_at text not null, fingerprint text,
       primary key (schema, id)
     ) strict, without rowid`,
  )
  if (!hasFingerprints(db)) db.exec('alter table schema_migration add column fingerprint text')
  const mark = db.prepare(
    `update schema_migration set fingerprint = ?
     where schema = ? and id = ? and fingerprint is null`,
  )
  for (const { id, fingerprint } of migrations) mark.run(fingerprint, schema, id)
}

function apply(db: DatabaseSync, schema: string, { id, sql, fingerprint }: Migration): void {
  db.exec(sql)
  const record = db.prepare(
    `insert into schema_migration (schema, id, applied_at, fingerprint)
     values (?, ?, datetime('now'), ?)`,
  )
  record.run(schema, id, fingerprint)
}

function stepsOf(db: DatabaseSync, schema: string): readonly AppliedStep[] {
  if (!hasSteps(db)) return []
  const fingerprint = hasFingerprints(db) ? 'fingerprint' : 'null as fingerprint'
  const rows = db
    .prepare(`select id, ${fingerprint} from schema_migration where schema = ? order by id`)
    .all(schema)
  return rows.map((row) => ({
    id: Number(row.id),
    fingerprint: row.fingerprint === null ? undefined : String(row.fingerprint),
  }))
}

const hasSteps = (db: DatabaseSync): boolean =>
  db.prepare(`select 1 from sqlite_master where name = 'schema_migration'`).get() !== undefined

const hasFingerprints = (db: DatabaseSync): boolean => {
  const column = `select 1 from pragma_table_info('schema_migration') where name = 'fingerprint'`
  return db.prepare(column).get() !== undefined
}

/** The steps that a file has, such as `records 2`. Empty for a file that does not exist. */
export function appliedSteps(path: string): readonly string[] {
  return existsSync(path) ? refuseLocked(path, () => readSteps(path)) : []
}

function readSteps(path: string): readonly string[] {
  const db = new DatabaseSync(path, { timeout: limits.storeLockWaitMs })
  try {
    if (!hasSteps(db)) return []
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
