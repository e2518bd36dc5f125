import type { DatabaseSync } from 'node:sqlite'
import { guarded } from './database.ts'
import { inTransaction } from './migrate.ts'

/** Runs a piece of work inside a transaction; resolves with its result once that is on disk. */
export type GroupCommit = <T>(work: () => T) => Promise<T>

type Waiting = { readonly run: () => void; readonly settle: (failure?: { cause: unknown }) => void }

/**
 * A commit costs one wait for the disk, however much is in it. So what is asked for in one turn of the event loop
 * shares a transaction; while the disk is waited for, the next turn's requests gather on their sockets. A piece of
 * work must not throw for its own reasons: the whole turn would be undone with it.
 */
export function openGroupCommit(db: DatabaseSync, groupSizeMax: number): GroupCommit {
  let waiting: Waiting[] = []
  const flush = () => {
    const group = waiting.slice(0, groupSizeMax)
    waiting = waiting.slice(groupSizeMax)
    if (waiting.length > 0) setImmediate(flush)
    try {
      guarded(() =>
        inTransaction(db, () => {
          for (const { run } of group) run()
        }),
      )
    } catch (cause) {
      for (const { settle } of group) settle({ cause })
      return
    }
    for (const { settle } of group) settle()
  }
  return <T>(work: () => T) =>
    new Promise<T>((resolve, reject) => {
      let result: { readonly value: T } | undefined
      waiting.push({
        run: () => {
          result = { value: work() }
        },
        settle: (failure) => {
          if (failure === undefined && result !== undefined) resolve(result.value)
          else reject(failure?.cause)
        },
      })
      if (waiting.length === 1) setImmediate(flush)
    })
}
