import { DatabaseSync } from 'node:sqlite'
import { makePrivateFile } from '../../platform/machine/private-files.ts'
import { inTransaction } from './migrate.ts'

export type IssuerClaim = {
  /** The issuer under which another live process serves the store, if it is another. */
  readonly other: string | undefined
  release(): void
}

/**
 * Claims a store for an issuer. A file names the issuer, and every server holds a read lock on it,
 * which the system releases however the process ends. So the name can change only while no other
 * server runs, and a killed server leaves no claim behind.
 */
export function claimIssuer(path: string, issuer: string): IssuerClaim {
  makePrivateFile(path)
  const db = new DatabaseSync(path, { timeout: WAIT_MS })
  try {
    // WAL would let a writer change the name beside the readers.
    db.exec('pragma journal_mode = delete; create table if not exists serving (issuer text)')
    if (readAndHold(db) !== issuer) {
      db.exec('rollback')
      replace(db, issuer)
      readAndHold(db)
    }
    const held = heldBy(db)
    return { other: held === issuer ? undefined : held, release: () => db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Other servers change the name within milliseconds. */
const WAIT_MS = 2000
/** Longer than another start reads the name. A server that runs keeps its lock. */
const WAIT_FOR_SERVERS_MS = 500

function heldBy(db: DatabaseSync): string | undefined {
  const issuer = db.prepare('select issuer from serving').get()?.issuer
  return typeof issuer === 'string' ? issuer : undefined
}

/** The open transaction keeps the read lock. */
function readAndHold(db: DatabaseSync): string | undefined {
  db.exec('begin')
  return heldBy(db)
}

/** Changes nothing while another server holds its read lock. */
function replace(db: DatabaseSync, issuer: string): void {
  try {
    inTransaction(db, () => {
      db.exec(`pragma busy_timeout = ${WAIT_FOR_SERVERS_MS}; delete from serving`)
      db.prepare('insert into serving values (?)').run(issuer)
    })
  } catch (error) {
    const { errcode } = error as { errcode?: unknown }
    if (errcode !== SQLITE_BUSY) throw error
  } finally {
    db.exec(`pragma busy_timeout = ${WAIT_MS}`)
  }
}

const SQLITE_BUSY = 5
