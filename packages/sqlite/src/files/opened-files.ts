import { statSync } from 'node:fs'
import { StoreUnavailable } from '@bursar/records'

/** The database files that this process has open, and what their paths lead to now. */
export type OpenedFiles = {
  /** Notes a file after a connection has opened it. The connection stays open. */
  note(path: string): void
  paths(): readonly string[]
  /** Which path leads elsewhere now, as a sentence. Undefined if none does. */
  fault(): string | undefined
  /** Throws a StoreUnavailable if there is a fault, at the end of a command. */
  confirm(): void
}

/**
 * A path that was deleted, replaced or unmounted leaves this process with a file that nobody else
 * sees. Device and inode tell, as SQLite compares them itself. They do not change while the file is
 * open. Opening the file to look would release SQLite's locks.
 */
export function openedFiles(): OpenedFiles {
  const noted = new Map<string, string>()
  const logs = new Map<string, string>()
  const fault = (): string | undefined => {
    for (const [path, identity] of noted) {
      const found = faultOf(path, identity) ?? logFault(logs, path)
      if (found !== undefined) return found
    }
    return undefined
  }
  return {
    note: (path) => {
      const identity = identityOf(path)
      if (identity !== undefined && !noted.has(path)) noted.set(path, identity)
    },
    paths: () => [...noted.keys()],
    fault,
    confirm: () => {
      const found = fault()
      if (found === undefined) return
      throw new StoreUnavailable(`${found}. What this command changed is lost; run it again.`)
    },
  }
}

/** SQLite creates the log and its index after the database, and keeps them while it is open. */
function logFault(logs: Map<string, string>, path: string): string | undefined {
  for (const log of [`${path}-wal`, `${path}-shm`]) {
    const known = logs.get(log)
    if (known !== undefined) {
      const fault = faultOf(log, known)
      if (fault !== undefined) return fault
      continue
    }
    const identity = identityOf(log)
    if (identity !== undefined) logs.set(log, identity)
  }
  return undefined
}

function faultOf(path: string, identity: string): string | undefined {
  const now = identityOf(path)
  if (now === identity) return undefined
  return now === undefined
    ? `${path} is missing, but this process has it open`
    : `${path} was replaced by another file, but this process has the old one open`
}

/** Undefined if the path leads nowhere, or cannot be followed. */
function identityOf(path: string): string | undefined {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stats && `${stats.dev}:${stats.ino}`
  } catch {
    return undefined
  }
}
