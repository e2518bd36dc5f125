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

type Listed = {
  readonly entry: CustomerEntry
  /** By kind, what was deleted or withdrawn. */
  readonly deleted: Readonly<Record<string, number>>
}

export function listCommand(output: Output): Command {
  const command = newCommand(
    'list',
    'List the customers with their display names, and how many records each has: those that /v2 shows, and apart those that were deleted or withdrawn.',
    ['customer list', 'customer list --prefix north --json'],
    'Print one JSON object with the list.',
  ).option('--prefix <text>', 'Only those whose id or a word of whose name starts with it.')
  return command.action(async (options: ListOptions) => {
    const found = await withStores(options, async (stores) => {
      const all: Listed[] = []
      const { customers } = stores.records().operator
      for await (const page of pagesOf(customers, options.prefix)) {
        const deleted = await customers.countDeleted(page.map(({ id }) => id))
        const byCustomer = Map.groupBy(deleted, ({ customerId }) => customerId)
        for (const entry of page) {
          const counts = (byCustomer.get(entry.id) ?? []).map((one) => [one.kind, one.counted])
          all.push({ entry, deleted: Object.fromEntries(counts) })
        }
      }
      return all
    })
    const customers = found.map(({ entry, deleted }) => ({
      ...describeCustomer(entry),
      deleted_counts: deleted,
    }))
    printResult(output, options, { customers }, found.map(lineOf))
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

function lineOf({ entry: { id, name, kinds }, deleted }: Listed): string {
  const records = kinds.values().reduce((sum, { live }) => sum + live, 0)
  const gone = Object.values(deleted).reduce((sum, count) => sum + count, 0)
  const apart = gone === 0 ? '' : `, and ${gone} deleted or withdrawn`
  const shown = name === undefined ? '' : ` (${name})`
  return `${printable(id)}${shown}: ${counted(records, 'record')}${apart}`
}
