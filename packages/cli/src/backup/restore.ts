import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type Clock,
  type Config,
  ConfigError,
  commandHint,
  counted,
  type Keyring,
  makePrivateFolder,
  openLog,
  parseInstant,
} from '@bursar/base'
import { resources } from '@bursar/contract'
import { checkStored, listFaults, type StoredReport } from '@bursar/intake'
import type { StoreFiles } from '@bursar/records'
import { type StoreDeps, type Stores, storeFiles } from '@bursar/server/stores'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
import { auditing } from '../processes/command-audit.ts'
import { operatorConfigOf, withOpened } from '../with-stores.ts'
import { type Manifest, unpackArchive } from './archive.ts'
import { start } from './reconcile.ts'
import { withStagingFolder } from './staging-folder.ts'

type RestoreOptions = CommonOptions & {
  readonly replace?: boolean
  readonly acceptDamagedRecords?: boolean
}

const onPostgres =
  'restore is for the embedded store; restore PostgreSQL with pg_restore, then run reconcile --restored-to (docs/running.md)'

export function restoreCommand(output: Output, clock: Clock): Command {
  return newCommand('restore', 'Restore the embedded store from a file that backup wrote.', [
    'restore bursar-2026-11-22.tar --database sqlite:restored/bursar.db',
  ])
    .argument('<file>', 'The backup.')
    .option('--replace', 'Replace the store that exists. Stop its server first.')
    .option(
      '--accept-damaged-records',
      'Restore a backup that holds damaged records, and name them. Import them again afterwards.',
    )
    .action(async (file: string, options: RestoreOptions, command: Command) => {
      const config = operatorConfigOf(options)
      const files = storeFiles(config)
      if (files === undefined) throw new CommandFailed(onPostgres)
      if (!existsSync(file)) throw new CommandFailed(`there is no file ${file}`)
      if (files.exist() && options.replace !== true) {
        throw new CommandFailed(`there is a store at ${files.path}; --replace replaces it`)
      }
      makePrivateFolder(dirname(files.path))
      let carried: Carried = { auditLines: 0, erasures: 0 }
      const { manifest, damaged } = await withStagingFolder(dirname(files.path), async (folder) => {
        const unpacked = await unpackArchive(file, folder, files.names)
        const [name = ''] = files.names
        const staged = { config: at(config, join(folder, name)), clock, keyFile: files.keyFile }
        const records = await prepareStore(staged, command, unpacked)
        if (records.faultCount > 0 && options.acceptDamagedRecords !== true) {
          throw new CommandFailed(
            `the backup is damaged, so nothing was restored; restore another one, or give --accept-damaged-records and import these records again:\n${listFaults(records)}`,
          )
        }
        carried = carry(files, folder, output)
        if (files.replaceFrom(folder)) return { manifest: unpacked, damaged: records }
        throw new CommandFailed(
          `another process uses the store at ${files.path}; stop it and restore again. Nothing was changed.`,
        )
      })
      const { created_at } = manifest
      const document = {
        store: files.path,
        bursar: manifest.bursar,
        created_at,
        in_recovery: true,
        records_checked: damaged.records,
        sealed_records_opened: damaged.hasOpened,
        damaged_record_count: damaged.faultCount,
        damaged_records: damaged.faults,
        audit_lines_kept: carried.auditLines,
        erasures_kept: carried.erasures,
      }
      printResult(output, options, document, [`${files.path}: restored as it was at ${created_at}`])
      if (damaged.faultCount > 0) {
        output.tell(
          `the backup has ${counted(damaged.faultCount, 'damaged record')}, which no request gets until it is imported again:\n${listFaults(damaged)}`,
        )
      }
      output.tell(
        `every token is revoked, no client gets one, and no restored fee can be consumed, until the erasures since are repeated and the store is reconciled; run ${commandHint('reconcile')}`,
      )
      if (carried.erasures > 0) {
        output.tell(
          `the list of the replaced store is kept: ${counted(carried.erasures, 'erasure')}, which ${commandHint('customer erasures')} prints and ${commandHint('reconcile --erasures')} repeats`,
        )
      }
      const fault = await masterKeyFault(config, clock)
      if (fault !== undefined) output.tell(fault)
      if (damaged.hasOpened) return
      output.tell(
        `sealed records were not opened; once the master key is in place, run ${commandHint('migrate --check')}`,
      )
    })
}

/** `hasOpened` is false if there was no key to open sealed records with. */
type RestoredReport = StoredReport & { readonly hasOpened: boolean }

type Carried = ReturnType<StoreFiles['carryLists']>

/** A store whose file is damaged may be replaced all the same. */
function carry(files: StoreFiles, folder: string, { tell }: Pick<Output, 'tell'>): Carried {
  try {
    return files.carryLists(folder)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    tell(
      `the audit log and the erasures of the replaced store cannot be read (${reason}); use the copies that were exported`,
    )
    return { auditLines: 0, erasures: 0 }
  }
}

const at = (config: Config, path: string): Config => ({
  ...config,
  databaseUrl: `sqlite:${path}`,
  operatorDatabaseUrl: undefined,
})

/**
 * Opens the unpacked store as a server would, which also migrates it. Checks every page, and the
 * checksum of every record: SQLite's check finds no fault in a body whose bytes have changed. Then
 * starts the recovery, so that no server ever opens the store without. The audit log of the store
 * has the restore from then on. Returns the records' check.
 */
function prepareStore(
  staged: Omit<StoreDeps, 'log'>,
  command: Command,
  manifest: Manifest,
): Promise<RestoredReport> {
  const { created_at } = manifest
  return withOpened({ ...staged, log: openLog('warn') }, async (stores) => {
    stores.quotes()
    const faults = [
      ...(await stores.records().integrityFaults()),
      ...(await stores.credentials().integrityFaults()),
    ]
    if (faults.length > 0) throw new CommandFailed(`the backup is damaged:\n${faults.join('\n')}`)
    const restoredTo = parseInstant(created_at)?.micros
    if (restoredTo === undefined) throw new CommandFailed('the backup does not name its time')
    const keyring = await keyringOf(stores)
    const hasKeys = !(keyring instanceof ConfigError)
    const work = async () => {
      const report = await checkStored(resources, stores.records().operator.rows, hasKeys)
      await start(stores, restoredTo)
      return { ...report, hasOpened: hasKeys }
    }
    // Without the master key of the store, which may be put in place later, there is no log.
    const log = hasKeys ? keyring && (await stores.auditLog(keyring)) : undefined
    return log === undefined ? work() : auditing(log, command, staged.config, work)
  })
}

/** The keys that the store holds, or why they cannot be opened. Undefined if it holds none. */
async function keyringOf(stores: Stores): Promise<Keyring | ConfigError | undefined> {
  const credentials = stores.credentials()
  if ((await credentials.readPurposeKeys()).length === 0) return undefined
  return await stores.keyring(credentials).catch((error: unknown) => {
    if (error instanceof ConfigError) return error
    throw error
  })
}

/** The backup has no master key. Says so now if the one at hand does not open the store's keys. */
function masterKeyFault(config: Config, clock: Clock): Promise<string | undefined> {
  return withOpened({ config, clock, log: openLog('warn') }, async (stores) => {
    const keyring = await keyringOf(stores)
    if (!(keyring instanceof ConfigError)) return undefined
    return `${keyring.message} The restore is not in the audit log, which needs this key.`
  })
}
