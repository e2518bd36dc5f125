import { existsSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { systemTime } from '@bursar/base'
import {
  type AppliedAt,
  type AppliedStep,
  applyStep,
  createStepTable,
  type DatabaseName,
  dueSteps,
  type OwnStatements,
  recordsLimits,
  type Step,
  schemaSteps,
  text,
  whole,
} from '@bursar/records'
import { beginWriting, openDatabase, prepare, refuseLocked } from './database.ts'
import { dialect } from './dialect.ts'
import { emptyLog } from './files/write-ahead-log.ts'

/** Triggers, and an index as SQLite needs it. */
export const ownStatements: OwnStatements = {
  records: '',
  credentials: readFileSync(new URL('./credentials.sql', import.meta.url), 'utf8'),
}

const allSteps = schemaSteps(dialect, ownStatements)

/**
 * Opens or creates a database and brings its schema up to date. Waits for the lock of another
 * process meanwhile. From then on no statement waits for one, because that would block the process.
 */
export function openMigrated(path: string, database: DatabaseName): DatabaseSync {
  const db = openDatabase(path)
  try {
    const steps = allSteps.filter((step) => step.database === database)
    const isChanged = refuseLocked(path, () => migrate(db, steps))
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
 * Applies the steps that a file lacks, each in a transaction, and returns whether there were any.
 * Throws a ConfigError if a later version wrote the file, or if an applied step was edited.
 */
export function migrate(db: DatabaseSync, steps: readonly Step[]): boolean {
  let isChanged = false
  // Reading takes no lock, so a file that is up to date opens while an import writes it.
  while (dueSteps(steps, appliedTo(db)).length > 0) {
    using transaction = beginWriting(db)
    // Another process may have applied the step before this transaction began.
    const [step] = dueSteps(steps, appliedTo(db))
    if (step !== undefined) {
      db.exec(createStepTable(dialect))
      db.exec(applyStep(step, dialect, systemTime.now()))
    }
    transaction.commit()
    isChanged = true
  }
  return isChanged
}

function appliedTo(db: DatabaseSync): readonly (AppliedStep & AppliedAt)[] {
  const table = db.prepare(`select 1 from sqlite_schema where name = 'schema_migration'`).get()
  if (table === undefined) return []
  const rows = prepare(db, 'select name, fingerprint, applied_at from schema_migration').all()
  const found = rows.map((row) => ({
    name: text(row, 'name'),
    fingerprint: text(row, 'fingerprint'),
    at: whole(row, 'applied_at'),
  }))
  return found.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** Steps are shown in the order in which they are applied. */
const placeOf = ({ name }: AppliedStep): number => allSteps.findIndex((step) => step.name === name)

/** The names of the steps that a file has. Empty for a file that does not exist. */
export const appliedSteps = (path: string): readonly string[] =>
  appliedAt(path).map(({ name }) => name)

/** The same with the times. */
export function appliedAt(path: string): readonly (AppliedStep & AppliedAt)[] {
  if (!existsSync(path)) return []
  return refuseLocked(path, () => {
    // A connection that only reads would leave the log that it has added.
    using db = new DatabaseSync(path, { timeout: recordsLimits.storeLockWaitMs })
    return appliedTo(db)
  })
}

/** The steps that a file lacks. Throws a ConfigError for the schema of another version. */
export function lackedSteps(path: string, database: DatabaseName): readonly string[] {
  if (!existsSync(path)) return []
  const steps = allSteps.filter((step) => step.database === database)
  return dueSteps(steps, appliedAt(path)).map(({ name }) => name)
}
