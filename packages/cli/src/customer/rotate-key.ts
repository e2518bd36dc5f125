import { commandHint, counted, printable } from '@bursar/base'
import type { Command } from 'commander'
import { resealCustomer } from '../keys/reseal.ts'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
import { withAudit } from '../with-stores.ts'

export function rotateKeyCommand(output: Output): Command {
  const command = newCommand(
    'rotate-key',
    'Give a customer a new key, seal its stored records with it, and remove the old key. If it is cut off, `keys reseal` goes on.',
    ['customer rotate-key northwind'],
  ).argument('<customer>', 'The id of the customer.')
  return command.action(async (customerId: string, options: CommonOptions) => {
    const resealed = await withAudit(command, options, async ({ stores, audited }) => {
      audited.note({ customers: [customerId] })
      const { resealing } = stores.records().operator
      if (await resealing.rotate(customerId)) {
        return await resealCustomer(resealing, output.tell, customerId)
      }
      throw new CommandFailed(
        `${printable(customerId)} has no key that opens: no fiat account of it was ever stored, or its key was lost (${commandHint('customer new-key')})`,
      )
    })
    const document = { customer_id: customerId, ...resealed }
    printResult(output, options, document, [
      `${printable(customerId)} has a new key, and ${counted(resealed.records, 'record')} of it are sealed with it.`,
      ...(resealed.unopened > 0
        ? [`${resealed.unopened} could not be read; stderr names them.`]
        : []),
    ])
  })
}

type NewKeyOptions = CommonOptions & { readonly yes?: boolean }

/** For a customer whose key was lost: what it had sealed stays sealed for ever. */
export function newKeyCommand(output: Output): Command {
  const command = newCommand(
    'new-key',
    'Start a new key for a customer whose key was lost. Its full records stay unreadable until they are imported again.',
    ['customer new-key northwind --yes'],
  )
    .argument('<customer>', 'The id of the customer.')
    .option('--yes', 'Start it. Without this, the command says what stays unreadable.')
  return command.action(async (customerId: string, options: NewKeyOptions) => {
    await withAudit(command, options, async ({ stores, audited }) => {
      audited.note({ customers: [customerId] })
      const { resealing } = stores.records().operator
      const lost = await resealing.countLost(customerId)
      if (lost === undefined) {
        throw new CommandFailed(
          `${printable(customerId)} has a key that opens, or never had one; nothing is lost`,
        )
      }
      if (options.yes !== true) {
        throw new CommandFailed(
          `${counted(lost, 'full record')} of ${printable(customerId)} stay unreadable until they are imported again; --yes starts a new key`,
        )
      }
      await resealing.startAnew(customerId)
    })
    printResult(output, options, { customer_id: customerId }, [
      `${printable(customerId)} has a new key. Import its fiat accounts and deposit instructions again.`,
    ])
  })
}
