import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError } from '../config.ts'
import type { Logger } from '../log.ts'

/**
 * Creates a file that only its owner may read, if it is missing. Throws a ConfigError if others may
 * read or write the one that exists, or if the path cannot be used.
 */
export function makePrivateFile(path: string): void {
  makePrivateFolder(dirname(path))
  withAdvice(path, () => {
    try {
      closeSync(openSync(path, 'wx', 0o600))
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error
    }
  })
  // Opening and closing the file here would release the locks of SQLite in this process.
  requirePrivate(path)
}

/** Throws a ConfigError if others may read or write a file. A missing file is no fault. */
export function requirePrivate(path: string): void {
  const stats = withAdvice(path, () => statSync(path, { throwIfNoEntry: false }))
  if (stats === undefined) return
  if (!stats.isFile()) throw cannotBeUsed(path, 'it is not a file')
  if (!isOpenToOthers(stats.mode)) return
  throw new ConfigError(
    `${path} holds data of the store, but other users can read or write it. Run \`chmod 600 ${path}\`.`,
  )
}

/**
 * Takes the rights of the group and of others from files that this user owns, and the right to
 * write from folders, and logs it. Each mount of a Kubernetes volume with `fsGroup` gives them. A
 * link, and a file of another owner, stay as they are. Returns the files, with the bits taken.
 */
export function closeToOthers(paths: readonly string[], log: Pick<Logger, 'warn'>) {
  const closed = paths
    .map((path) => ({ path, bits: withAdvice(path, () => takeBits(path)) }))
    .filter(({ bits }) => bits !== 0)
  if (closed.length === 0) return closed
  const files = closed.map(({ path }) => path)
  log.warn({ files }, 'other users had rights on files of the store; they have none any more')
  return closed
}

function takeBits(path: string): number {
  const seen = lstatSync(path, { throwIfNoEntry: false })
  // Closing a file releases the locks of SQLite in this process, so only an open one is touched.
  if (seen === undefined || bitsToTake(seen) === 0) return 0
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    // Another file may have taken the name since.
    const stats = fstatSync(descriptor)
    const bits = bitsToTake(stats)
    if (bits !== 0) fchmodSync(descriptor, stats.mode & 0o7777 & ~bits)
    return bits
  } finally {
    closeSync(descriptor)
  }
}

/** None of a file with a second name, which may be that of another program. */
function bitsToTake(stats: Stats): number {
  if (stats.uid !== process.getuid?.()) return 0
  if (stats.isFile() && stats.nlink === 1) return stats.mode & OF_OTHERS
  return stats.isDirectory() && !isSticky(stats.mode) ? stats.mode & WRITTEN_BY_OTHERS : 0
}

const OF_OTHERS = 0o077
const WRITTEN_BY_OTHERS = 0o022
const isSticky = (mode: number): boolean => (mode & 0o1000) !== 0

/** Windows has no such bits: Node reports 0666 for every file. */
export const isOpenToOthers = (mode: number): boolean =>
  process.platform !== 'win32' && (mode & OF_OTHERS) !== 0

/**
 * Creates the missing folders of a path, for their owner only. Node's own recursive creation never
 * ends in a file system that denies the folder's existence afterwards, such as /proc.
 */
export function makePrivateFolder(path: string): void {
  const folder = resolve(path)
  for (const missing of missingFolders(folder)) {
    withAdvice(missing, () => {
      try {
        mkdirSync(missing, { mode: 0o700 })
      } catch (error) {
        // Another process may have created it.
        if (!isCode(error, 'EEXIST') || !statSync(missing).isDirectory()) throw error
      }
    })
  }
  const { mode } = withAdvice(folder, () => statSync(folder))
  if (process.platform === 'win32' || (mode & 0o002) === 0 || isSticky(mode)) return
  throw new ConfigError(
    `Every user can replace files in ${folder}. Run \`chmod o-w ${folder}\`, or use another folder for the store.`,
  )
}

/** From the first missing folder to the path itself. */
function missingFolders(path: string): readonly string[] {
  const missing: string[] = []
  for (let at = path; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.unshift(at)
  return missing
}

/** Faults of the path are for the operator to mend. Others, such as a full disk, pass through. */
function withAdvice<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined || !ofThePath.has(code)) throw error
    throw cannotBeUsed(path, code)
  }
}

const cannotBeUsed = (path: string, reason: string) =>
  new ConfigError(
    `${path} cannot be used for the store (${reason}). Choose another path in DATABASE_URL, or correct the permissions of its folder.`,
  )

const ofThePath = new Set([
  'EACCES',
  'EEXIST',
  'EINVAL',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
  'EROFS',
])

const isCode = (error: unknown, code: string): boolean =>
  (error as NodeJS.ErrnoException).code === code
