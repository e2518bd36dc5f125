import { Argument, Command } from 'commander'
import { type ImportReport, importEntries } from '../intake/import-file.ts'
import { UnreadableFile } from '../intake/lines.ts'
import { openRecordFile } from '../intake/read.ts'
import { recordRules } from '../intake/record-rules.ts'
import { systemClock } from '../platform/clock.ts'
import { recordKinds, resources } from '../resources/catalogue.ts'
import { openCommandStores } from './command-stores.ts'
import { type CommonOptions, configOf, withCommonOptions } from './options.ts'
import { CommandFailed, type Output } from './output.ts'
import { openProgress } from './progress.ts'

type ImportFlags = CommonOptions & {
  readonly customer?: string
  readonly dryRun?: boolean
  readonly allowOlder?: boolean
}

export function importCommand(output: Output): Command {
  return withCommonOptions(new Command('import'))
    .description('takes records in: one file, all of it or nothing')
    .addArgument(new Argument('<kind>', 'what the records are').choices(recordKinds))
    .argument('<file>', 'NDJSON (- is stdin), JSON array or CSV by its ending; .gz on any')
    .option(
      '--customer <id>',
      'the customer of records that name none; one that names another is refused',
    )
    .option('--dry-run', 'check everything, change nothing')
    .option('--allow-older', 'take records that are older than what is stored')
    .action(async (kind: string, file: string, flags: ImportFlags) => {
      const report = await importFile(kind, file, flags)
      tell(output, file === '-' ? 'stdin' : file, report, flags)
    })
}

async function importFile(kind: string, path: string, flags: ImportFlags): Promise<ImportReport> {
  const resource = resources.find((candidate) => candidate.kind === kind)
  if (resource === undefined) throw new CommandFailed(`there is no kind ${kind}`)
  const config = configOf(flags)
  const file = await openRecordFile(path, resource.record).catch((error: unknown) => {
    throw error instanceof UnreadableFile ? new CommandFailed(error.message) : error
  })
  const stores = await openCommandStores(flags)
  const progress = openProgress(file, systemClock)
  try {
    return await importEntries(stores.records(), resource, file.entries, {
      customerId: flags.customer,
      dryRun: flags.dryRun === true,
      allowOlder: flags.allowOlder === true,
      rules: recordRules(config),
      onProgress: progress.update,
    })
  } finally {
    progress.stop()
    await stores.close()
  }
}

function tell(output: Output, name: string, report: ImportReport, flags: ImportFlags): void {
  const { faults, faultCount, ...counts } = report
  for (const { line, member, reason } of faults) {
    output.tell(line === 0 ? `${name}: ${reason}` : `${name}:${line}: ${member}: ${reason}`)
  }
  if (faultCount > faults.length) output.tell(`and ${faultCount - faults.length} more`)
  if (flags.json) {
    const document = { ...counts, dry_run: flags.dryRun === true, fault_count: faultCount, faults }
    output.print(JSON.stringify(document))
  }
  if (faultCount > 0) {
    throw new CommandFailed(
      `${name}: ${faultCount} ${faultCount === 1 ? 'fault' : 'faults'}; nothing was changed`,
    )
  }
  if (flags.json) return
  const { records, added, changed, unchanged } = counts
  output.print(
    `${records} ${records === 1 ? 'record' : 'records'}: ${added} added, ${changed} changed, ${unchanged} unchanged${flags.dryRun ? ' (dry run: nothing was changed)' : ''}`,
  )
}
