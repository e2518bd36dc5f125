import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { checkStored, listFaults, type StoredReport } from '../../intake/check-stored.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Config, ConfigError } from '../../platform/config.ts'
import { openLog } from '../../platform/log.ts'
import { makePrivateFolder } from '../../platform/machine/private-files.ts'
import { commandHint } from '../../platform/version.ts'
import { resources } from '../../resources/catalogue.ts'
import { storeFiles } from '../../stores.ts'
import { counted } from '../../values/counted.ts'
import { parseInstant } from '../../values/instant.ts'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
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
  return newCommand('restore', 'Restore the embedded store from a file that backup wrote.')
    .argument('<file>', 'The backup.')
    .option('--replace', 'Replace the store that exists. Stop its server first.')
    .option(
      '--accept-damaged-records',
      'Restore a backup that holds damaged records, and name them. Import them again afterwards.',
    )
    .action(async (file: string, options: RestoreOptions) => {
      const config = operatorConfigOf(options)
      const files = storeFiles(config)
      if (files === undefined) throw new CommandFailed(onPostgres)
      if (!existsSync(file)) throw new CommandFailed(`there is no file ${file}`)
      if (files.exist() && options.replace !== true) {
        throw new CommandFailed(`there is a store at ${files.path}; --replace replaces it`)
      }
      makePrivateFolder(dirname(files.path))
      const { manifest, damaged } = await withStagingFolder(dirname(files.path), async (folder) => {
        const unpacked = await unpackArchive(file, folder, files.names)
        const [name = ''] = files.names
        const records = await prepareStore(at(config, join(folder, name)), clock, unpacked)
        if (records.faultCount > 0 && options.acceptDamagedRecords !== true) {
          throw new CommandFailed(
            `the backup is damaged, so nothing was restored; restore another one, or give --accept-damaged-records and import these records again:\n${listFaults(records)}`,
          )
        }
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
        damaged_record_count: damaged.faultCount,
        damaged_records: damaged.faults,
      }
      printResult(output, options, document, [`${files.path}: restored as it was at ${created_at}`])
      if (damaged.faultCount > 0) {
        output.tell(
          `the backup has ${counted(damaged.faultCount, 'damaged record')}, which no request gets until it is imported again:\n${listFaults(damaged)}`,
        )
      }
      output.tell(
        `every token is revoked, no client gets one, and no restored fee can be consumed, until the store is reconciled; run ${commandHint('reconcile')}`,
      )
      const fault = await masterKeyFault(config, clock)
      if (fault !== undefined) output.tell(fault)
    })
}

const at = (config: Config, path: string): Config => ({
  ...config,
  databaseUrl: `sqlite:${path}`,
  operatorDatabaseUrl: undefined,
})

/**
 * Opens the unpacked store as a server would, which also migrates it. Checks every page, and the
 * checksum of every record: SQLite's check finds no fault in a body whose bytes have changed. Then
 * starts the recovery, so that no server ever opens the store without. Returns the records' check.
 */
function prepareStore(config: Config, clock: Clock, manifest: Manifest): Promise<StoredReport> {
  const { created_at } = manifest
  return withOpened({ config, clock, log: openLog('warn') }, async (stores) => {
    stores.quotes()
    const faults = [
      ...(await stores.records().integrityFaults()),
      ...(await stores.credentials().integrityFaults()),
    ]
    if (faults.length > 0) throw new CommandFailed(`the backup is damaged:\n${faults.join('\n')}`)
    const restoredTo = parseInstant(created_at)?.micros
    if (restoredTo === undefined) throw new CommandFailed('the backup does not name its time')
    const report = await checkStored(resources, stores.records().operator.rows)
    await start(stores, restoredTo)
    return report
  })
}

/** The backup has no master key. Says so now if the one at hand does not open the store's keys. */
function masterKeyFault(config: Config, clock: Clock): Promise<string | undefined> {
  return withOpened({ config, clock, log: openLog('warn') }, async (stores) => {
    const credentials = stores.credentials()
    if ((await credentials.readPurposeKeys()).length === 0) return undefined
    try {
      await stores.keyring(credentials)
      return undefined
    } catch (error) {
      if (error instanceof ConfigError) return error.message
      throw error
    }
  })
}
