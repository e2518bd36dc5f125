import type { DatabaseSync } from 'node:sqlite'
import { limitsOf, systemTime } from '@bursar/base'

const limits = limitsOf({
  /** How long the reads of one turn of the event loop take before the first answers are sent. */
  readsTogetherMs: 5,
})

/** Runs a read with the others of the same turn of the event loop. Rejects with what it throws. */
export type ReadInTurn = <T>(read: () => T) => Promise<T>

type Waiting = { readonly run: () => void; readonly reject: (error: unknown) => void }

/**
 * Runs the reads that were requested in one turn of the event loop one after the other, in one
 * transaction. The transaction takes the lock once. Above all, the processor's caches then keep the
 * code of SQLite for all of the reads. If reads and answers took turns, each would evict the code
 * of the other (docs/decisions/0004-embedded-store.md). Answers are sent after a few milliseconds
 * of reads, so that the first ones do not wait for all.
 */
export function openReadInTurn(db: DatabaseSync): ReadInTurn {
  const waiting: Waiting[] = []
  const readSome = () => {
    const until = systemTime.elapsedMs() + limits.readsTogetherMs
    try {
      db.exec('begin')
      // An error of the disk may end the transaction. A page takes several statements of one.
      do waiting.shift()?.run()
      while (waiting.length > 0 && db.isTransaction && systemTime.elapsedMs() < until)
      if (db.isTransaction) db.exec('commit')
    } catch (error) {
      for (const { reject } of waiting.splice(0)) reject(error)
    }
    if (waiting.length > 0) setImmediate(readSome)
  }
  return (read) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof read>>()
    const run = () => {
      try {
        resolve(read())
      } catch (error) {
        reject(error)
      }
    }
    if (waiting.push({ run, reject }) === 1) setImmediate(readSome)
    return promise
  }
}
