import type { Background } from '../../background.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import { openImports } from '../imports/open-imports.ts'
import type { ImportRegistry } from '../imports.ts'
import { dialect } from './dialect.ts'
import { retryWhileLocked } from './locks.ts'
import { openMigrated } from './migrate.ts'
import { openReads } from './session.ts'

/** The registry in the file of the credentials, because a merge locks that of the records. */
export function openSqliteImports(
  path: string,
  clock: Clock,
  background: Background,
  log: Logger,
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
    rows: (statement) => retryWhileLocked(() => rows(statement)),
  })
  return { ...registry, close: () => registry.close().then(() => db.close()) }
}
