import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { makePrivateFile } from '../../platform/machine/private-files.ts'
import { systemTime } from '../../platform/time.ts'
import { beginWriting, failureOf, isBusy } from './database.ts'
import { retryWhileLocked } from './locks.ts'

export type IssuerClaim = {
  /** The issuer under which another live process serves the store, if it is another. */
  readonly other: string | undefined
  release(): void
}

/**
 * Claims a store for an issuer. A file names the issuer, and every server holds a read lock on it,
 * which the system releases however the process ends. So the name can change only while no other
 * server runs, and a killed server leaves no claim behind. A row with a heartbeat would refuse a
 * restart until it expires, and the id of a process means nothing in another container.
 */
export async function claimIssuer(path: string, issuer: string): Promise<IssuerClaim> {
  makePrivateFile(path)
  // The server listens already, so nothing waits inside SQLite.
  const db = new DatabaseSync(path, { timeout: 0 })
  const within = <T>(waitMs: number, work: () => T) =>
    retryWhileLocked(work, systemTime.elapsedMs() + waitMs, `another process has locked ${path}`)
  const readAndHold = () => within(WAIT_MS, () => holdIssuer(db))
  try {
    // WAL would let a writer change the name beside the readers.
    const create = 'pragma journal_mode = delete; create table if not exists serving (issuer text)'
    await within(WAIT_MS, () => db.exec(create))
    if ((await readAndHold()) !== issuer) {
      db.exec('rollback')
      await within(WAIT_FOR_SERVERS_MS, () => replace(db, issuer)).catch(ignoreServers)
      await readAndHold()
    }
    const held = heldBy(db)
    return { other: held === issuer ? undefined : held, release: () => db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Whether a live server of any process holds the claim at a path. */
export function isClaimed(path: string): boolean {
  if (!existsSync(path)) return false
  using db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('begin exclusive; rollback')
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw failureOf(error)
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
function holdIssuer(db: DatabaseSync): string | undefined {
  db.exec('begin')
  try {
    return heldBy(db)
  } catch (error) {
    db.exec('rollback')
    throw error
  }
}

/** Changes nothing while another server holds its read lock. */
function replace(db: DatabaseSync, issuer: string): void {
  using transaction = beginWriting(db)
  db.exec('delete from serving')
  db.prepare('insert into serving values (?)').run(issuer)
  transaction.commit()
}

/** Another server keeps its issuer. */
function ignoreServers(error: unknown): void {
  if (!(error instanceof Error) || !isBusy(error.cause)) throw error
}
