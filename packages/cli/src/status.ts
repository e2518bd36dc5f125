import { type Config, counted, openLog, readPostgresUrl, systemTime, version } from '@bursar/base'
import type { Imports, ListedImport } from '@bursar/records'
import {
  openOperatorStores,
  primaryOf,
  type Stores,
  storeEngine,
  storeFiles,
} from '@bursar/server/stores'
import type { Command } from 'commander'
import { backupsOf } from './doctor.ts'
import { type CommonOptions, newCommand } from './options.ts'
import { CommandFailed, isoOf, type Output, printResult } from './output.ts'
import { operatorConfigOf } from './with-stores.ts'

const description =
  'Say which version and store this is, its last import and backup, its recovery, and what is left to seal. It changes nothing.'

export function statusCommand(output: Output): Command {
  return newCommand('status', description, ['status', 'status --json']).action(
    async (options: CommonOptions) => {
      const config = operatorConfigOf(options)
      const found = await look(config).catch((error: unknown) => {
        if (error instanceof Error) return { fault: error.message }
        throw error
      })
      const isUsable = !('fault' in found)
      const document = { version, store: storeOf(config), usable: isUsable, ...found }
      printResult(output, options, document, linesOf(document))
      if (!isUsable) throw new CommandFailed('the store cannot be used as it is')
    },
  )
}

/** The store without its password. */
function storeOf(config: Config): string {
  const addresses = readPostgresUrl(config.operatorDatabaseUrl ?? config.databaseUrl)
  if (addresses === undefined) return storeFiles(config)?.path ?? ''
  const hosts = addresses.map(({ label }) => label).join(',')
  return `postgres://${hosts}/${addresses[0]?.credentials.database}`
}

/** Looks at a store that can be opened without a change. Throws what is wrong with another one. */
async function look(config: Config) {
  const sources = { config, clock: systemTime.now, log: openLog('silent') }
  // Opening an embedded store would migrate it, and close its files to others.
  const checks = storeFiles(config) === undefined ? [] : await (await storeEngine(sources)).checks()
  for (const { find } of checks) {
    const [finding] = await find()
    if (finding !== undefined) throw new CommandFailed(`${finding.what}; ${finding.fix}`)
  }
  const stores = await openOperatorStores(sources)
  try {
    return { ...(await lookInside(stores)), ...(await lookAround(config)) }
  } finally {
    await stores.close()
  }
}

/** The newest import that is stored, whole or in part. */
async function lastStored({ list }: Imports): Promise<ListedImport | undefined> {
  const every = { kind: undefined, ofClientsOf: undefined, after: undefined, importsMax: 1 }
  const states = ['stored', 'stored_in_part'] as const
  const found = await Promise.all(states.map((state) => list({ ...every, state })))
  return found.flat().toSorted((a, b) => (a.id < b.id ? 1 : -1))[0]
}

async function lookInside(stores: Stores) {
  const { imports, operator } = stores.records()
  const { resealing } = operator
  const recovery = await stores.credentials().readRecovery()
  const last = await lastStored(imports)
  const customers = await resealing.customersLeft()
  const step = (await stores.schemaSteps()).at(-1)
  return {
    schema: { step: step?.name ?? null, applied_at: isoOf(step?.at) },
    last_import:
      last === undefined
        ? null
        : { at: isoOf(last.endedAt), kind: last.kind, records: last.counts?.records ?? 0 },
    recovery: {
      in_recovery: recovery !== undefined && recovery.reconciledAt === undefined,
      restored_to: isoOf(recovery?.restoredTo),
    },
    sealing_left: { customers, records: customers === 0 ? 0 : await resealing.recordsLeft() },
  }
}

const lookAround = async (config: Config) => ({
  primary: (await primaryOf(config)) ?? null,
  last_backup_at: isoOf(await backupsOf(config, {}).lastAt()),
})

type Found = Awaited<ReturnType<typeof look>>
type Shown = { readonly version: string; readonly store: string } & (
  | Found
  | { readonly fault: string }
)

function linesOf(shown: Shown): readonly string[] {
  const first = [`version: ${shown.version}`, `store: ${shown.store}`]
  if ('fault' in shown) return [...first, `fault: ${shown.fault}`]
  const { schema, primary, last_import: last, last_backup_at: backup, recovery } = shown
  const { customers, records } = shown.sealing_left
  return [
    ...first,
    `schema: ${schema.step}, applied at ${schema.applied_at}`,
    `primary: ${primary ?? 'this machine, in files'}`,
    `last import: ${last === null ? 'none' : `${last.at}, ${counted(last.records, 'record')} of ${last.kind}`}`,
    `last backup: ${backup ?? 'none is known'}`,
    `recovery: ${recovery.in_recovery ? `not ended, the store was restored to ${recovery.restored_to}` : 'none'}`,
    `sealing left: ${counted(records, 'record')} of ${counted(customers, 'customer')}`,
  ]
}
