import {
  counted,
  limitsOf,
  parseInstant,
  printable,
  printableJson,
  printInstant,
  systemTime,
} from '@bursar/base'
import { contractLimits, resourceOf, uuid } from '@bursar/contract'
import {
  describeHistory,
  type History,
  type OperatorRecords,
  type PruneKey,
  type VersionPlace,
} from '@bursar/records'
import { Command } from 'commander'
import { type CommonOptions, kindArgument, newCommand, refuseUsage } from './options.ts'
import { CommandFailed, type Output, printResult } from './output.ts'
import { withAudit } from './with-stores.ts'

const limits = limitsOf({
  /** Versions that one step of pruning reads, a few milliseconds, and the pause after it. */
  pruneRows: 500,
  pruneRestMs: 100,
})

/** `history show|prune`: what records were. */
export const historyCommand = (output: Output): Command =>
  new Command('history')
    .description('Show what a record was, and prune what need not be kept.')
    .addCommand(showCommand(output))
    .addCommand(pruneCommand(output))

type Described = ReturnType<typeof describeHistory>['versions'][number]

type ShowOptions = CommonOptions & { readonly customer?: string }

function showCommand(output: Output): Command {
  const command = newCommand('show', 'Show every version of a record, oldest first.', [
    'history show fiat-accounts 8d9f5f1e-1f0b-4f43-9d0c-4a2f8a4a6c11',
    'history show statements 8d9f5f1e-1f0b-4f43-9d0c-4a2f8a4a6c11 --json',
  ])
    .addArgument(kindArgument())
    .argument('<id>', 'The id of the record.')
    .option(
      '--customer <id>',
      'Whose record it was, where another customer’s record has the id now.',
    )
  return command.action(async (kind: string, given: string, options: ShowOptions) => {
    const reading = uuid.read(given)
    if ('reason' in reading) return command.error(`The id ${reading.reason}.`, { exitCode: 2 })
    const id = reading.value
    const resource = resourceOf(kind)
    const name = { id, customerId: options.customer }
    const { keptSince, versions } = await withAudit(
      command,
      options,
      async ({ stores, audited }) => {
        const { operator } = stores.records()
        const found = await readAll((after) =>
          operator.history(resource, name, { after, versionsMax: contractLimits.pageSizeMax }),
        )
        if (found === undefined) {
          throw new CommandFailed(`there is no ${resource.noun} with the id ${id}`)
        }
        const { customerId: customer } = found
        await audited.write({ action: 'view_in_full', kind, customer, ids: [id], view: 'full' })
        return found
      },
    )
    const document = { kept_since: printInstant(keptSince), versions }
    const lines = [
      ...versions.flatMap(linesOfVersion),
      `Kept since ${document.kept_since}; earlier states are unknown.`,
    ]
    printResult(output, options, document, lines)
  })
}

type ReadPart = (after: VersionPlace | undefined) => ReturnType<OperatorRecords['history']>

type WholeHistory = Pick<History, 'customerId' | 'keptSince'> & {
  readonly versions: readonly Described[]
}

async function readAll(read: ReadPart): Promise<WholeHistory | undefined> {
  const all: Described[] = []
  let after: VersionPlace | undefined
  for (;;) {
    const part = await read(after)
    if (part === undefined) return undefined
    all.push(...describeHistory(part).versions)
    if (!part.more) return { ...part, versions: all }
    after = part.versions.at(-1)
  }
}

/** One line for the version, and one for each member that it changed. */
function linesOfVersion({ stored_at, withdrawn, origin, changed, record }: Described): string[] {
  const { command, client_id, file, user, line } = origin as Readonly<Record<string, unknown>>
  const source = [
    command ?? 'of unknown origin',
    ...[client_id, file].filter((part) => part !== undefined),
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(user === undefined ? [] : [`by ${user}`]),
  ]
  const members = changed.map((path) => {
    const value = path.split('.').reduce((at: unknown, name) => Object(at)[name], record)
    return `  ${path}: ${value === undefined ? 'absent' : printableJson(JSON.stringify(value))}`
  })
  const what = withdrawn === true ? 'withdrawn by ' : ''
  return [printable(`${stored_at}  ${what}${source.join(' ')}`, 1000), ...members]
}

type PruneOptions = CommonOptions & { readonly before: string }

function pruneCommand(output: Output): Command {
  const command = newCommand(
    'prune',
    'Delete versions that were replaced before a time. What was stored at that time stays, so every later time can still be read.',
    ['history prune --before 2025-01-01T00:00:00Z'],
  ).requiredOption('--before <instant>', 'The time, such as 2025-01-01T00:00:00Z.')
  return command.action(async (options: PruneOptions) => {
    const before = parseInstant(options.before)?.micros
    const isPast = before !== undefined && before <= systemTime.now()
    const fault = '--before must be an RFC 3339 date-time that has passed.'
    refuseUsage(command, isPast ? undefined : fault)
    if (before === undefined) return
    const deleted = await withAudit(command, options, async ({ stores, audited }) => {
      const rows = await prune(stores.records().operator, before)
      audited.note({ rows })
      return rows
    })
    const document = { before: printInstant(before), deleted }
    printResult(output, options, document, [`deleted ${counted(deleted, 'version')}`])
  })
}

/** Pauses after each step, so that requests are served between two of them. */
async function prune({ pruneHistory }: OperatorRecords, before: bigint): Promise<number> {
  let deleted = 0
  let from: PruneKey | undefined
  do {
    const step = await pruneHistory(before, from, limits.pruneRows)
    if (from === undefined || from.table === 'history') deleted += step.deleted
    from = step.next
    if (from !== undefined) await systemTime.pause(limits.pruneRestMs)
  } while (from !== undefined)
  return deleted
}
