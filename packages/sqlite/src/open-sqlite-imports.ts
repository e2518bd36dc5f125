import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { attempt, type Background, type Clock, type Logger } from '@bursar/base'
import {
  type ImportLock,
  type ImportRegistry,
  LOCK_NUMBER_END,
  NothingChanged,
  openImports,
} from '@bursar/records'
import { dialect } from './dialect.ts'
import { credentialsSetup } from './fee-quotes.ts'
import { holdLock, isLocked, lockBeside } from './files/file-lock.ts'
import { retryWhileLocked } from './locks.ts'
import { openMigrated } from './migrate.ts'
import { openReads } from './session.ts'
import { type FileWriter, openWriterHere } from './thread/file-writer.ts'

type ImportsDeps = {
  readonly clock: Clock
  readonly background: Background
  readonly log: Logger
  /** The writer of a server. */
  readonly served?: FileWriter | undefined
}

/** The registry in the file of the credentials, because a merge locks that of the records. */
export function openSqliteImports(
  path: string,
  { clock, background, log, served }: ImportsDeps,
): ImportRegistry {
  const db = openMigrated(path, 'credentials')
  const writer = served ?? openWriterHere(path, { clock, setup: credentialsSetup })
  db.function('clock_microseconds', clock)
  db.function('import_lock_is_held', (number) => (isHeld(path, Number(number)) ? 1 : 0))
  const { rows } = openReads(db)
  const registry = openImports({
    dialect,
    background,
    log,
    lock: openLock(path),
    rows: (statement) => retryWhileLocked(() => rows(statement)),
    write: (statement) => writer.transact((session) => session.rows(statement)),
  })
  const close = async () => {
    await registry.close()
    if (served === undefined) await writer.close()
    db.close()
  }
  return { ...registry, close }
}

const lockFile = (path: string, number: number): string => lockBeside(path, `import-${number}.lock`)

/**
 * A file that is not locked is left of a process that was killed. Of one that cannot be opened, as
 * that of another user, this process cannot tell.
 */
function isHeld(path: string, number: number): boolean {
  const file = lockFile(path, number)
  if (attempt(() => isLocked(file)) ?? true) return true
  attempt(() => rmSync(file, { force: true }))
  return false
}

function openLock(path: string): ImportLock {
  let held: { readonly number: number; readonly release: () => void } | undefined
  return {
    hold: async () => {
      if (held !== undefined) return held.number
      const number = randomInt(LOCK_NUMBER_END)
      const file = lockFile(path, number)
      const end = holdLock(file)
      if (end === undefined) throw new NothingChanged(`another process has locked ${file}`)
      const release = () => {
        end()
        rmSync(file, { force: true })
      }
      held = { number, release }
      return number
    },
    release: () => {
      held?.release()
      held = undefined
    },
  }
}
