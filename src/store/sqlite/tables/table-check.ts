import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import {
  hasFreeDescriptors,
  isOutOfDescriptors,
  outOfDescriptors,
} from '../../../platform/machine/exhaustion.ts'
import { type RecordKind, recordKinds } from '../../../resources/catalogue.ts'
import type { KeptMarks } from '../../integrity/damage.ts'
import type { CheckTables } from '../../integrity/damage-scan.ts'
import { StoreUnavailable } from '../../unavailable.ts'
import { besidePath } from '../files/require-files.ts'

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

/**
 * One file for each kind whose tables are damaged, beside the database: damage of the database
 * cannot remove it, and every process and every later start sees it.
 */
export function openMarkFiles(path: string): KeptMarks {
  const fileOf = (kind: string) => besidePath(path, `${kind}.damaged`)
  const faultIn = (kind: RecordKind): readonly [string, string][] => {
    try {
      return [[kind, readFileSync(fileOf(kind), 'utf8').trim()]]
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      if (isOutOfDescriptors(error)) throw error
      // A mark that cannot be read is still one.
      return [[kind, 'its mark cannot be read']]
    }
  }
  return {
    all: () => new Map(recordKinds.flatMap(faultIn)),
    add: (kind, fault) => {
      writeFileSync(fileOf(kind), `${fault}\n`, { mode: 0o600, flush: true })
    },
    remove: (kind) => rmSync(fileOf(kind), { force: true }),
  }
}

export function removeMarkFiles(path: string): void {
  const marks = openMarkFiles(path)
  for (const kind of recordKinds) marks.remove(kind)
}
