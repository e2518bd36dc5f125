import { type Background, type Logger, limitsOf, type Ran, systemTime } from '@bursar/base'
import { v7 as timeOrderedUuid } from 'uuid'
import type { Dialect } from '../dialect.ts'
import { ImportCancelled, type ImportRegistry, type RunningImport } from '../imports.ts'
import { isTrue, text } from '../row.ts'
import type { Reads } from '../session.ts'
import { readCountedImports, readImport } from './import-rows.ts'
import { importStatements, type Noted } from './import-statements.ts'

const limits = limitsOf({
  /** A process looks for old imports in the registry after so many. */
  importsSweptEvery: 100,
  /** Rows of imports that one run writes, some milliseconds, and the pause if more have ended. */
  importsWrittenMax: 100,
  importsWrittenRestMs: 50,
  /** Imports that a process remembers while the store refuses to note how they ended. */
  importsUnwrittenMax: 1000,
})

/** What an adapter gives the registry of imports. */
export type ImportSessions = Reads & {
  /** Runs one statement in a transaction by itself. It does not ask whether a lock is held. */
  readonly write: Reads['rows']
  readonly dialect: Dialect
  readonly background: Background
  readonly log: Logger
  readonly lock: ImportLock
}

/**
 * The lock by which other processes see that the imports of this one run. The system, or the
 * database, releases it when this process ends, killed or not.
 */
export type ImportLock = {
  /** Resolves with its number once it is held. */
  hold(): Promise<number>
  /** No later lock has the same number. */
  release(): void
}

/** The numbers of locks are whole numbers below this one. */
export const LOCK_NUMBER_END = 2 ** 48 - 1

/** An import of this process, until its end is written. */
type Kept = { -readonly [K in keyof Noted]: Noted[K] } & {
  readonly cancelling: AbortController
  /** Whether there is a row that says that it runs. */
  isWritten: boolean
  isChanged: boolean
}

/**
 * The registry over the sessions of an engine. A row is written with what the process knows at that
 * moment, so that a write that failed is made up for by the next one.
 */
export function openImports(sessions: ImportSessions): ImportRegistry {
  const { rows, write, dialect, background, log, lock } = sessions
  const statements = importStatements(dialect)
  const kept = new Map<string, Kept>()
  let begunSinceSweep: number = limits.importsSweptEvery
  let isFailing = false
  const writeOne = async (each: Kept): Promise<void> => {
    const number = each.ended === undefined ? await lock.hold() : undefined
    // What is noted from here on is for the next write.
    const { ended } = each
    each.isChanged = false
    const [row] = await write(statements.write(each, number)).catch((error: unknown) => {
      each.isChanged = true
      throw error
    })
    each.isWritten = true
    if (ended !== undefined) kept.delete(each.id)
    else if (row !== undefined && row.cancel_requested_at !== null) cancelOwn(each)
  }
  const lookAt = async (unchanged: readonly Kept[]): Promise<void> => {
    if (unchanged.length === 0) return
    for (const row of await rows(statements.look(unchanged.map(({ id }) => id)))) {
      const own = kept.get(text(row, 'id'))
      if (own === undefined) continue
      if (isTrue(row.is_cancelled)) cancelOwn(own)
      // Another process has looked while the session of the lock was lost.
      if (isTrue(row.is_noted_lost)) own.isChanged = true
    }
  }
  const writeAll = async (): Promise<Ran> => {
    if (kept.size === 0) return {}
    try {
      const unchanged = [...kept.values()].filter(({ isChanged }) => !isChanged)
      for (const each of nextOf(kept)) await writeOne(each)
      await lookAt(unchanged)
      if (kept.values().every(({ isWritten }) => !isWritten)) lock.release()
      if (begunSinceSweep >= limits.importsSweptEvery) {
        begunSinceSweep = 0
        await write(statements.sweep)
      }
      isFailing = false
      const hasEnded = kept.values().some(({ ended }) => ended !== undefined)
      return hasEnded ? { pauseMs: limits.importsWrittenRestMs } : {}
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'the registry of imports cannot be written')
      isFailing = true
      forgetSurplus(kept)
      return { isFailed: true }
    }
  }
  const writing = background.start('report-imports', writeAll)
  const written = async () => {
    if (kept.size > 0) await writing.runSoon()
  }
  const find: ImportRegistry['find'] = async (id, ofClientsOf) => {
    await written()
    const [row] = await rows(statements.find(id, ofClientsOf))
    return row && readImport(row)
  }
  return {
    begin: (entry) => {
      const each: Kept = {
        id: timeOrderedUuid(),
        entry,
        begunAt: systemTime.elapsedMs(),
        cancelling: new AbortController(),
        state: 'reading',
        waitsFor: undefined,
        recordsRead: 0,
        isRead: false,
        ended: undefined,
        isWritten: false,
        isChanged: true,
      }
      kept.set(each.id, each)
      begunSinceSweep += 1
      // An import that is over within a second is written once, at its end.
      return runningOver(each, () => {
        if (each.isWritten) void writing.runSoon()
      })
    },
    list: async (part) => {
      await written()
      return (await rows(statements.list(part))).map(readImport)
    },
    find,
    cancel: async (id, ofClientsOf) => {
      await written()
      const [row] = await rows(statements.find(id, ofClientsOf))
      if (row === undefined) return { outcome: 'unknown' }
      const running = readImport(row)
      if (running.state === 'lost') return { outcome: 'ended', found: running }
      const [marked] = await write(statements.cancel(id))
      const own = kept.get(id)
      if (marked !== undefined && own !== undefined) cancelOwn(own)
      const found = (await find(id, ofClientsOf)) ?? running
      return { outcome: marked === undefined ? 'ended' : 'cancelling', found }
    },
    count: async () => {
      const lost = await rows(statements.lost)
      if (lost.length > 0) await write(statements.noteLost(lost))
      return (await rows(statements.count)).map(readCountedImports)
    },
    written,
    clear: async () => {
      await written()
      await write(statements.clear)
    },
    close: async () => {
      await written()
      writing.stop()
      lock.release()
    },
  }
}

/** Those that have ended come first, because they need no lock, which may be late. */
const nextOf = (kept: ReadonlyMap<string, Kept>): readonly Kept[] =>
  [true, false]
    .flatMap((hasEnded) =>
      [...kept.values()].filter(
        ({ isChanged, ended }) => isChanged && (ended !== undefined) === hasEnded,
      ),
    )
    .slice(0, limits.importsWrittenMax)

function cancelOwn({ cancelling, ended }: Kept): void {
  if (ended === undefined) cancelling.abort(new ImportCancelled())
}

/** Bounds the memory while the store refuses writes: the oldest ends are forgotten first. */
function forgetSurplus(kept: Map<string, Kept>): void {
  for (const { id, ended } of kept.values()) {
    if (kept.size <= limits.importsUnwrittenMax) return
    if (ended !== undefined) kept.delete(id)
  }
}

const runningOver = (each: Kept, changed: () => void): RunningImport => ({
  id: each.id,
  signal: each.cancelling.signal,
  progress: (recordsRead) => {
    each.recordsRead = recordsRead
    each.isChanged = true
  },
  enter: (state) => {
    each.isRead ||= state === 'checking' || state === 'merging'
    if (each.state === state) return
    each.state = state
    each.waitsFor = undefined
    each.isChanged = true
    changed()
  },
  wait: (code) => {
    each.state = 'waiting'
    each.waitsFor = code
    each.isChanged = true
    changed()
  },
  end: (outcome) => {
    each.ended ??= { at: systemTime.elapsedMs(), outcome }
    each.isChanged = true
    changed()
  },
})
