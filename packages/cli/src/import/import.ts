import type { Readable } from 'node:stream'
import { systemTime } from '@bursar/base'
import { resourceOf } from '@bursar/contract'
import {
  countsOf,
  failureOfError,
  failureOfReport,
  type ImportReport,
  importFiles,
  recordRules,
} from '@bursar/intake'
import { ImportCancelled, type RunningImport } from '@bursar/records'
import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type CommonOptions,
  configOf,
  kindArgument,
  newCommand,
  oneOf,
  refuseUsage,
} from '../options.ts'
import { CommandFailed, type Output } from '../output.ts'
import { openInterruption } from '../processes/interruption.ts'
import { operatingUser } from '../processes/operating-user.ts'
import { type CreateOption, noCreateOption, withAudit } from '../with-stores.ts'
import { type Inputs, openInputs, openRejects, type Rejects } from './open-inputs.ts'
import { printReport } from './print-report.ts'
import { openProgress } from './progress.ts'

type ImportOptions = CommonOptions &
  CreateOption & {
    readonly customer?: string
    readonly dryRun?: boolean
    readonly allowOlder?: boolean
    readonly takeOver?: boolean
    readonly onError: 'refuse' | 'skip'
    readonly rejects?: string
    readonly rejectsMax?: number
    readonly delimiter?: string
    readonly null?: string
    readonly expect?: number
    readonly sha256?: string
    readonly allowEmpty?: boolean
  }

export function importCommand(output: Output, stdin: Readable): Command {
  return newCommand('import', 'Import files of records, all of them or nothing.', [
    'import fiat-accounts examples/records/fiat-accounts.ndjson --dry-run',
    'import statements - --customer northwind < statements.ndjson',
    'import fiat-accounts accounts.ndjson --expect 1200',
  ])
    .addArgument(kindArgument())
    .argument(
      '<file...>',
      'NDJSON (- is stdin), JSON array or CSV, by extension; also with .gz. A quoted pattern is every file that it matches.',
    )
    .option(
      '--customer <id>',
      'The customer of records that name none. A record of another customer is refused.',
    )
    .option('--dry-run', 'Check everything and change nothing.')
    .option('--allow-older', 'Accept records that are older than the stored ones.')
    .option(
      '--take-over',
      'Take ids, addresses and memos from the records of other customers, and withdraw those records.',
    )
    .addOption(
      oneOf(
        new Option(
          '--on-error <what>',
          'What to do with a record that has a fault: refuse everything, or skip the record and write it to a file of rejected records.',
        ).default('refuse'),
        ['refuse', 'skip'],
      ),
    )
    .option('--rejects <folder>', 'The folder of that file (default: that of the input).')
    .option('--rejects-max <number>', 'Store nothing if more records are rejected.', readCount)
    .option(
      '--delimiter <character>',
      'What separates the cells of CSV; tab is one.',
      readDelimiter,
    )
    .option('--null <text>', 'The cell of CSV that means null, or an absent member.')
    .option('--expect <number>', 'Refuse another number of records.', readCount)
    .option(
      '--sha256 <hex>',
      'Refuse a file with another checksum, which sha256sum prints.',
      readHash,
    )
    .option('--allow-empty', 'Accept a file without a record.')
    .option(...noCreateOption)
    .action(async (kind: string, files: string[], options: ImportOptions, command: Command) => {
      refuseUsage(command, usageFault(files, options))
      await runImport(kind, files, options, { command, output, stdin })
    })
}

function usageFault(files: readonly string[], options: ImportOptions): string | undefined {
  if (files.filter((file) => file === '-').length > 1) return 'Standard input can be read once.'
  if (options.sha256 !== undefined && files.length > 1) return '--sha256 is of one file.'
  if (options.onError !== 'skip') {
    if (options.rejects !== undefined) return '--rejects needs --on-error skip.'
    if (options.rejectsMax !== undefined) return '--rejects-max needs --on-error skip.'
  }
  return undefined
}

type Deps = { readonly command: Command; readonly output: Output; readonly stdin: Readable }

