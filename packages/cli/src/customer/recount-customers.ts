import { counted, printable } from '@bursar/base'
import type { CustomerRegister, WrongCount } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
import { withAudit } from '../with-stores.ts'
import { pagesOf } from './list-customers.ts'

export function recountCommand(output: Output): Command {
  const command = newCommand(
    'recount',
    'Count the records of a customer, or of every one, and correct the counts that the store keeps. One at a time.',
    ['customer recount', 'customer recount northwind'],
  ).argument('[customer]', 'The id of the customer; every one where it is absent.')
  return command.action(async (customerId: string | undefined, options: CommonOptions) => {
    const corrected = await withAudit(command, options, async ({ stores, audited }) => {
      const { customers } = stores.records().operator
      if (customerId === undefined) return await recountAll(customers)
      audited.note({ customers: [customerId] })
      if ((await customers.find(customerId)) === undefined) {
        throw new CommandFailed(`there is no customer ${printable(customerId)}`)
      }
      return await customers.recount(customerId)
    })
    const document = {
      corrected: corrected.map(({ customerId: customer_id, kind, kept, counted: records }) => {
        return { customer_id, kind, kept, records }
      }),
    }
    printResult(output, options, document, [
      ...corrected.map(lineOf),
      `${counted(corrected.length, 'count')} corrected.`,
    ])
  })
}

async function recountAll(customers: CustomerRegister): Promise<readonly WrongCount[]> {
  const corrected: WrongCount[] = []
  for await (const page of pagesOf(customers)) {
    for (const { id } of page) corrected.push(...(await customers.recount(id)))
  }
  return corrected
}

const lineOf = ({ customerId, kind, kept, counted: records }: WrongCount): string =>
  `${printable(customerId)} has ${records} ${kind}, where ${kept} were kept.`
