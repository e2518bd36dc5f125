import { commandHint, counted, foldText, printable } from '@bursar/base'
import type { CustomerEntry, CustomerRegister, Erasure } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, isoOf, type Output, printResult } from '../output.ts'
import { type AuditedStores, withAudit } from '../with-stores.ts'
import { pagesOf } from './list-customers.ts'
import { eraseCustomer, findHoldings, type Holdings } from './run-erasure.ts'

type EraseOptions = CommonOptions & { readonly yes?: boolean }

export function eraseCommand(output: Output): Command {
  const command = newCommand(
    'erase',
    'Remove the records, versions, events and clients of a customer, and destroy its keys. Run it again if it was cut off.',
    ['customer erase northwind', 'customer erase northwind --yes'],
  )
    .argument('<customer>', 'The id of the customer.')
    .option('--yes', 'Remove it. Without this, the command says what it would remove.')
  return command.action(async (customerId: string, options: EraseOptions) => {
    const { erasure, alike } = await withAudit(command, options, (opened) =>
      erase(opened, customerId, { output, options }),
    )
    const document = {
      customer_id: customerId,
      ...alike,
      begun_at: isoOf(erasure.begunAt),
      erased_at: isoOf(erasure.endedAt),
      removed: erasure.removed,
    }
    printResult(output, options, document, [
      `${printable(customerId)} was erased at ${document.erased_at}: ${listOf(erasure.removed)}.`,
    ])
    output.tell(
      `files and backups still have the bytes: run ${commandHint('compact')}, and delete each backup from before the erasure as docs/running.md says`,
    )
  })
}

type Asked = {
  readonly output: Output
  readonly options: EraseOptions
}

async function erase(
  { stores, keyring, audited }: AuditedStores,
  customerId: string,
  { output, options }: Asked,
): Promise<{ readonly erasure: Erasure; readonly alike: Alike }> {
  audited.note({ customers: [customerId] })
  const { customers } = stores.records().operator
  const alike = { look_alikes: await lookAlikesOf(customers, customerId) }
  for (const { customer_id: other, name } of alike.look_alikes) {
    const named = name === undefined ? '' : `, ${printable(name)},`
    output.tell(`${printable(other)}${named} looks like it, and is another customer`)
  }
  const found = await findHoldings(stores, customerId)
  const listed = await stores.credentials().listErasures()
  const last = listed.findLast((erasure) => erasure.customerId === customerId)
  const isCutOff = last !== undefined && last.endedAt === undefined
  const isEmpty = found === undefined || Object.values(found).every((count) => count === 0)
  if (isEmpty && last !== undefined && !isCutOff) return { erasure: last, alike }
  if (found === undefined && !isCutOff) {
    throw new CommandFailed(
      `there is no customer ${printable(customerId)}; nothing is stored of it`,
    )
  }
  if (options.yes !== true) {
    const preview = { customer_id: customerId, ...alike, would_remove: found }
    printResult(output, options, preview, [])
    throw new CommandFailed(
      `this would remove ${listOf({ ...found })} of ${printable(customerId)}, for ever; --yes removes them`,
    )
  }
  const erasure = await eraseCustomer(
    { stores, keyring, isServed: true, tell: output.tell },
    customerId,
    found,
  )
  return { erasure, alike }
}

type Alike = { readonly look_alikes: readonly LookAlike[] }
type LookAlike = { readonly customer_id: string; readonly name?: string }

/** Customers whose id or name differs in case, blanks, accents or composed characters alone. */
async function lookAlikesOf(
  customers: Pick<CustomerRegister, 'find' | 'list'>,
  customerId: string,
): Promise<readonly LookAlike[]> {
  const looksOf = ({ id, name = id }: Pick<CustomerEntry, 'id' | 'name'>) =>
    [id, name].map((text) => foldText(text).replaceAll(/\s+/g, ' ').trim())
  const own = new Set(
    looksOf((await customers.find(customerId)) ?? { id: customerId, name: undefined }),
  )
  const found: LookAlike[] = []
  for await (const page of pagesOf(customers)) {
    for (const { id, name } of page) {
      if (id === customerId || !looksOf({ id, name }).some((look) => own.has(look))) continue
      found.push({ customer_id: id, ...(name !== undefined && { name }) })
    }
  }
  return found
}

const nouns: Readonly<Record<keyof Holdings, string>> = {
  records: 'record',
  versions: 'replaced version',
  fee_events: 'fee event',
  keys: 'key',
  clients: 'client',
  fees: 'guaranteed fee',
}

/** What of a customer is there or was removed, in words. */
export const listOf = (removed: Readonly<Record<string, number>>): string =>
  Object.entries(nouns)
    .map(([name, noun]) => counted(removed[name] ?? 0, noun))
    .join(', ')
