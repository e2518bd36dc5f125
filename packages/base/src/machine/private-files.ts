import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError } from '../config.ts'

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

/** Windows has no such bits: Node reports 0666 for every file. */
export const isOpenToOthers = (mode: number): boolean =>
  process.platform !== 'win32' && (mode & 0o077) !== 0

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
  const isSticky = (mode & 0o1000) !== 0
  if (process.platform === 'win32' || (mode & 0o002) === 0 || isSticky) return
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
