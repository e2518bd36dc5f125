import { asTenant } from '../../src/contract/principal.ts'
import { validate } from '../../src/http/pipeline/validate.ts'
import { acme, startTestService } from './harness.ts'
import { msOf, openCostMeter, slowness } from './loop-cost.ts'
import { testStore } from './test-database.ts'
import { type CustomersRequest, customersRequests } from './worst-customer-requests.ts'
import { strangersRequests, strangersTokenRequests, type WorstRequest } from './worst-requests.ts'

/**
 * A program that prints, as JSON, the requests that cost the event loop more than they may. It is a
 * process of its own, because the hooks of `node:test` add to the cost of each promise and socket.
 */
export type DearRequests = {
  readonly beforeAuthentication: Readonly<Record<string, string>>
  readonly ofCustomers: Readonly<Record<string, string>>
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

/** Together they take about two seconds, longer than other tests keep both processors busy. */
const ROUNDS = 20

/**
 * Finds each request that costs more than `msMax`, beside its page, in every round. The first
 * measures the processor's speed once; the others measure it beside each request that they repeat,
 * since the processor may have become busier.
 */
async function dearRequests(
  requestsOf: (round: number) => readonly CustomersRequest[],
  msMax: number,
): Promise<Readonly<Record<string, string>>> {
  let dear: ReadonlyMap<string, string> | undefined
  for (let round = 1; round <= ROUNDS && dear?.size !== 0; round += 1) {
    const slowAtStart = await slowness()
    const found = new Map<string, string>()
    for (const { name, bytes, page } of requestsOf(round)) {
      if (dear !== undefined && !dear.has(name)) continue
      const slow = round === 1 ? slowAtStart : await slowness()
      const pageMs = page === undefined ? 0 : await msOf(() => readPage(page), 3)
      const { status, ms } = await meter.costOf(bytes, msMax * slow + pageMs)
      if (status >= 500 || status === 429) throw new Error(`${name}: ${status}`)
      if (ms <= msMax * slow + pageMs) continue
      found.set(name, `${(ms - pageMs).toFixed(2)} ms, processor ${slow.toFixed(1)} times slower`)
    }
    dear = found
  }
  return Object.fromEntries(dear ?? [])
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
const dear: DearRequests = {
  beforeAuthentication: await dearRequests(beforeAuthentication, 1),
  ofCustomers: await dearRequests(() => customersRequests(token), 2),
}
process.stdout.write(`${JSON.stringify(dear)}\n`)
await meter.close()
await service.stop()
