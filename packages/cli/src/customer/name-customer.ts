import { displayNameRule, parseDisplayName, printable } from '@bursar/base'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
import { withAudit } from '../with-stores.ts'

type NameOptions = CommonOptions & { readonly remove?: boolean }

export function nameCommand(output: Output): Command {
  const command = newCommand(
    'name',
    'Give a customer a display name, by which staff find it. It is stored in clear, and no answer of /v2 has it.',
    ['customer name northwind "Northwind Trading Ltd"', 'customer name northwind --remove'],
  )
    .argument('<customer>', 'The id of the customer.')
    .argument('[name]', 'The display name: one line of at most 100 characters.')
    .option('--remove', 'Take the name away.')
  return command.action(
    async (customerId: string, given: string | undefined, options: NameOptions) => {
      const name = nameOf(given, options)
      await withAudit(command, options, async ({ stores, audited }) => {
        audited.note({ customers: [customerId] })
        if (await stores.records().operator.customers.rename(customerId, name)) return
        throw new CommandFailed(
          `there is no customer ${printable(customerId)}: nothing is stored of it, so it gets no name`,
        )
      })
      const document = { customer_id: customerId, name: name ?? null }
      const shown = printable(customerId)
      printResult(output, options, document, [
        name === undefined ? `${shown} has no display name now.` : `${shown} is shown as ${name}.`,
      ])
    },
  )
}

/** The name to store; undefined to take it away. */
function nameOf(given: string | undefined, { remove = false }: NameOptions): string | undefined {
  if (remove && given === undefined) return undefined
  if (remove) throw new CommandFailed('name the customer alone with --remove, without a name')
  if (given === undefined) throw new CommandFailed('write the display name, or --remove')
  const parsed = parseDisplayName(given)
  if (parsed === undefined) throw new CommandFailed(displayNameRule)
  return parsed.name
}
