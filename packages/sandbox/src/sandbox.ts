import { dateOf, type MovableClock, systemTime } from '@bursar/base'
import { type RecordInput, resources, sandboxReset } from '@bursar/contract'
import { type Entry, importEntries, recordRules } from '@bursar/intake'
import type { ConsoleClient, ServiceExtension, ServiceParts } from '@bursar/server'
import { addClient, addSampleClient } from './control/control-customers.ts'
import { controlRoutes } from './control/control-routes.ts'
import { openControl } from './control/open-control.ts'
import { requestLine } from './request-line.ts'
import { historyOf } from './sample-history.ts'
import {
  acme,
  borealis,
  consoleStaff,
  currentRecords,
  displayNames,
  sampleCustomers,
  sampleLives,
} from './sample-records.ts'

export type SandboxOptions = {
  /** The clock of the service, for tests to move. Without it there is only the reset. */
  readonly clock?: MovableClock
  /** Prints a line for each request. */
  readonly print?: (line: string) => void
  /** Leaves out Acme and Borealis until a reset. Tests with their own customers start sooner. */
  readonly startsEmpty?: true
}

/** Imports the sample records and adds the calls under `/sandbox`, by which tests control it. */
export async function openSandbox(
  parts: ServiceParts,
  { clock, print, startsEmpty }: SandboxOptions = {},
): Promise<ServiceExtension> {
  if (startsEmpty === undefined) {
    // Records kept from an earlier run may have been edited. Only a reset overwrites them.
    const isKept = Object.values(await countRecords(parts)).some((count) => count > 0)
    if (!isKept) await fillRecords(parts)
    await fillClients(parts)
  }
  const shown = { pageClient: acme, consoleClients, records: await countRecords(parts) }
  const reset = () => resetSandbox(parts)
  const state = clock === undefined ? undefined : parts.sandbox?.()
  if (clock === undefined || state === undefined) {
    const works = { [sandboxReset.id]: async () => ({ body: await reset() }) }
    return { ...shown, routes: controlRoutes([sandboxReset], works, parts) }
  }
  const control = await openControl({ parts, state, clock, reset })
  return {
    ...shown,
    ...control,
    printsRequests: print !== undefined,
    served: (served) => {
      control.served(served)
      print?.(requestLine(served, dateOf(systemTime.now())))
    },
  }
}

const consoleClients: readonly ConsoleClient[] = Object.entries({
  'Operator staff': consoleStaff,
  Acme: acme,
  Borealis: borealis,
}).map(([name, { clientId, clientSecret }]) => ({ name, clientId, clientSecret }))

async function resetSandbox(parts: ServiceParts): Promise<object> {
  await parts.store.operator.clear()
  await parts.quotes.operator.clear()
  await fillRecords(parts)
  await fillClients(parts)
  return { records: await countRecords(parts) }
}

/** How many records of each kind the store holds. */
async function countRecords({ store }: ServiceParts): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const resource of resources) counts[resource.kind] = await store.operator.count(resource)
  return counts
}

/**
 * The store of a sandbox keeps what became of the records. PostgreSQL, which tests alone use for
 * one, gets them as they are.
 */
async function fillRecords({ store, config, clock, sandbox }: ServiceParts): Promise<void> {
  const lives = sampleLives(clock())
  if (sandbox !== undefined) {
    return await sandbox().storeHistory({ history: historyOf(lives), names: displayNames })
  }
  const world = currentRecords(lives)
  for (const resource of resources) {
    const report = await importEntries(store, resource, entriesOf(world[resource.kind]), {
      dryRun: false,
      // A reset also overwrites newer records.
      allowOlder: true,
      rules: recordRules(config),
    })
    if (report.faultCount > 0) {
      const [fault] = report.faults
      throw new Error(
        `the sample ${resource.kind} are not valid: ${fault?.member} ${fault?.reason}`,
      )
    }
  }
  for (const [id, name] of Object.entries(displayNames)) {
    await store.operator.customers.rename(id, name)
  }
}

async function* entriesOf(records: readonly RecordInput[]): AsyncIterable<Entry> {
  for (const [at, value] of records.entries()) yield { line: at + 1, value }
}

async function fillClients(parts: ServiceParts): Promise<void> {
  for (const customer of sampleCustomers) await addClient(parts, customer)
  const { clientId: id, clientSecret: secret, scopes } = consoleStaff
  const staff = { id, secret, customerId: null, name: 'Sandbox client of the console', scopes }
  await addSampleClient(parts, staff)
  await parts.oauth.refresh()
}