async function runImport(
  kind: string,
  patterns: readonly string[],
  options: ImportOptions,
  { command, output, stdin }: Deps,
): Promise<void> {
  const resource = resourceOf(kind)
  const startedAt = systemTime.elapsedMs()
  const inputs = await openInputs(patterns, resource.record, {
    stdin,
    silenceSecondsMax: configOf(options).importSilenceSecondsMax,
    delimiter: options.delimiter,
    nullText: options.null,
  })
  const rejects = options.onError === 'skip' ? openRejects(inputs, options.rejects) : undefined
  const report = await importInputs(resource, inputs, rejects, options, { command, output }).catch(
    (error: unknown) => {
      rejects?.discard()
      throw error
    },
  )
  const seconds = Math.floor((systemTime.elapsedMs() - startedAt) / 10) / 100
  const isRefused = report.faultCount > 0
  // A file that cannot be read refuses everything, so its rejected records are not all.
  const areAll = !isRefused || report.rejected > 0
  if (!areAll) rejects?.discard()
  const written = areAll ? rejects?.end(!isRefused && options.dryRun !== true) : undefined
  const { paths } = inputs
  printReport(output, report, { ...options, paths, seconds, rejects: written })
}

async function importInputs(
  resource: ReturnType<typeof resourceOf>,
  inputs: Inputs,
  rejects: Rejects | undefined,
  options: ImportOptions,
  { command, output }: Omit<Deps, 'stdin'>,
): Promise<ImportReport> {
  const interruption = openInterruption(output)
  const creates = options.create === true && options.dryRun !== true
  return withAudit(command, { ...options, create: creates }, async (opened) => {
    const { stores, config, audited } = opened
    const progress = openProgress(inputs, output)
    const user = operatingUser()
    const isDryRun = options.dryRun === true
    let running: RunningImport | undefined
    interruption.beforeExit(
      () => {
        progress.stop()
        rejects?.discard()
      },
      (signal) => {
        const reason = `stopped by ${signal}; nothing was changed`
        const written = running?.fail({ state: 'cancelled', reason })
        return Promise.allSettled([written, audited.cancelled()]).then(() => {})
      },
    )
    /** Of the files that were read to their end. */
    const digestsOf = ({ files }: Pick<ImportReport, 'files'>) =>
      files.flatMap(({ sha256 }) => (sha256 === undefined ? [] : (running?.digestOf(sha256) ?? [])))
    const isCompressed = inputs.paths.some((path) => path.endsWith('.gz'))
    try {
      if (!isDryRun) {
        progress.enter('store_lock')
        running = await stores.records().imports.begin({
          kind: resource.kind,
          importer: { ...user, file: inputs.files[0]?.name ?? '-', files: inputs.files.length },
          boundTo: options.customer,
        })
        progress.enter('checking')
        running.signal.addEventListener('abort', () => {
          for (const { stop } of inputs.files) stop()
        })
      }
      const begun = running
      const files = inputs.files.map(({ entries, blankRows, name, sha256 }) => {
        return { entries, blankRows, origin: { ...user, file: name, sha256 } }
      })
      const report = await importFiles(stores.records(), resource, files, {
        customerId: options.customer,
        dryRun: isDryRun,
        allowOlder: options.allowOlder === true,
        takeOver: options.takeOver === true,
        expected: {
          records: options.expect,
          sha256: options.sha256,
          mayBeEmpty: options.allowEmpty === true,
          rejectedMax: options.rejectsMax,
        },
        rules: recordRules(config),
        fileBytes: isCompressed ? undefined : inputs.bytesTotal,
        onStep: progress.enter,
        onProgress: progress.update,
        onMerge: isDryRun ? undefined : interruption.changesBegin,
        reject: rejects?.add,
        signal: running?.signal,
        row:
          begun &&
          ((done) => ({
            id: begun.row.id,
            counts: countsOf(done),
            digests: digestsOf(done),
            answer: undefined,
          })),
      })
      const refused = report.faultCount > 0
      // The report tells more, and a row that cannot be written now is lost, which is true too.
      if (refused) await running?.fail(failureOfReport(report), digestsOf(report)).catch(() => {})
      running?.end()
      audited.note({
        kind: resource.kind,
        ids: running === undefined ? [] : [running.row.id],
        refused,
        ...(!refused && { counts: countsOf(report) }),
      })
      return report
    } catch (error) {
      const row = await running?.fail(failureOfError(error)).catch(() => undefined)
      if (row?.counts !== undefined) {
        throw new CommandFailed(`the import ${row.id} is ${row.state}, but its report was lost`)
      }
      throw error instanceof ImportCancelled ? new CommandFailed(error.message) : error
    } finally {
      progress.stop()
    }
  }).finally(interruption.close)
}

function readDelimiter(text: string): string {
  if (text === 'tab') return '\t'
  if (/^[\x20-\x7e\t]$/.test(text) && !/["#\w]/.test(text)) return text
  throw new InvalidArgumentError('It must be one character such as ; or |, or the word tab.')
}

function readCount(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

function readHash(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase()
  throw new InvalidArgumentError('It must be 64 hexadecimal digits.')
}
