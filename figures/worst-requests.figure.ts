import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { openMovableClock } from '@bursar/base'
import { ingestOperations, operations, operatorScopes, sandboxOperations } from '@bursar/contract'
import { describeService } from '../test/support/describe-service.ts'
import { acme, type ServiceOptions } from '../test/support/harness.ts'
import { acmeIdOf, gets, quoteFee } from '../test/support/operation-calls.ts'
import { operatorToken } from '../test/support/operator-token.ts'
import { anId, aStatement } from '../test/support/records.ts'
import { note, rounded } from './figure.ts'
import { type CostMeter, openCostMeter, slowness } from './support/loop-cost.ts'
import { type OperationsRequests, worstOf } from './support/worst-operation-requests.ts'
import { bytesOf, fill, strangersTokenRequests } from './support/worst-requests.ts'

/**
 * The worst requests of every operation of the three APIs, and of the endpoints of OAuth, against a
 * sandbox in this thread. It prints a row for each operation: processor time for each KB that is
 * sent, and the longest time for which the event loop serves nobody else.
 */

/** Nothing holds the loop of a quiet core longer, whatever it is sent. */
const HOLD_MS = 20
/** What a KB of a request may cost. A request counts as a KB at least. */
const MS_PER_KB = 30

/** Calls of the sandbox that merge records or copy the whole store, in one transaction. */
const merges = new Set([
  'createSandboxCustomer',
  'createSandboxSnapshot',
  'restoreSandboxSnapshot',
  'sandboxReset',
])

/** What changes the whole store, in this order and after everything else. */
const later = ['restoreSandboxSnapshot', 'deleteSandboxSnapshot', 'sandboxReset']

const options: ServiceOptions = {
  control: openMovableClock(),
  store: 'sqlite',
  env: { BURSAR_TRUSTED_PROXIES: '127.0.0.1' },
}
let meter: CostMeter
let core: string
let feeId: string
let snapshotId: string

const service = describeService(options, async () => {
  meter = await openCostMeter(service.url)
  core = await operatorToken(service, 'core', [...operatorScopes])
  feeId = await quoteFee(service)
  const snapshot = await service.call('/sandbox/snapshots', { as: null, method: 'POST' })
  snapshotId = snapshot.body.id
  // A long history of a large record.
  for (let version = 0; version < 30; version += 1) {
    const statement = aStatement({
      id: anId(1),
      customer_id: acme.customerId,
      source_version: version,
      statement_balances: Array.from({ length: 1000 }, (_, at) => ({
        asset: `ASSET${at}`,
        amount_paid: String(version),
        total_amount_owed: '1000.5',
      })),
    })
    const { status, text } = await service.call(`/ingest/v1/statements/${anId(1)}`, {
      token: core,
      method: 'PUT',
      body: JSON.stringify(statement),
    })
    assert.ok(status < 300, text)
  }
})

after(() => meter.close())

type Declared = Parameters<typeof worstOf>[0]

/** A path parameter that finds the largest thing there is. */
function findable(parameter: string, operation: Declared): string {
  if (parameter === 'kind') return 'statements'
  if (parameter !== 'id') return acme.customerId
  if (operation.path.startsWith('/ingest/v1/fees')) return feeId
  if (operation.path.startsWith('/sandbox/snapshots')) return snapshotId
  const get = gets.find(({ id }) => id === operation.id)
  return get === undefined ? anId(1) : acmeIdOf(get)
}

