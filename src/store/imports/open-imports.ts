import { v7 as timeOrderedUuid } from 'uuid'
import type { Background, Ran } from '../../background.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { systemTime } from '../../platform/time.ts'
import type { Dialect } from '../dialect.ts'
import { ImportCancelled, type ImportRegistry, type RunningImport } from '../imports.ts'
import type { Reads } from '../session.ts'
import { readCountedImports, readImport } from './import-rows.ts'
import { importStatements, type Noted } from './import-statements.ts'

/** What an adapter gives the registry of imports. Each statement is a transaction by itself. */
export type ImportSessions = Reads & {
  readonly dialect: Dialect
  readonly background: Background
  readonly log: Logger
  /**
   * Writes that an import runs while a merge keeps this process from writing it. Returns the
   * function that ends this.
   */
  readonly keepAlive?: ((id: string) => () => void) | undefined
}

/** An import of this process, until its end is written. */
type Kept = { -readonly [K in keyof Noted]: Noted[K] } & {
  readonly cancelling: AbortController
  isWritten: boolean
  endKeepAlive: () => void
}

/**
 * The registry over the sessions of an engine. A row is written with what the process knows at that
 * moment, so that a write that failed is made up for by the next one.
 */
export function openImports(sessions: ImportSessions): ImportRegistry {
  const { rows, dialect, background, log, keepAlive } = sessions
  const statements = importStatements(dialect)
  const kept = new Map<string, Kept>()
  let begunSinceSweep: number = limits.importsSweptEvery
  let isFailing = false
  const writeOne = async (each: Kept): Promise<void> => {
    // What is noted from here on is for the next write.
    const { ended } = each
    const [row] = await rows(statements.write(each))
    if (!each.isWritten && ended === undefined) {
      each.endKeepAlive = keepAlive?.(each.id) ?? each.endKeepAlive
    }
    each.isWritten = true
    if (ended !== undefined) kept.delete(each.id)
    else if (row !== undefined && row.cancel_requested_at !== null) cancelOwn(each)
  }
  const writeAll = async (): Promise<Ran> => {
    if (kept.size === 0) return {}
    try {
      for (const each of [...kept.values()].slice(0, limits.importsWrittenMax)) await writeOne(each)
      if (begunSinceSweep >= limits.importsSweptEvery) {
        begunSinceSweep = 0
        await rows(statements.sweep)
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
        endKeepAlive: () => {},
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
      const [row] = await rows(statements.cancel(id, ofClientsOf))
      if (row !== undefined) {
        const own = kept.get(id)
        if (own !== undefined) cancelOwn(own)
        return { outcome: 'cancelling', found: readImport(row) }
      }
      const found = await find(id, ofClientsOf)
      return found === undefined ? { outcome: 'unknown' } : { outcome: 'ended', found }
    },
    count: async () => (await rows(statements.count)).map(readCountedImports),
    written,
    clear: async () => {
      await written()
      await rows(statements.clear)
    },
    close: async () => {
      await written()
      writing.stop()
    },
  }
}

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
  },
  enter: (state) => {
    each.isRead ||= state === 'checking' || state === 'merging'
    if (each.state === state) return
    each.state = state
    each.waitsFor = undefined
    changed()
  },
  wait: (code) => {
    each.state = 'waiting'
    each.waitsFor = code
    changed()
  },
  end: (outcome) => {
    each.ended ??= { at: systemTime.elapsedMs(), outcome }
    each.endKeepAlive()
    changed()
  },
})
