import { printable } from '@bursar/base'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
import { withAudit } from '../with-stores.ts'

export function rotateKeyCommand(output: Output): Command {
  const command = newCommand(
    'rotate-key',
    'Give a customer a new key. Servers seal its stored records with it in the background, and then remove the old key.',
    ['customer rotate-key northwind'],
  ).argument('<customer>', 'The id of the customer.')
  return command.action(async (customerId: string, options: CommonOptions) => {
    const left = await withAudit(command, options, async ({ stores, audited }) => {
      audited.note({ customers: [customerId] })
      const { resealing } = stores.records().operator
      if (await resealing.rotate(customerId)) return await resealing.left()
      throw new CommandFailed(
        `${printable(customerId)} has no key: no fiat account of it was ever stored, or its key does not open`,
      )
    })
    const document = {
      customer_id: customerId,
      customers_left: left.customers,
      records_left: left.bodies,
    }
    printResult(output, options, document, [
      `${printable(customerId)} has a new key. Servers bring ${left.bodies} stored records to it; doctor says how many are left.`,
    ])
  })
}
