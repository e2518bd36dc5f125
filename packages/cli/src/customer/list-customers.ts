import { counted, printable } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import {
  type CustomerEntry,
  type CustomerPlace,
  type CustomerRegister,
  describeCustomer,
} from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { type Output, printResult } from '../output.ts'
import { withStores } from '../with-stores.ts'

type ListOptions = CommonOptions & { readonly prefix?: string }

export function listCommand(output: Output): Command {
  const command = newCommand(
    'list',
    'List the customers with their display names, and how many records each has.',
    ['customer list', 'customer list --prefix north --json'],
    'Print one JSON object with the list.',
  ).option('--prefix <text>', 'Only those whose id or a word of whose name starts with it.')
  return command.action(async (options: ListOptions) => {
    const found = await withStores(options, async (stores) => {
      const all: CustomerEntry[] = []
      const { customers } = stores.records().operator
      for await (const page of pagesOf(customers, options.prefix)) all.push(...page)
      return all
    })
    const document = { customers: found.map(describeCustomer) }
    printResult(output, options, document, found.map(lineOf))
  })
}

/** Every customer, page by page. */
export async function* pagesOf(
  { list }: Pick<CustomerRegister, 'list'>,
  prefix = '',
): AsyncIterable<readonly CustomerEntry[]> {
  let after: CustomerPlace | undefined
  do {
    const page = await list({ prefix, after, customersMax: contractLimits.customersPageMax })
    yield page.customers
    after = page.next
  } while (after !== undefined)
}

function lineOf({ id, name, kinds }: CustomerEntry): string {
  const records = kinds.values().reduce((sum, { live }) => sum + live, 0)
  const shown = name === undefined ? '' : ` (${name})`
  return `${printable(id)}${shown}: ${counted(records, 'record')}`
}
