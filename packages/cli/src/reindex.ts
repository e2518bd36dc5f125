import { counted, systemTime } from '@bursar/base'
import { resources } from '@bursar/contract'
import { recordRules, reindexKind } from '@bursar/intake'
import { recordsLimits } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from './options.ts'
import { CommandFailed, type Output, printResult } from './output.ts'
import { withAudit } from './with-stores.ts'

type ReindexOptions = CommonOptions & { readonly yes?: boolean }
type Difference = { readonly what: string; readonly left?: string }

const description =
  'Compare every record with what is derived from it: masks, columns, unique claims, terms, counts. It changes nothing without --yes.'

/** How often the command says how far it is. */
const PROGRESS_MS = 5000

export function reindexCommand(output: Output): Command {
  const command = newCommand('reindex', description, ['reindex', 'reindex --yes']).option(
    '--yes',
    'Write what differs again, beside a server. It may be ended and run again.',
  )
  return command.action(async (options: ReindexOptions) => {
    const writes = options.yes === true
    const found = { records: 0, written: 0, differenceCount: 0, leftCount: 0 }
    const listed: Difference[] = []
    const note = (differences: readonly Difference[]) => {
      found.differenceCount += differences.length
      found.leftCount += differences.filter(({ left }) => left !== undefined).length
      listed.push(...differences.slice(0, recordsLimits.faultsReportedMax - listed.length))
    }
    await withAudit(command, options, async ({ stores, config }) => {
      const { operator } = stores.records()
      let saidAt = systemTime.elapsedMs()
      for (const resource of resources) {
        const deps = { operator, rules: recordRules(config), writes }
        for await (const { records, written, differences } of reindexKind(resource, deps)) {
          found.records += records
          found.written += written
          note(differences)
          if (systemTime.elapsedMs() - saidAt < PROGRESS_MS) continue
          saidAt = systemTime.elapsedMs()
          output.tell(`${counted(found.records, 'record')} compared, of ${resource.kind} last`)
        }
      }
    })
    const { records, written, differenceCount, leftCount } = found
    const document = { records, differences: listed, difference_count: differenceCount, written }
    const rest = differenceCount - listed.length
    printResult(output, options, document, [
      ...listed.map(({ what, left }) => (left === undefined ? what : `${what}; ${left}`)),
      ...(rest > 0 ? [`and ${rest} more`] : []),
      `${counted(records, 'record')} compared; ${counted(differenceCount, 'difference')}; ${writes ? `${written} written again` : 'nothing was changed'}`,
    ])
    if (writes && leftCount > 0) {
      throw new CommandFailed(`${counted(leftCount, 'difference')} must be mended by hand`)
    }
  })
}
