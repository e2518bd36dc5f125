import type { Clock } from '@bursar/base'
import type { Transact } from '@bursar/records'
import { openFurther } from '../database.ts'
import { openTransactions, queueTransactions } from '../locks.ts'
import { type ConnectionThread, openConnectionThread } from './writer-thread.ts'

/** The connection by which a process writes a database file. It has one queue of transactions. */
export type FileWriter = { readonly transact: Transact; close(): Promise<void> }

type WriterOptions = {
  /** The time of a transaction. */
  readonly clock: Clock
  /** SQL that prepares the connection. */
  readonly setup?: string
}

/**
 * The writer of a server: in a thread, so that no request waits for a commit of another one. Its
 * transactions are for few rows.
 */
export function openThreadWriter(
  path: string,
  { clock, setup = '' }: WriterOptions,
): FileWriter & Pick<ConnectionThread, 'emptyLog'> {
  const { emptyLog, close, ...connection } = openConnectionThread(path, setup, clock)
  return { transact: queueTransactions(connection), emptyLog, close }
}

/** The writer of a command, which has nothing else to do meanwhile. */
export function openWriterHere(path: string, { clock, setup = '' }: WriterOptions): FileWriter {
  const db = openFurther(path)
  db.exec(setup)
  db.function('clock_microseconds', clock)
  return { transact: openTransactions(db), close: async () => db.close() }
}
