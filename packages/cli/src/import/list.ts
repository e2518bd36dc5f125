import { counted, limitsOf, printable } from '@bursar/base'
import type { JournalEntry } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, newCommand, refuseUsage } from '../options.ts'
import { isoOf, type Output, printResult } from '../output.ts'
import { withAudit } from '../with-stores.ts'

const limits = limitsOf({
  /** Imports that one list shows: more than a year of daily files of every kind. */
  importsListedMax: 10_000,
})

type ListOptions = CommonOptions & { readonly limit: string }

/** `import list`: the journal of imports. */
export function importListCommand(output: Output): Command {
  return newCommand('list', 'List the imports that the store holds, the newest first.', [
    'import list',
    'import list --json',
  ])
    .option('--limit <number>', `How many to list, 1 to ${limits.importsListedMax}.`, '100')
    .action(async (_options: ListOptions, command: Command) => {
      // `import --json list` means the same as `import list --json`.
      const options = command.optsWithGlobals<ListOptions>()
      const limit = Number(/^\d{1,6}$/.exec(options.limit)?.[0])
      const isLegal = limit >= 1 && limit <= limits.importsListedMax
      const fault = `--limit must be a whole number from 1 to ${limits.importsListedMax}.`
      refuseUsage(command, isLegal ? undefined : fault)
      // The options include those of `import`, which creates a store.
      const entries = await withAudit(command, { ...options, create: false }, ({ stores }) =>
        stores.records().operator.journal(limit),
      )
      const imports = entries.map(documentOf)
      printResult(output, options, { imports }, entries.map(lineOf))
    })
}

const documentOf = (entry: JournalEntry) => ({
  imported_at: isoOf(entry.importedAt),
  kind: entry.kind,
  file: entry.file,
  sha256: entry.sha256,
  records: entry.records,
  added: entry.added,
  changed: entry.changed,
  unchanged: entry.unchanged,
  user: entry.user,
  ...(entry.sudoUser !== undefined && { sudo_user: entry.sudoUser }),
  ...(entry.role !== undefined && { role: entry.role }),
})

function lineOf(entry: JournalEntry): string {
  const { kind, file, records, added, changed, unchanged, user, sudoUser, role } = entry
  const counts = `${counted(records, 'record')}: ${added} added, ${changed} changed, ${unchanged} unchanged`
  const who = [
    user,
    ...(sudoUser === undefined ? [] : [`sudo by ${sudoUser}`]),
    ...(role === undefined ? [] : [`role ${role}`]),
  ]
  return [isoOf(entry.importedAt), kind, file, counts, who.join(', '), entry.sha256]
    .map((cell) => printable(cell ?? '', 1000))
    .join('  ')
}
