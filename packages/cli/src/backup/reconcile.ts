import {
  type Clock,
  commandHint,
  counted,
  limitsOf,
  parseInstant,
  printable,
  printInstant,
} from '@bursar/base'
import { confirmClients, startRecovery } from '@bursar/oauth'
import type { ClientWithSecrets, FeeQuote, Recovery } from '@bursar/records'
import type { Stores } from '@bursar/server/stores'
import type { Command } from 'commander'
import { listOf } from '../customer/erase-customer.ts'
import { type CommonOptions, newCommand, refuseUsage } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
import { type AuditedStores, withAudit } from '../with-stores.ts'
import { type Due, findDue, readErasures, repeatErasures } from './repeat-erasures.ts'

const limits = limitsOf({
  /** Restored fees that `reconcile` lists: those that were open at the backup are few. */
  uncertainFeesMax: 1000,
})

type ReconcileOptions = CommonOptions & {
  readonly restoredTo?: string
  readonly erasures?: string
  readonly yes?: boolean
  readonly clientsConfirmed?: boolean
  readonly reconciled?: boolean
}

/** `reconcile`: from a restored store to one whose clients and fees are those of today. */
export function reconcileCommand(output: Output): Command {
  const command = newCommand('reconcile', 'Show or end the recovery of a store after a restore.', [
    'reconcile',
    'reconcile --erasures erasures.ndjson',
    'reconcile --erasures erasures.ndjson --yes',
    'reconcile --clients-confirmed',
    'reconcile --reconciled',
  ])
    .option(
      '--restored-to <time>',
      'Start a recovery: other tools have restored the store to this point in time.',
    )
    .option(
      '--erasures <file>',
      'Erase again the customers of this list, which customer erasures has printed, and those of the store’s own, that were erased after the backup. The list may be empty.',
    )
    .option('--yes', 'Erase them. Without this, --erasures says what it would remove.')
    .option('--clients-confirmed', 'Let clients get tokens: those that are listed are right.')
    .option('--reconciled', 'End the recovery: clients and consumed fees are right.')
  return command.action(async (options: ReconcileOptions) => {
    refuseUsage(command, faultOf(options))
    const { restoredTo, erasures, clientsConfirmed, reconciled } = options
    const listed = erasures === undefined ? undefined : readErasures(erasures)
    const change = async ({ stores, keyring, audited }: AuditedStores) => {
      const isConfirmed = clientsConfirmed === true || reconciled === true
      const isShown = restoredTo === undefined && listed === undefined && !isConfirmed
      if (isShown) return describe(stores)
      // The clock of the machine that runs this command may differ from the store's.
      const { now } = await stores.quotes().operator.times()
      if (restoredTo !== undefined) {
        refuseUsage(command, microsOf(restoredTo) <= now ? undefined : notPast)
        await start(stores, microsOf(restoredTo))
      }
      if (listed !== undefined) {
        const due = await findDue(stores, await openRecovery(stores), listed)
        audited.note({ customers: due.map(({ customerId }) => customerId) })
        if (options.yes !== true) {
          printResult(output, options, { would_erase: due.map(dueDocument) }, due.map(dueLine))
          throw new CommandFailed(
            `this would erase ${counted(due.length, 'customer')} again, for ever; --yes erases them and confirms that the list is complete`,
          )
        }
        await repeatErasures({ stores, keyring }, due)
        await stores.credentials().noteErasuresRepeated(now)
      }
      if (isConfirmed) await confirm(stores, () => now)
      if (reconciled === true) await stores.credentials().endRecovery(now)
      return describe(stores)
    }
    const described = await withAudit(command, options, change)
    printResult(output, options, documentOf(described), linesOf(described))
  })
}

const dueDocument = ({ customerId, erasedAt, found, byKind }: Due) => ({
  customer_id: customerId,
  erased_at: isoOf(erasedAt),
  would_remove: found ?? null,
  records_by_kind: byKind,
})

function dueLine({ customerId, erasedAt, found, byKind }: Due): string {
  const kinds = Object.entries(byKind).map(([kind, count]) => `${count} of ${kind}`)
  const records = kinds.length === 0 ? '' : ` (${kinds.join(', ')})`
  const end = isoOf(erasedAt) ?? 'an unknown time'
  return `${printable(customerId)}, erased at ${end}: ${listOf({ ...found })}${records}`
}

const notPast = '--restored-to must be a past time, such as 2026-11-22T12:00:00Z.'

function faultOf(options: ReconcileOptions): string | undefined {
  const { restoredTo } = options
  const given = [restoredTo, options.erasures, options.clientsConfirmed, options.reconciled]
  if (given.filter((one) => one !== undefined).length > 1) {
    return 'Give one of --restored-to, --erasures, --clients-confirmed and --reconciled.'
  }
  if (options.yes === true && options.erasures === undefined) return 'Give --yes with --erasures.'
  return restoredTo === undefined || parseInstant(restoredTo) !== undefined ? undefined : notPast
}

const microsOf = (time: string): bigint => parseInstant(time)?.micros ?? 0n

