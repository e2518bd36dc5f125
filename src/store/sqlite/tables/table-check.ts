import { Worker } from 'node:worker_threads'
import { hasFreeDescriptors, outOfDescriptors } from '../../../platform/machine/exhaustion.ts'
import type { CheckTables } from '../../integrity/damage-scan.ts'
import { StoreUnavailable } from '../../unavailable.ts'

/** What a thread opens: its event loop, and the database with its log. */
const DESCRIPTORS = 12

type TableCheck = { readonly run: CheckTables; close(): Promise<void> }

/** Compares tables with their indexes in a thread, so that no request waits for it. */
export function openTableCheck(path: string): TableCheck {
  const running = new Set<Worker>()
  return {
    run: async (tables) => {
      if (!hasFreeDescriptors(DESCRIPTORS)) throw new StoreUnavailable(outOfDescriptors)
      const worker = new Worker(new URL('./check-tables.mjs', import.meta.url), {
        execArgv: [],
        workerData: { path, tables },
      })
      running.add(worker)
      try {
        return await faultsOf(worker)
      } finally {
        running.delete(worker)
      }
    },
    close: async () => {
      await Promise.all([...running].map((worker) => worker.terminate()))
    },
  }
}

function faultsOf(worker: Worker): Promise<ReadonlyMap<string, string>> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>()
  const faults = new Map<string, string>()
  worker.on('message', ({ table, fault }: { table: string; fault: string }) => {
    faults.set(table, fault)
  })
  worker.on('error', (error) => {
    reject(new StoreUnavailable('the tables cannot be checked', { cause: error }))
  })
  worker.on('exit', (code) => {
    if (code === 0) resolve(faults)
    else reject(new StoreUnavailable('the check of the tables was ended'))
  })
  return promise
}
