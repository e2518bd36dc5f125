import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { hasFreeDescriptors, outOfDescriptors } from '@bursar/base'
import { StoreUnavailable } from '@bursar/records'

/** What a thread opens: its event loop, and the database with its log. */
const DESCRIPTORS = 12

/** Resolves with the first fault of a database file. Rejects if it cannot tell. */
export type FileCheck = {
  run(path: string): Promise<string | undefined>
  stop(): Promise<void>
}

/**
 * Compares the tables of a database with their indexes, over a fresh connection in a thread, so
 * that no request waits for it.
 */
export function openFileCheck(): FileCheck {
  let running: Worker | undefined
  return {
    run: async (path) => {
      if (!hasFreeDescriptors(DESCRIPTORS)) throw new StoreUnavailable(outOfDescriptors)
      running = new Worker(new URL('./check-file.mjs', import.meta.url), {
        execArgv: [],
        workerData: { path },
      })
      let found: { readonly fault: string | undefined } | undefined
      running.on('message', (fault: string | undefined) => {
        found = { fault }
      })
      await once(running, 'exit')
      if (found === undefined) throw new StoreUnavailable('the check of the tables was ended')
      return found.fault
    },
    stop: async () => void (await running?.terminate()),
  }
}
