import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { asTenant } from '../../src/contract/principal.ts'
import { validate } from '../../src/http/pipeline/validate.ts'
import { describeService } from '../support/describe-service.ts'
import { acme } from '../support/harness.ts'
import { type CostMeter, msOf, openCostMeter, slowness } from '../support/loop-cost.ts'
import { testStore } from '../support/test-database.ts'
import { type CustomersRequest, customersRequests } from '../support/worst-customer-requests.ts'
import {
  strangersRequests,
  strangersTokenRequests,
  type WorstRequest,
} from '../support/worst-requests.ts'

const options = {
  env: { BURSAR_TRUSTED_PROXIES: '127.0.0.1', BURSAR_CORS_ORIGINS: 'https://example.com' },
}
let meter: CostMeter
let token: string

const service = describeService(options, async () => {
  meter = await openCostMeter(service.url)
  token = await service.tokenOf(acme)
  // Code runs slowly before V8 has compiled it.
  for (const round of [1, 2, 3]) {
    const all = [...beforeAuthentication(200 + round), ...customersRequests(token)]
    for (const { bytes } of all) await meter.costOf(bytes, Number.POSITIVE_INFINITY)
  }
})

after(() => meter.close())

/** On PostgreSQL, those that reach the store. */
const beforeAuthentication = (network: number): readonly WorstRequest[] => [
  ...(testStore === 'postgres' ? [] : strangersRequests),
  ...strangersTokenRequests(network),
]

/** Together they take about two seconds, longer than other tests keep both processors busy. */
const ROUNDS = 20

/**
 * Fails with each request that costs more than `msMax`, beside its page, in every round. The first
 * measures the processor's speed once; the others measure it beside each request that they repeat,
 * since the processor may have become busier.
 */
async function assertCost(
  requestsOf: (round: number) => readonly CustomersRequest[],
  msMax: number,
): Promise<void> {
  let dear: ReadonlyMap<string, string> | undefined
  for (let round = 1; round <= ROUNDS && dear?.size !== 0; round += 1) {
    const slowAtStart = await slowness()
    const found = new Map<string, string>()
    for (const { name, bytes, page } of requestsOf(round)) {
      if (dear !== undefined && !dear.has(name)) continue
      const slow = round === 1 ? slowAtStart : await slowness()
      const pageMs = page === undefined ? 0 : await msOf(() => readPage(page), 3)
      const { status, ms } = await meter.costOf(bytes, msMax * slow + pageMs)
      assert.ok(status < 500 && status !== 429, `${name}: ${status}`)
      if (ms <= msMax * slow + pageMs) continue
      found.set(name, `${(ms - pageMs).toFixed(2)} ms, processor ${slow.toFixed(1)} times slower`)
    }
    dear = found
  }
  assert.deepEqual(dear, new Map())
}

const readPage = ({ operation, rawQuery }: Required<CustomersRequest>['page']) => {
  const request = { rawQuery, parameters: {}, body: Buffer.alloc(0), trace: {} }
  const { list } = validate(operation, operation, request)
  assert.ok(list !== undefined)
  const selection = { ...list.selection, after: undefined }
  return service.parts.store.customers.page(asTenant(acme.customerId), operation.view, selection)
}

describe('the largest request of every shape', () => {
  test('takes at most 1 ms of the event loop before authentication', async () => {
    await assertCost(beforeAuthentication, 1)
  })

  test('takes at most 2 ms after it, excluding its page', async () => {
    await assertCost(() => customersRequests(token), 2)
  })
})
