import { Worker } from 'node:worker_threads'
import type { Background } from '../../background.ts'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { openImports } from '../imports/open-imports.ts'
import type { ImportRegistry } from '../imports.ts'
import { existingUrl } from './database.ts'
import { dialect } from './dialect.ts'
import { retryWhileLocked } from './locks.ts'
import { openMigrated } from './migrate.ts'
import { openReads } from './session.ts'

type ImportsDeps = {
  readonly clock: Clock
  readonly background: Background
  readonly log: Logger
  /** Whether this process merges, as the command does. A server leaves that to others. */
  readonly mergesHere: boolean
}

/** The registry in the file of the credentials, because a merge locks that of the records. */
export function openSqliteImports(
  path: string,
  { clock, background, log, mergesHere }: ImportsDeps,
): ImportRegistry {
  const db = openMigrated(path, 'credentials')
  // A row survives the end of the process. Only a power cut may lose the last ones, and a server
  // does not wait for the disk each second.
  db.exec('pragma synchronous = normal')
  db.function('clock_microseconds', clock)
  const { rows } = openReads(db)
  const registry = openImports({
    dialect,
    background,
    log,
    keepAlive: mergesHere ? (id) => reportAlive(path, id) : undefined,
    rows: (statement) => retryWhileLocked(() => rows(statement)),
  })
  return { ...registry, close: () => registry.close().then(() => db.close()) }
}

/** A thread of its own, because a statement ends within its call, however long it takes. */
function reportAlive(path: string, id: string): () => void {
  const worker = new Worker(new URL('./import/report-alive.mjs', import.meta.url), {
    workerData: { url: existingUrl(path).href, id, everyMs: limits.importReportMs },
  })
  worker.unref()
  worker.on('error', () => {})
  return () => void worker.terminate()
}
