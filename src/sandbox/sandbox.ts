import { jsonAnswer } from '../contract/request.ts'
import type { RecordInput } from '../contract/resource.ts'
import { customerScopes } from '../contract/scopes.ts'
import { importEntries } from '../intake/import-file.ts'
import type { Entry } from '../intake/lines.ts'
import { recordRules } from '../intake/record-rules.ts'
import { createSampleClient } from '../oauth/clients/clients.ts'
import { resources } from '../resources/catalogue.ts'
import type { ServiceExtension, ServiceParts } from '../service.ts'
import { systemRandom } from '../vault/random.ts'
import { acme, sampleCustomers, worldRecords } from './world.ts'

/** Imports the sample records and adds `POST /sandbox/reset`, which restores them. */
export async function openSandbox(parts: ServiceParts): Promise<ServiceExtension> {
  // Records kept from an earlier run may have been edited. Only a reset overwrites them.
  const isKept = Object.values(await countRecords(parts)).some((count) => count > 0)
  if (!isKept) await fillRecords(parts)
  await fillClients(parts)
  return {
    pageClient: acme,
    records: await countRecords(parts),
    routes: [
      {
        method: 'POST',
        path: '/sandbox/reset',
        operation: 'sandboxReset',
        answer: async () => {
          await parts.store.operator.clear()
          await parts.quotes.operator.clear()
          await fillRecords(parts)
          await fillClients(parts)
          return jsonAnswer({ records: await countRecords(parts) }, { 'cache-control': 'no-store' })
        },
      },
    ],
  }
}

/** How many records of each kind the store holds. */
async function countRecords({ store }: ServiceParts): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const resource of resources) counts[resource.kind] = await store.operator.count(resource)
  return counts
}

async function fillRecords({ store, config }: ServiceParts): Promise<void> {
  const world = worldRecords()
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
}

async function* entriesOf(records: readonly RecordInput[]): AsyncIterable<Entry> {
  for (const [at, value] of records.entries()) yield { line: at + 1, value }
}

async function fillClients({ credentials, keyring, clock, oauth }: ServiceParts): Promise<void> {
  for (const { customerId, clientId, clientSecret } of sampleCustomers) {
    await createSampleClient(
      { store: credentials, keyring, clock, random: systemRandom },
      {
        id: clientId,
        secret: clientSecret,
        customerId,
        name: `Sandbox client of ${customerId}`,
        scopes: customerScopes,
      },
    )
  }
  await oauth.refresh()
}
