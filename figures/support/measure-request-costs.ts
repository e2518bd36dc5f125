import { asTenant } from '@bursar/contract'
import { validate } from '../../packages/server/src/pipeline/validate.ts'
import { acme, startTestService } from '../../test/support/harness.ts'
import { testStore } from '../../test/support/test-database.ts'
import { msOf, openCostMeter, slowness } from './loop-cost.ts'
import { type CustomersRequest, customersRequests } from './worst-customer-requests.ts'
import { strangersRequests, strangersTokenRequests, type WorstRequest } from './worst-requests.ts'

/**
 * A program that prints, as JSON, what the dearest requests cost the event loop, in milliseconds of
 * a quiet core. It is a process of its own, because the hooks of `node:test` add to the cost of
 * each promise and socket.
 */
export type RequestCosts = {
  readonly beforeAuthentication: Readonly<Record<string, number>>
  readonly ofCustomers: Readonly<Record<string, number>>
}

const service = await startTestService({
  env: { BURSAR_TRUSTED_PROXIES: '127.0.0.1', BURSAR_CORS_ORIGINS: 'https://example.com' },
})
const meter = await openCostMeter(service.url)
const token = await service.tokenOf(acme)

/** On PostgreSQL, those that reach the store. */
const beforeAuthentication = (network: number): readonly WorstRequest[] => [
  ...(testStore === 'postgres' ? [] : strangersRequests),
  ...strangersTokenRequests(network),
]

/** As many of the dearest requests are printed for each group. */
const SHOWN = 5

/** The least cost of each request beside its page, and the dearest of them. */
async function costsOf(
  requests: readonly CustomersRequest[],
): Promise<Readonly<Record<string, number>>> {
  const costs: [name: string, ms: number][] = []
  for (const { name, bytes, page } of requests) {
    const slow = await slowness()
    const pageMs = page === undefined ? 0 : await msOf(() => readPage(page), 3)
    const { status, ms } = await meter.costOf(bytes)
    if (status >= 500 || status === 429) throw new Error(`${name}: ${status}`)
    costs.push([name, Math.max(0, ms - pageMs) / slow])
  }
  return Object.fromEntries(costs.toSorted(([, a], [, b]) => b - a).slice(0, SHOWN))
}

const readPage = ({ operation, rawQuery }: Required<CustomersRequest>['page']) => {
  const request = { rawQuery, parameters: {}, body: Buffer.alloc(0), trace: {} }
  const { list } = validate(operation, operation, request)
  if (list === undefined) throw new Error('the operation has no list')
  const selection = { ...list.selection, after: undefined }
  return service.parts.store.customers.page(asTenant(acme.customerId), operation.view, selection)
}

// Code runs slowly before V8 has compiled it.
for (const round of [1, 2, 3]) {
  const all = [...beforeAuthentication(200 + round), ...customersRequests(token)]
  for (const { bytes } of all) await meter.costOf(bytes, Number.POSITIVE_INFINITY)
}
const costs: RequestCosts = {
  beforeAuthentication: await costsOf(beforeAuthentication(1)),
  ofCustomers: await costsOf(customersRequests(token)),
}
process.stdout.write(`${JSON.stringify(costs)}\n`)
await meter.close()
await service.stop()
