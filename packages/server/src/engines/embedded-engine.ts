import { openVault } from '@bursar/base'
import { keySources, type StoreDeps, type Stores, StoreUnavailable } from '@bursar/records'
import {
  appliedSteps,
  closeFiles,
  compactFile,
  type EmbeddedMode,
  embeddedChecks,
  isServed,
  isVacant,
  isWhole,
  keyFileBeside,
  openEmbeddedStores,
  openSqliteAuditReader,
  requireFiles,
  storePaths,
} from '@bursar/sqlite'
import type { Migration, StoreEngine } from './store-engine.ts'
import { withKeyring } from './with-keyring.ts'

/**
 * The embedded store: two databases in files, whose schema is brought up to date by every command
 * that opens them. A server knows one schema and writes its files alone.
 */
export function embeddedEngine(sources: StoreDeps): StoreEngine {
  const paths = storePaths(sources.config.databaseUrl)
  const files = [paths.records, paths.credentials]
  const keyFile = sources.keyFile ?? keyFileBeside(paths)
  const close = () => closeFiles(paths, keyFile, sources.log)
  const open = (mode: EmbeddedMode) => {
    close()
    return withKeyring(sources, (sealed) => openEmbeddedStores(sealed, mode), keyFile)
  }
  const opened = () => open('opened')
  const withStores = async <T>(mode: EmbeddedMode, work: (stores: Stores) => Promise<T>) => {
    const stores = await open(mode)
    try {
      return await work(stores)
    } finally {
      await stores.close()
    }
  }
  /** Opens each part, which creates and migrates it. */
  const openAll = () =>
    withStores('created', async ({ records, credentials, quotes }) => {
      for (const part of [records, credentials, quotes]) part()
    })
  const requireUnserved = (reason: string) => {
    if (!isServed(paths)) return
    const used = `a server uses the store at ${paths.records}`
    throw new StoreUnavailable(`${used}${reason} Nothing was changed.`)
  }
  return {
    openService: (as) => open(as === 'server' ? 'served' : 'opened'),
    openOperator: opened,
    openWriter: opened,
    // A path that has one of the databases stays as it is: the other is lost, and the store must
    // not be opened without it.
    create: async () => {
      close()
      if (isVacant(paths)) await openAll()
    },
    migrate: async ({ creates, refusesServed, recorded }: Migration) => {
      close()
      const mayCreate = creates === 'a whole store' ? isVacant(paths) : creates !== 'nothing'
      if (!mayCreate) requireFiles(paths)
      if (refusesServed) requireUnserved('; stop it, then migrate.')
      const stepsNow = () => files.flatMap(appliedSteps)
      const before = new Set(stepsNow())
      const work = async () => {
        await openAll()
        return stepsNow().filter((step) => !before.has(step))
      }
      if (!isWhole(paths)) return await work()
      return await withStores('opened', async (stores) => {
        const credentials = stores.credentials()
        const hasLog = (await credentials.readPurposeKeys()).length > 0
        const log = hasLog ? await stores.auditLog(await stores.keyring(credentials)) : undefined
        return await recorded(log, work)
      })
    },
    check: (checkRecords) =>
      withStores('opened', async (stores) => {
        const parts = [stores.records(), stores.credentials()]
        const faults = await Promise.all(parts.map((part) => part.integrityFaults()))
        const records = await checkRecords(stores.records().operator.rows)
        return { faults: faults.flat(), records }
      }),
    compact: async ({ isOnline }) => {
      requireFiles(paths)
      if (!isOnline) {
        requireUnserved(
          ', and could not write while the files are compacted; stop it, or give --online to let its writes wait.',
        )
      }
      const sums = { before: 0, after: 0 }
      for (const file of files) {
        const { before, after } = await compactFile(file)
        sums.before += before
        sums.after += after
      }
      return sums
    },
    checks: async () => embeddedChecks(paths),
    withAudit: (work) =>
      withStores('opened', async (stores) => {
        const reader = openSqliteAuditReader(paths.credentials)
        try {
          return await work({
            reader,
            keyring: () =>
              openVault({
                ...keySources(sources),
                store: stores.credentials(),
                keyFile,
                readsOnly: true,
              }),
            openLog: (keyring) => stores.audit(() => keyring.current('audit')),
          })
        } finally {
          reader.close()
        }
      }),
  }
}
