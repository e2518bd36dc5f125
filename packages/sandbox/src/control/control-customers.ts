import { randomUUID } from 'node:crypto'
import { systemRandom } from '@bursar/base'
import {
  contractLimits,
  createSandboxCustomer,
  customerScopes,
  deleteSandboxCustomer,
  echo,
  listSandboxCustomers,
  type OperatorWorks,
  type Problem,
  problem,
  resources,
} from '@bursar/contract'
import { renderRecord } from '@bursar/intake'
import { createSampleClient } from '@bursar/oauth'
import type { SandboxState } from '@bursar/records'
import type { ServiceParts } from '@bursar/server'
import { type SampleCustomer, sampleRecords } from '../sample-records.ts'
import { drawBytes } from '../seeded.ts'

/** The customers that the sandbox has: those of its clients. */
export type Customers = {
  has(customerId: string): boolean
  /** Throws a 404 for a customer that the sandbox does not have. */
  require(customerId: string): Promise<void>
  add(customerId: string): void
  remove(customerId: string): void
  count(): number
  ids(): readonly string[]
  /** Reads the clients again, after the store has changed as a whole. */
  reload(): Promise<void>
}

export async function openCustomers({
  credentials,
}: Pick<ServiceParts, 'credentials'>): Promise<Customers> {
  const known = new Set<string>()
  const customers: Customers = {
    has: (customerId) => known.has(customerId),
    require: async (customerId) => {
      // `client create` may have made it while the sandbox runs.
      if (!known.has(customerId)) await customers.reload()
      if (!known.has(customerId)) throw noSuchCustomer(customerId)
    },
    add: (customerId) => void known.add(customerId),
    remove: (customerId) => void known.delete(customerId),
    count: () => known.size,
    ids: () => [...known],
    reload: async () => {
      const clients = await credentials.listClients()
      known.clear()
      for (const { customerId } of clients) if (customerId !== null) known.add(customerId)
    },
  }
  await customers.reload()
  return customers
}

const noSuchCustomer = (customerId: string) =>
  problem('notFound', `no customer found for customer_id: '${echo(customerId)}'`)

type CustomerDeps = {
  readonly parts: ServiceParts
  readonly state: SandboxState
  readonly customers: Customers
  /** Called when a customer is gone, so that nothing of it stays. */
  readonly forget: (customerId: string) => void
}

export function customerWorks({ parts, state, customers, forget }: CustomerDeps): OperatorWorks {
  return {
    [createSandboxCustomer.id]: async ({ body }) => {
      const seed = body.get('seed') ?? randomUUID()
      const made = customerOf(seed)
      const { customerId } = made
      if (customers.has(customerId)) throw alreadyThere(customerId)
      if (customers.count() >= contractLimits.sandboxCustomersMax) throw tooManyCustomers()
      if (body.get('records') === 'sample' && !(await addSample(state, customerId))) {
        throw problem(
          'conflict',
          'a record of this seed is in the sandbox already; use another seed, or delete the record',
        )
      }
      await addClient(parts, made)
      await parts.oauth.refresh()
      customers.add(customerId)
      const { clientId, clientSecret } = made
      return {
        body: { customer_id: customerId, client_id: clientId, client_secret: clientSecret, seed },
      }
    },
    [listSandboxCustomers.id]: async () => {
      // `client create` may have made some while the sandbox runs.
      await customers.reload()
      const ids = customers.ids().toSorted().slice(0, contractLimits.sandboxCustomersMax)
      return { body: { customers: ids.map((customer_id) => ({ customer_id })) } }
    },
    [deleteSandboxCustomer.id]: async ({ parameters }) => {
      const customerId = String(parameters.get('customer'))
      await customers.require(customerId)
      await state.removeCustomer(customerId)
      await parts.oauth.reload()
      customers.remove(customerId)
      forget(customerId)
      return {}
    },
  }
}

/** Names differ from those of operators' clients, and derive from the seed alone. */
const customerOf = (seed: string): SampleCustomer => ({
  customerId: `customer_${draw(`customer of seed ${seed}`, 10)}`,
  clientId: `client_${draw(`client of seed ${seed}`, 10)}`,
  clientSecret: `bursar_sandbox_secret_${draw(`secret of seed ${seed}`, 16)}`,
})

const draw = (name: string, bytes: number): string => drawBytes(name).toString('hex', 0, bytes)

const alreadyThere = (customerId: string): Problem =>
  problem(
    'conflict',
    `the customer of this seed exists; delete ${customerId} first, or use another`,
    {
      meta: { customer_id: customerId },
    },
  )

const tooManyCustomers = (): Problem =>
  problem(
    'conflict',
    `the sandbox has ${contractLimits.sandboxCustomersMax} customers; delete those that no test uses`,
  )

const addSample = (state: SandboxState, customerId: string): Promise<boolean> => {
  const records = sampleRecords(customerId)
  return state.addRecords(
    resources.map((resource) => ({
      resource,
      records: records[resource.kind].map((record, at) => renderRecord(resource, record, at + 1)),
    })),
  )
}

/** Creates a customer’s client. Running servers know it after `oauth.refresh`. */
export async function addClient(
  parts: ServiceParts,
  { customerId, clientId: id, clientSecret: secret }: SampleCustomer,
): Promise<void> {
  const name = `Sandbox client of ${customerId}`
  await addSampleClient(parts, { id, secret, customerId, name, scopes: customerScopes })
}

/** Creates a client with a secret that everyone knows. */
export const addSampleClient = (
  { credentials: store, keyring, clock }: ServiceParts,
  client: Omit<Parameters<typeof createSampleClient>[1], 'isPublished'>,
): ReturnType<typeof createSampleClient> =>
  createSampleClient(
    { store, keyring, clock, random: systemRandom },
    { ...client, isPublished: true },
  )