/** Refuses tokens and restored fees from here on. */
export const start = (stores: Stores, restoredTo: bigint): Promise<void> =>
  startRecovery({ store: stores.credentials(), quotes: stores.quotes().operator }, restoredTo)

async function openRecovery(stores: Stores): Promise<Recovery> {
  const recovery = await stores.credentials().readRecovery()
  if (recovery !== undefined && recovery.reconciledAt === undefined) return recovery
  throw new CommandFailed('the store is not in recovery, so there is nothing to confirm')
}

/** A customer that was erased after the backup is back, with its clients, until it is erased. */
async function confirm(stores: Stores, clock: Clock): Promise<void> {
  const store = stores.credentials()
  const recovery = await openRecovery(stores)
  if (recovery.erasuresRepeatedAt === undefined) {
    throw new CommandFailed(
      `customers that were erased after the backup may be in the store again; first run ${commandHint('reconcile --erasures FILE')} with the list of erasures, or with an empty file if there were none`,
    )
  }
  if (recovery.clientsConfirmedAt !== undefined) return
  await confirmClients({ store, clock }, await stores.keyring(store))
}

type Described = {
  readonly recovery: Recovery | undefined
  readonly clients: readonly ClientWithSecrets[]
  /** Restored fees that a withdrawal may have consumed after the backup. */
  readonly fees: readonly FeeQuote[]
}

async function describe(stores: Stores): Promise<Described> {
  const recovery = await stores.credentials().readRecovery()
  if (recovery === undefined || recovery.reconciledAt !== undefined) {
    return { recovery, clients: [], fees: [] }
  }
  const listed = await stores.credentials().listClients()
  const fees = await stores.quotes().operator.uncertain(recovery, limits.uncertainFeesMax)
  return { recovery, clients: listed.filter((client) => client.disabledAt === undefined), fees }
}

const isoOf = (at: bigint | undefined) => (at === undefined ? null : printInstant(at))

const documentOf = ({ recovery, clients, fees }: Described) => ({
  in_recovery: recovery !== undefined && recovery.reconciledAt === undefined,
  restored_to: isoOf(recovery?.restoredTo),
  restored_at: isoOf(recovery?.restoredAt),
  erasures_repeated_at: isoOf(recovery?.erasuresRepeatedAt),
  clients_confirmed_at: isoOf(recovery?.clientsConfirmedAt),
  reconciled_at: isoOf(recovery?.reconciledAt),
  live_clients: clients.map((client) => ({
    client_id: client.id,
    customer_id: client.customerId,
    name: client.name,
    newest_secret_at: isoOf(client.secrets.at(-1)?.createdAt),
  })),
  uncertain_fees: fees.map(({ id, customerId, createdAt, expiresAt }) => ({
    id,
    customer_id: customerId,
    created_at: isoOf(createdAt),
    expires_at: isoOf(expiresAt),
  })),
})

function linesOf({ recovery, clients, fees }: Described): readonly string[] {
  if (recovery === undefined) return ['The store was not restored; there is nothing to reconcile.']
  const to = isoOf(recovery.restoredTo)
  if (recovery.reconciledAt !== undefined) {
    return [`The store was restored to ${to} and reconciled at ${isoOf(recovery.reconciledAt)}.`]
  }
  const hasErasures = recovery.erasuresRepeatedAt !== undefined
  const hasClients = recovery.clientsConfirmedAt !== undefined
  return [
    `The store is in recovery: it was restored to ${to}. What happened after that is not in it.`,
    ...(hasErasures ? ['The erasures since the backup are repeated.'] : erasureLines(to)),
    ...(hasClients ? ['The clients are confirmed and get tokens.'] : clientLines(clients, to)),
    ...feeLines(fees),
  ]
}

const erasureLines = (to: string | null) => [
  `Customers that were erased after ${to} are in the store again. Erase them by your list of erasures`,
  `and those that the store knows: run ${commandHint('reconcile --erasures FILE')}, with an empty file if you have none.`,
]

const clientLines = (clients: readonly ClientWithSecrets[], to: string | null) => [
  `No client gets a token. ${counted(clients.length, 'client')} would:`,
  ...clients.map(({ id, customerId, name, secrets }) => {
    const secretAt = isoOf(secrets.at(-1)?.createdAt) ?? 'no secret'
    return ['', id, customerId ?? 'operator', secretAt, name].join('  ')
  }),
  `Disable, rotate and create again what was disabled, rotated and created after ${to}.`,
  `Then run ${commandHint('reconcile --clients-confirmed')}.`,
]

const feeLines = (fees: readonly FeeQuote[]) => [
  'No fee from before the restore can be consumed. A withdrawal may have consumed these since:',
  ...(fees.length === 0 ? ['  none'] : []),
  ...fees.map(({ id, customerId, expiresAt }) =>
    ['', id, customerId, `expires ${isoOf(expiresAt)}`].join('  '),
  ),
  ...(fees.length < limits.uncertainFeesMax ? [] : ['  and possibly more']),
  `Record each that was consumed with ${commandHint('fee consume ID … --consumed-at TIME')}.`,
  `Then run ${commandHint('reconcile --reconciled')}.`,
]
