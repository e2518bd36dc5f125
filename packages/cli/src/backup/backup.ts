import { closeSync, existsSync, fsyncSync, openSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '@bursar/base'
import type { StoreFiles } from '@bursar/records'
import { storeFiles } from '@bursar/server/stores'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, isoOf, type Output, printResult } from '../output.ts'
import { operatorConfigOf, withAudit } from '../with-stores.ts'
import { checkArchive, type Manifest, packArchive } from './archive.ts'
import { withStagingFolder } from './staging-folder.ts'

const onPostgres =
  'backup is for the embedded store; back up PostgreSQL with pg_dump as the role bursar_backup (docs/running.md)'

export function backupCommand(output: Output, clock: Clock): Command {
  return newCommand('backup', 'Back up the embedded store to one file, while it is in use.', [
    'backup bursar-2026-11-22.tar',
  ])
    .argument('<file>', 'The file to write, a tar file. With the extension .gz it is compressed.')
    .action(async (file: string, options: CommonOptions, command: Command) => {
      const config = operatorConfigOf(options)
      const files = storeFiles(config)
      if (files === undefined) throw new CommandFailed(onPostgres)
      requireFree(file)
      const manifest = await withAudit(command, options, () => packed(files, file, clock))
      files.noteBackup()
      const { size } = statSync(file)
      const document = { file, bytes: size, ...manifest }
      printResult(output, options, document, [`${file}: ${size} bytes, read back and verified`])
      output.tell('the master key is not in the backup; keep a copy of it in another place')
    })
}

function packed(files: StoreFiles, file: string, clock: Clock): Promise<Manifest> {
  return withStagingFolder(dirname(file), async (folder) => {
    const createdAt = isoOf(clock()) ?? ''
    const faults = await files.copyTo(folder)
    if (faults.length > 0) throw new CommandFailed(damaged(faults))
    const archive = join(folder, 'archive')
    const isCompressed = /\.t?gz$/.test(file)
    const { names } = files
    const written = await packArchive(archive, folder, { names, createdAt, isCompressed })
    await checkArchive(archive, written)
    place(archive, file)
    return written
  })
}

function requireFree(file: string): void {
  // A folder that is missing may be a disk that is not mounted, so it is not created.
  if (!existsSync(dirname(file))) throw new CommandFailed(`there is no folder ${dirname(file)}`)
  if (existsSync(file)) throw new CommandFailed(`${file} already exists; choose another name`)
}

/** The name appears when the whole archive is on disk, so a backup is never half. */
function place(archive: string, file: string): void {
  const descriptor = openSync(archive, 'r+')
  fsyncSync(descriptor)
  closeSync(descriptor)
  requireFree(file)
  renameSync(archive, file)
}

const damaged = (faults: readonly string[]): string =>
  `the store is damaged, so there is no backup of it; restore an earlier one:\n${faults.join('\n')}`
