import { rmSync } from 'node:fs'
import { type OpenedStore, openEmbedded } from './embedded.ts'
import { openPostgres } from './postgres.ts'

/** Fills a store, `postgres` or embedded, and starts a server on it. */
export const openStore = (store: string, records: number): Promise<OpenedStore> =>
  store === 'postgres' ? openPostgres(records, false) : openEmbedded(records)

/** Runs a measurement, then removes the store and ends the process. */
export async function measureAndExit(
  store: OpenedStore,
  measure: () => Promise<void>,
): Promise<never> {
  try {
    await measure()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
    process.exitCode = 1
  } finally {
    await store.stop()
    rmSync(store.world.folder, { recursive: true })
  }
  process.exit()
}
