import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ConfigError, closeToOthers, commandHint, type Logger, requirePrivate } from '@bursar/base'
import type { DatabaseName } from '@bursar/records'
import { isDamaged, refuseHalfRestored, restoreMarker } from '../database.ts'
import { appliedSteps } from '../migrate.ts'

/** The two databases of a store, by path. */
export type StorePaths = { readonly records: string; readonly credentials: string }

export function storePaths(databaseUrl: string): StorePaths {
  const records = databaseUrl.replace(/^sqlite:/, '')
  return { records, credentials: besidePath(records, 'credentials.db') }
}

/** `data/bursar.db` → `data/bursar.credentials.db`: the path of a file beside the records. */
export const besidePath = (path: string, ending: string): string =>
  `${path.replace(/\.db$/, '')}.${ending}`

/** The master key file of a store. */
export const keyFileBeside = ({ records }: StorePaths): string => besidePath(records, 'master-key')

/** The folder of a store, then every file that it may have there but the master key. */
export function filesOf({ records, credentials }: StorePaths): readonly string[] {
  const folder = dirname(records)
  const start = basename(besidePath(records, ''))
  const isLock = (name: string) => name.startsWith(start) && name.endsWith('lock')
  const locks = existsSync(folder) ? readdirSync(folder).filter(isLock) : []
  return [
    folder,
    ...[records, credentials].flatMap((path) => [path, ...logsOf(path), restoreMarker(path)]),
    besidePath(records, 'backed-up'),
    ...locks.map((name) => join(folder, name)),
  ]
}

const logsOf = (path: string): readonly string[] => [`${path}-wal`, `${path}-shm`]

/** Takes the rights of other users from the files of a store. Says so, and what to renew. */
export function closeFiles(paths: StorePaths, keyFile: string, log: Logger): void {
  // Other files, which a wrong DATABASE_URL names, are none of this program's.
  if (!existsSync(paths.records) || !existsSync(paths.credentials)) return
  const closed = closeToOthers([...filesOf(paths), keyFile], log)
  if (!closed.some(({ path, bits }) => path === keyFile && (bits & 0o044) !== 0)) return
  log.warn(
    `other users could read the master key in ${keyFile}; if someone may have read it, renew it with ${commandHint('keys rotate-master')} (docs/running.md, “The master key”)`,
  )
}

/** Whether neither database is there. */
export function isVacant(paths: StorePaths): boolean {
  const present = presentFiles(paths)
  return !present.records && !present.credentials
}

/** Whether both databases are there. */
export function isWhole(paths: StorePaths): boolean {
  const present = presentFiles(paths)
  return present.records && present.credentials
}

/** Whether each database is there and has a schema. An empty file is as good as none. */
function presentFiles({ records, credentials }: StorePaths) {
  for (const path of [records, credentials]) refuseHalfRestored(path)
  return {
    records: hasSchema(records, 'records'),
    credentials: hasSchema(credentials, 'credentials'),
  }
}

/**
 * Throws a ConfigError unless both databases are there. An unmounted volume or a lost file must not
 * be served as an empty store. A marker in the folder would disappear with the volume.
 */
export function requireFiles(paths: StorePaths): void {
  const present = presentFiles(paths)
  if (present.records && present.credentials) return
  throw new ConfigError(sentenceFor(paths, present))
}

function sentenceFor(
  { records, credentials }: StorePaths,
  present: ReturnType<typeof presentFiles>,
): string {
  if (!present.records && !present.credentials) {
    return `there is no store at ${records}; check DATABASE_URL and that its volume is mounted, or make a new store with \`bursar migrate\` or \`serve --create\``
  }
  const advice =
    'Mount its volume or restore a backup. `bursar migrate --create` makes an empty one in its place.'
  return present.records
    ? `${credentials} is missing or empty, but ${records} exists. It holds the clients, keys and guaranteed fees. ${advice}`
    : `${records} is missing or empty, but ${credentials} exists. It holds the records of all customers. ${advice}`
}

function hasSchema(path: string, step: DatabaseName): boolean {
  // Closing the database below may remove its log.
  for (const file of [path, ...logsOf(path)]) requirePrivate(file)
  try {
    // After a crash, the first to open the file locks it until it has read the whole log.
    return appliedSteps(path).includes(step)
  } catch (error) {
    // The database exists. The next connection to it reports the damage.
    if (isDamaged(error)) return true
    throw error
  }
}
