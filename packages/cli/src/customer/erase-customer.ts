import { commandHint, counted, printable } from '@bursar/base'
import type { Erasure } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, isoOf, type Output, printResult } from '../output.ts'
import { type AuditedStores, withAudit } from '../with-stores.ts'
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
    const erasure = await withAudit(command, options, (opened) =>
      erase(opened, customerId, { output, options }),
    )
    const document = {
      customer_id: customerId,
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
): Promise<Erasure> {
  audited.note({ customers: [customerId] })
  const found = await findHoldings(stores, customerId)
  const listed = await stores.credentials().listErasures()
  const last = listed.findLast((erasure) => erasure.customerId === customerId)
  const isCutOff = last !== undefined && last.endedAt === undefined
  const isEmpty = found === undefined || Object.values(found).every((count) => count === 0)
  if (isEmpty && last !== undefined && !isCutOff) return last
  if (found === undefined && !isCutOff) {
    throw new CommandFailed(
      `there is no customer ${printable(customerId)}; nothing is stored of it`,
    )
  }
  if (options.yes !== true) {
    printResult(output, options, { customer_id: customerId, would_remove: found }, [])
    throw new CommandFailed(
      `this would remove ${listOf({ ...found })} of ${printable(customerId)}, for ever; --yes removes them`,
    )
  }
  return await eraseCustomer({ stores, keyring, isServed: true }, customerId, found)
}

const nouns: Readonly<Record<keyof Holdings, string>> = {
  records: 'record',
  versions: 'replaced version',
  fee_events: 'fee event',
  keys: 'key',
  clients: 'client',
  fees: 'guaranteed fee',
}

const listOf = (removed: Readonly<Record<string, number>>): string =>
  Object.entries(nouns)
    .map(([name, noun]) => counted(removed[name] ?? 0, noun))
    .join(', ')
