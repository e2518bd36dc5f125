import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs the work with a folder that only this user may read. Removes it also after a signal. */
export async function withStagingFolder<T>(
  parent: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  let folder: string | undefined
  const remove = () => {
    // A copy that still runs may make a file while the folder is emptied.
    const again = { maxRetries: 20, retryDelay: 10 }
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, ...again })
  }
  const onSignal = (signal: NodeJS.Signals) => {
    remove()
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of signals) process.on(signal, onSignal)
  try {
    mkdirSync(parent, { recursive: true })
    folder = mkdtempSync(join(parent, '.bursar-backup-'))
    return await work(folder)
  } finally {
    for (const signal of signals) process.off(signal, onSignal)
    remove()
  }
}
