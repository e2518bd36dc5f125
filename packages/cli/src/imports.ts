import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { counted, printable } from '@bursar/base'
import { contractLimits, importStates, recordKinds, uuid } from '@bursar/contract'
import { describeImport } from '@bursar/intake'
import type { ListedImport } from '@bursar/records'
import { type Command, Option } from 'commander'
import { type CommonOptions, newCommand, oneOf, refuseUsage } from './options.ts'
import { CommandFailed, isoOf, type Output, printResult } from './output.ts'
import { withAudit, withStores } from './with-stores.ts'

type ListOptions = CommonOptions & {
  readonly limit: string
  readonly state?: string
  readonly kind?: string
  readonly file?: string
}

/** `imports` and `imports cancel`: what runs and what ran, on every process of the store. */
export function importsCommand(output: Output): Command {
  const most = contractLimits.pageSizeMax
  const command = newCommand('imports', 'List imports that run and that ran, the newest first.', [
    'imports',
    'imports --state stored_in_part --json',
    'imports --file statements.ndjson',
  ])
    .option('--limit <number>', `How many to list, 1 to ${most}.`, '20')
    .addOption(oneOf(new Option('--state <state>', 'List those in one state.'), importStates))
    .addOption(oneOf(new Option('--kind <kind>', 'List those of one kind.'), recordKinds))
    .option('--file <file>', 'List the imports of a file by its content, whatever its name was.')
    // The options of `imports cancel` are its own only if those of `imports` end before it.
    .enablePositionalOptions()
    .addCommand(cancelCommand(output))
  return command.action(async (options: ListOptions) => {
    const limit = Number(/^\d{1,6}$/.exec(options.limit)?.[0])
    const fault = `--limit must be a whole number from 1 to ${most}.`
    refuseUsage(command, limit >= 1 && limit <= most ? undefined : fault)
    const { state, kind, file } = options
    const isFilter = state !== undefined || kind !== undefined
    refuseUsage(command, file !== undefined && isFilter ? '--file has no other filter.' : undefined)
    const part = { state, kind, ofClientsOf: undefined, after: undefined, importsMax: limit }
    const sha256 = file === undefined ? undefined : await sha256Of(file)
    const found = await withStores(options, (stores) => {
      const { imports } = stores.records()
      return sha256 === undefined ? imports.list(part) : imports.findFile(sha256, limit)
    })
    if (file !== undefined && found.length === 0) {
      throw new CommandFailed(`No import that is known was of ${printable(file, 1000)}.`)
    }
    printResult(output, options, { imports: found.map(describeImport) }, found.map(lineOf))
  })
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk)
  } catch (error) {
    throw new CommandFailed(`${printable(file, 1000)} cannot be read: ${(error as Error).message}`)
  }
  return hash.digest('hex')
}

function cancelCommand(output: Output): Command {
  const command = newCommand('cancel', 'Ask an import to end, in whichever process it runs.', [
    'imports cancel 01a2004b-4abc-726b-9ad9-09f8eb63e348',
  ])
  command.argument('<id>', 'The id of the import.')
  return command.action(async (given: string, _options: CommonOptions) => {
    // `imports --json cancel` means the same as `imports cancel --json`.
    const options = command.optsWithGlobals<CommonOptions>()
    const reading = uuid.read(given)
    if ('reason' in reading) return command.error('<id> must be a UUID.', { exitCode: 2 })
    const id = reading.value
    const found = await withAudit(command, options, async ({ stores, audited }) => {
      const cancelled = await stores.records().imports.cancel(id, undefined)
      if (cancelled.outcome === 'unknown') throw new CommandFailed(`There is no import ${id}.`)
      if (cancelled.outcome === 'ended') {
        throw new CommandFailed(`The import ${id} has ended: it is ${cancelled.found.state}.`)
      }
      audited.note({ ids: [id] })
      return cancelled.found
    })
    const told = `${id} was asked to end. It stores nothing, unless its merge has ended.`
    printResult(output, options, describeImport(found), [told])
  })
}

function lineOf(listed: ListedImport): string {
  const { id, startedAt, kind, state, reason } = listed
  return [isoOf(startedAt), id, kind, state, countsOf(listed), whoOf(listed), reason ?? '']
    .filter((cell) => cell !== '')
    .map((cell) => printable(cell ?? '', 1000))
    .join('  ')
}

function countsOf({ counts }: ListedImport): string {
  if (counts === undefined) return ''
  const { records, added, changed, unchanged, rejected, withdrawn } = counts
  const rest = [
    ...(rejected === 0 ? [] : [`${rejected} rejected`]),
    ...(withdrawn === 0 ? [] : [`${withdrawn} of other customers withdrawn`]),
  ]
  const all = [`${added} added`, `${changed} changed`, `${unchanged} unchanged`, ...rest]
  return `${counted(records, 'record')}: ${all.join(', ')}`
}

function whoOf({ importer, role, boundTo }: ListedImport): string {
  const of = boundTo === undefined ? '' : ` for ${boundTo}`
  if ('clientId' in importer) return `client ${importer.clientId}${of}`
  const { user, sudoUser, file, files } = importer
  const sudo = sudoUser === undefined ? '' : `, sudo by ${sudoUser}`
  const others = files === 1 ? '' : ` and ${counted(files - 1, 'other file')}`
  const as = role === undefined ? '' : `, role ${role}`
  return `${file}${others} by ${user}${sudo}${as}${of}`
}
