import { isPrintable, limitsOf, parseInstant, printInstant } from '@bursar/base'
import { auditActions } from '@bursar/contract'
import type { AuditReader } from '@bursar/records'
import { type Command, Option } from 'commander'
import { type CommonOptions, newCommand, oneOf, refuseUsage } from '../options.ts'
import type { Output } from '../output.ts'
import { auditPruneCommand } from './audit-prune.ts'
import { auditVerifyCommand } from './audit-verify.ts'
import { lineText } from './line-text.ts'
import {
  type AuditFilter,
  newestLines,
  openFollowing,
  type Selected,
  selectLines,
} from './select-lines.ts'
import { withArchive } from './with-archive.ts'

const limits = limitsOf({
  /** The newest lines that `bursar audit` shows, unless it is given a number. */
  auditShownLines: 100,
  auditShownLinesMax: 10_000,
})

type ListOptions = CommonOptions & {
  readonly since?: string
  readonly until?: string
  readonly actor?: string
  readonly action?: string
  readonly customer?: string
  readonly limit?: string
  readonly follow?: boolean
}

const description =
  'Show the audit log: what commands and clients did, and who saw records in full. On PostgreSQL, use the URL of the database’s owner or of its auditor.'

/** `audit`, `audit verify` and `audit prune`. */
export function auditCommand(output: Output): Command {
  const most = limits.auditShownLinesMax
  const json = 'Print one JSON object for each line; all lines, unless --limit is given.'
  const command = newCommand(
    'audit',
    description,
    [
      'audit --since 2026-11-22T00:00:00Z --action command',
      'audit --json --follow',
      'audit --customer northwind --limit 1000',
    ],
    json,
  )
    .option('--since <time>', 'Show lines from this time on.')
    .option('--until <time>', 'Show lines before this time.')
    .option('--actor <name>', 'Show what this client, user or person has done.')
    .addOption(oneOf(new Option('--action <action>', 'Show one kind of line.'), auditActions))
    .option('--customer <id>', 'Show what was done with the records of this customer.')
    .option('--limit <number>', `Show so many of the newest lines, 1 to ${most} (default: 100).`)
    .option('--follow', 'Show new lines too, as they are stored, until it is stopped.')
    // The options of `audit verify` are its own only if those of `audit` end before it.
    .enablePositionalOptions()
    .addCommand(auditVerifyCommand(output))
    .addCommand(auditPruneCommand(output))
  return command.action(async (options: ListOptions) => {
    refuseUsage(command, faultOf(options))
    await withArchive(options, ({ reader }) => show(reader, options, output))
  })
}

function faultOf({ since, until, limit }: ListOptions): string | undefined {
  for (const [name, given] of [
    ['--since', since],
    ['--until', until],
  ] as const) {
    if (given !== undefined && parseInstant(given) === undefined) {
      return `${name} must be a time, such as 2026-11-22T12:00:00Z.`
    }
  }
  const isLegal = limit === undefined || (/^\d{1,6}$/.test(limit) && isShowable(Number(limit)))
  return isLegal
    ? undefined
    : `--limit must be a whole number from 1 to ${limits.auditShownLinesMax}.`
}

const isShowable = (count: number): boolean => count >= 1 && count <= limits.auditShownLinesMax

async function show(reader: AuditReader, options: ListOptions, output: Output): Promise<void> {
  const { actor, action, customer, limit, json } = options
  const microsOf = (given: string | undefined) => parseInstant(given ?? '')?.micros
  const filter: AuditFilter = {
    since: microsOf(options.since),
    until: microsOf(options.until),
    actor,
    action,
    customer,
  }
  const following = options.follow === true ? await openFollowing(reader, filter) : undefined
  const write = async (selected: Selected) => {
    following?.shown(selected)
    await output.write(`${json === true ? jsonOf(selected) : textOf(selected)}\n`)
  }
  if (json === true && limit === undefined) {
    for await (const selected of selectLines(reader, filter)) await write(selected)
  } else {
    const linesMax = Number(limit ?? limits.auditShownLines)
    for (const selected of await newestLines(reader, filter, linesMax)) await write(selected)
  }
  if (following === undefined) return
  const ending = new AbortController()
  const stop = () => ending.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  for await (const selected of following.lines(ending.signal)) await write(selected)
}

/** A body that the program has not written is shown as it is. */
const textOf = ({ line, entry }: Selected): string =>
  entry === undefined
    ? `${timeOf(line.at)}  not an entry of this program: line ${line.sequence} of chain ${line.chain}; run audit verify`
    : lineText(line, entry)

/** No calendar has every number of microseconds that a column may hold. */
const timeOf = (at: bigint): string => (isPrintable(at) ? printInstant(at) : `at ${at} µs`)

function jsonOf({ line, entry }: Selected): string {
  const { at, keyId: key_id, digest } = line
  const chain = { chain: line.chain, sequence: Number(line.sequence) }
  const id = `${line.chain}:${line.sequence}`
  return JSON.stringify(
    entry === undefined
      ? { id, not_an_entry: true, at: Number(at), ...chain }
      : { id, time: printInstant(at), ...entry, ...chain, key_id, digest },
  )
}