/** The endpoints that the metadata of the authorization server names. */
async function oauthRequests(): Promise<readonly OperationsRequests[]> {
  const { body } = await service.call('/.well-known/oauth-authorization-server', { as: null })
  const endpoints = Object.entries(body as Record<string, unknown>).filter(([name]) =>
    /_(endpoint|uri)$/.test(name),
  )
  assert.ok(endpoints.length >= 4, 'the metadata names its endpoints')
  const basic = btoa(`${acme.clientId}:${acme.clientSecret}`)
  const token = await service.tokenOf(acme)
  return endpoints.map(([, url], network) => {
    const path = new URL(String(url)).pathname
    if (path === '/oauth2/token') return { id: path, requests: strangersTokenRequests(100) }
    const forms = [`token=${token}`, `token=${fill('a', 8000)}`, `token=${fill('%41', 16_000)}`]
    const sent = forms.map((body, at) => ({
      name: `form ${at}`,
      bytes: bytesOf({
        method: 'POST',
        target: path,
        headers: [
          'content-type: application/x-www-form-urlencoded',
          `authorization: Basic ${basic}`,
          `x-forwarded-for: 10.1.${network}.${at}`,
        ],
        body,
      }),
    }))
    const read = { name: 'a query', bytes: bytesOf({ target: `${path}?${fill('%41&', 60_000)}` }) }
    return { id: path, requests: path.startsWith('/oauth2/') ? sent : [read] }
  })
}

type Row = {
  readonly id: string
  readonly msPerKb: number
  readonly ofCost: string
  readonly holdMs: number
  readonly ofHold: string
}

async function measure({ id, requests }: OperationsRequests): Promise<Row> {
  let row: Row = { id, msPerKb: 0, ofCost: '', holdMs: 0, ofHold: '' }
  for (const { name, bytes } of requests) {
    const slow = await slowness()
    const kb = Math.max(1, bytes.length / 1024)
    const isExcepted = merges.has(id)
    const tries = isExcepted ? 2 : undefined
    // Code runs slowly before V8 has compiled it, so the first request does not count.
    const { status } = await meter.costOf(bytes, Number.POSITIVE_INFINITY)
    assert.ok(status > 0 && status !== 429 && status !== 500, `${id}, ${name}: ${status}`)
    const cost = await meter.costOf(bytes, MS_PER_KB * kb * slow * 0.5, tries)
    const hold = await meter.holdOf(bytes, HOLD_MS * slow * 0.5, tries)
    const [msPerKb, holdMs] = [cost.ms / slow / kb, hold.ms / slow]
    if (msPerKb > row.msPerKb) row = { ...row, msPerKb, ofCost: `${name} (${status})` }
    if (holdMs > row.holdMs) row = { ...row, holdMs, ofHold: name }
  }
  return row
}

const printed = ({ id, msPerKb, ofCost, holdMs, ofHold }: Row): string =>
  [
    id.padEnd(38),
    `${msPerKb.toFixed(2).padStart(7)} ms/KB`,
    `${holdMs.toFixed(1).padStart(6)} ms`,
    `${ofCost}; ${ofHold}`,
  ].join(' ')

test('the worst request of every operation', async (t) => {
  const token = await service.tokenOf(acme)
  const requests = [
    ...operations.map((operation) => worstOf(operation, { token, findable })),
    ...(await oauthRequests()),
    ...ingestOperations.map((operation) => worstOf(operation, { token: core, findable })),
    ...sandboxOperations
      .toSorted((a, b) => later.indexOf(a.id) - later.indexOf(b.id))
      .map((operation) => worstOf(operation, { token: undefined, findable })),
  ]
  for (const ofOperation of requests) {
    assert.ok(ofOperation.requests.length > 0, `${ofOperation.id} has a worst request`)
    const row = await measure(ofOperation)
    t.diagnostic(printed(row))
    const goals = merges.has(row.id) ? {} : { cost: MS_PER_KB, hold: HOLD_MS }
    noteCost(t, `${row.id}: cost of a KB sent`, row.msPerKb, goals.cost)
    noteCost(t, `${row.id}: hold of the loop`, row.holdMs, goals.hold)
  }
})

function noteCost(t: TestContext, name: string, ms: number, goal: number | undefined): void {
  note(t, { name, value: rounded(ms), unit: 'ms', ...(goal !== undefined && { goal }) })
}
