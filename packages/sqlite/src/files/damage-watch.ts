import { type Background, type Logger, startWalk } from '@bursar/base'
import { StoreCorrupted } from '@bursar/records'
import { openFurther } from '../database.ts'
import { compareTables } from './compare-tables.ts'

export type DamageWatch = {
  /** What is damaged, as a sentence that says what to do. It stays until a restart. */
  fault(): string | undefined
  /** Notes the error of a request if it says that SQLite found damage. */
  noteFailure(error: unknown): void
  stop(): Promise<void>
}

type DamageWatchDeps = {
  /** The files that are open. */
  readonly paths: () => readonly string[]
  readonly log: Logger
  readonly background: Background
}

/**
 * Compares the tables of the files with their indexes in the background. What that finds, or SQLite
 * reports to a request, is damage at once: nothing that the store answers can be relied on.
 */
export function watchDamage({ paths, log, background }: DamageWatchDeps): DamageWatch {
  let fault: string | undefined
  const note = (path: string, { message }: StoreCorrupted) => {
    fault ??= `${path} is damaged: ${message}; stop this server, and restore a backup with \`bursar restore FILE --replace\``
  }
  async function* compareFile(path: string, rowsMax: () => number): AsyncIterable<undefined> {
    using db = openFurther(path)
    try {
      yield* compareTables(db, rowsMax)
    } catch (error) {
      if (!(error instanceof StoreCorrupted)) throw error
      note(path, error)
    }
  }
  const stop = startWalk<undefined>(background, 'check-tables', {
    parts: (rowsMax) => paths().map((path) => () => compareFile(path, rowsMax)),
    take: () => {},
    failed: (err) => log.warn({ err }, 'the tables of the store cannot be compared'),
  })
  return {
    fault: () => fault,
    noteFailure: (error) => {
      if (error instanceof StoreCorrupted) note(paths().join(' or '), error)
    },
    stop,
  }
}
