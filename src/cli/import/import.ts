import type { Readable } from 'node:stream'
import { Argument, type Command, InvalidArgumentError } from 'commander'
import { type ImportReport, importEntries } from '../../intake/import-file.ts'
import { UnreadableFile } from '../../intake/lines.ts'
import { openRecordFile } from '../../intake/read.ts'
import { recordRules } from '../../intake/record-rules.ts'
import { systemClock } from '../../platform/clock.ts'
import { recordKinds, resources } from '../../resources/catalogue.ts'
import { counted } from '../../values/counted.ts'
import { printable } from '../../values/printable.ts'
import { type CommonOptions, configOf, newCommand } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
import { openInterruption } from '../processes/interruption.ts'
import { operatingUser } from '../processes/operating-user.ts'
import { type CreateOption, noCreateOption, withStores } from '../with-stores.ts'
import { importListCommand } from './list.ts'
import { openProgress } from './progress.ts'

type ImportOptions = CommonOptions &
  CreateOption & {
    readonly customer?: string
    readonly dryRun?: boolean
    readonly allowOlder?: boolean
    readonly expect?: number
    readonly sha256?: string
    readonly allowEmpty?: boolean
  }

export function importCommand(output: Output, stdin: Readable): Command {
  return (
    newCommand('import', 'Import one file of records, all of it or nothing.')
      .addArgument(new Argument('<kind>', 'The kind of record.').choices(recordKinds))
      .argument('<file>', 'NDJSON (- is stdin), JSON array or CSV, by extension; also with .gz.')
      .option(
        '--customer <id>',
        'The customer of records that name none. A record of another customer is refused.',
      )
      .option('--dry-run', 'Check everything and change nothing.')
      .option('--allow-older', 'Accept records that are older than the stored ones.')
      .option('--expect <number>', 'Refuse a file with another number of records.', readCount)
      .option(
        '--sha256 <hex>',
        'Refuse a file with another checksum, which sha256sum prints.',
        readHash,
      )
      .option('--allow-empty', 'Accept a file without a record.')
      .option(...noCreateOption)
      // The options of `import list` are its own only if those of `import` end before a command.
      .enablePositionalOptions()
      .addCommand(importListCommand(output))
      .action(async (kind: string, file: string, options: ImportOptions) => {
        const report = await importFile(kind, file, options, { output, stdin })
        printReport(output, file === '-' ? 'stdin' : printable(file, 1000), report, options)
      })
  )
}

async function importFile(
  kind: string,
  path: string,
  options: ImportOptions,
  { output, stdin }: { readonly output: Output; readonly stdin: Readable },
): Promise<ImportReport> {
  const resource = resources.find((candidate) => candidate.kind === kind)
  if (resource === undefined) throw new CommandFailed(`unknown kind ${kind}`)
  const config = configOf(options)
  const source = { stdin, silenceSecondsMax: config.importSilenceSecondsMax }
  const file = await openRecordFile(path, resource.record, source).catch((error: unknown) => {
    throw error instanceof UnreadableFile ? new CommandFailed(error.message) : error
  })
  const interruption = openInterruption(output)
  const creates = options.create === true && options.dryRun !== true
  return withStores({ ...options, create: creates }, async (stores) => {
    const progress = openProgress(file, systemClock)
    interruption.beforeExit(progress.stop)
    try {
      return await importEntries(stores.records(), resource, file.entries, {
        customerId: options.customer,
        dryRun: options.dryRun === true,
        allowOlder: options.allowOlder === true,
        origin: { ...operatingUser(), file: file.name, sha256: file.sha256 },
        expected: {
          records: options.expect,
          sha256: options.sha256,
          mayBeEmpty: options.allowEmpty === true,
        },
        rules: recordRules(config),
        fileBytes: path.endsWith('.gz') ? undefined : file.bytesTotal,
        onProgress: progress.update,
        onMerge: options.dryRun === true ? undefined : interruption.changesBegin,
      })
    } finally {
      progress.stop()
    }
  }).finally(interruption.close)
}

function readCount(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

function readHash(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase()
  throw new InvalidArgumentError('It must be 64 hexadecimal digits.')
}

function printReport(
  output: Output,
  name: string,
  report: ImportReport,
  options: ImportOptions,
): void {
  const { faults, faultCount, ...counts } = report
  for (const { line, member, reason } of faults) {
    output.tell(line === 0 ? `${name}: ${reason}` : `${name}:${line}: ${member}: ${reason}`)
  }
  if (faultCount > faults.length) output.tell(`and ${faultCount - faults.length} more`)
  const { dryRun = false } = options
  const { records, added, changed, unchanged } = counts
  const note = dryRun ? ' (dry run: nothing was changed)' : ''
  const line = `${counted(records, 'record')}: ${added} added, ${changed} changed, ${unchanged} unchanged${note}`
  const document = { ...counts, dry_run: dryRun, fault_count: faultCount, faults }
  printResult(output, options, document, faultCount > 0 ? [] : [line])
  if (faultCount > 0) {
    throw new CommandFailed(`${name}: ${counted(faultCount, 'fault')}; nothing was changed`)
  }
}
