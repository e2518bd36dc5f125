import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openMovableClock } from '@bursar/base'
import {
  ingestOperations,
  operations,
  operatorScopes,
  sandboxOperations,
  statusGuides,
} from '@bursar/contract'
import { describeService } from '../../../../test/support/describe-service.ts'
import {
  acme,
  borealis,
  callUrl,
  startTestService,
  type TestService,
} from '../../../../test/support/harness.ts'
import { type MetricsText, readMetrics } from '../../../../test/support/metrics-text.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { testStore } from '../../../../test/support/test-database.ts'
import { until } from '../../../../test/support/until.ts'
import { type Family, families } from '../../../base/src/metrics/families.ts'

const service = describeService({ env: { BURSAR_OPERATOR_PORT: '0' } })
const metrics = (): Promise<MetricsText> => readMetrics(service.operatorUrl)
const accounts = '/v2/transfer/fiat-accounts'

/** The embedded store has no sessions. */
const onPostgres = testStore === 'postgres' ? test : () => undefined

describe('/metrics', () => {
  test('is on the operator’s port alone, and needs no token', async () => {
    const { status, headers, text } = await callUrl(`${service.operatorUrl}/metrics`, {})
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.match(text, /^# HELP http_server_request_duration_seconds /)
    assert.equal((await service.call('/metrics')).status, 404)
  })

  test('has every declared family, but those of standbys on the embedded store', async () => {
    await service.call(accounts)
    const { families: shown } = await metrics()
    assert.deepEqual(
      shown.toSorted(),
      Object.keys(families)
        .filter((name) => testStore === 'postgres' || !name.startsWith('db_client_connection_c'))
        .filter((name) => testStore === 'postgres' || !name.endsWith('_pending_requests'))
        .toSorted(),
    )
  })

  test('measures each request by its operation and status', async () => {
    const counted = async (operation: string, status: number) => {
      const labels = { operation, status: String(status) }
      return (await metrics()).sum('http_server_request_duration_seconds_count', labels)
    }
    const calls = [
      ['listFiatAccounts', accounts, 200],
      ['listFiatAccounts', `${accounts}?limit=0`, 400],
      ['none', '/v2/nothing', 404],
      ['health', '/healthz', 200],
    ] as const
    for (const [operation, path, status] of calls) {
      const earlier = await counted(operation, status)
      assert.equal((await service.call(path)).status, status)
      await until(async () => (await counted(operation, status)) === earlier + 1)
    }
  })

  test('counts pages that were kept, and those that were read', async () => {
    const path = `${accounts}?limit=7`
    const [hits, misses] = await keptPages()
    // The first request leaves its key, the second one its page.
    for (let times = 0; times < 5; times += 1) assert.equal((await service.call(path)).status, 200)
    const [hitsNow, missesNow] = await keptPages()
    assert.deepEqual([hitsNow - hits, missesNow - misses], [3, 2])
  })

  test('counts token requests by outcome, and refused tokens by reason', async () => {
    const request = (body: Readonly<Record<string, string>>) =>
      service.call('/oauth2/token', {
        as: null,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(body).toString(),
      })
    const client = { client_id: acme.clientId, client_secret: acme.clientSecret }
    const sent = [
      ['issued', { ...client, grant_type: 'client_credentials' }],
      ['unsupported_grant_type', { ...client, grant_type: 'password' }],
      ['invalid_client', { ...client, client_secret: 'x', grant_type: 'client_credentials' }],
      ['invalid_scope', { ...client, grant_type: 'client_credentials', scope: 'a,b:c,unknown' }],
    ] as const
    for (const [outcome, body] of sent) {
      const of = async () => (await metrics()).sum('bursar_token_requests_total', { outcome })
      const earlier = await of()
      await request(body)
      assert.equal(await of(), earlier + 1, outcome)
    }
    const refused = async (reason: string) =>
      (await metrics()).sum('bursar_tokens_refused_total', { reason })
    const earlier = await refused('malformed')
    await service.call(accounts, { token: 'no.token' })
    await until(async () => (await refused('malformed')) === earlier + 1)
  })

  test('counts open fees and imports', async () => {
    const quote = {
      asset: 'USDC',
      crypto_network: 'ETHEREUM',
      destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
      amount: '100',
    }
    const body = JSON.stringify(quote)
    const path = '/v2/transfer/fees/crypto-withdrawal'
    assert.equal((await service.call(path, { method: 'POST', body })).status, 200)
    const { quotes, store } = service.parts
    const running = await store.imports.begin({
      kind: 'statements',
      importer: { clientId: 'metrics' },
      boundTo: undefined,
    })
    assert.equal(await quotes.operator.countOpen(), 1)
    assert.deepEqual(await store.imports.count(), [{ state: 'running', imports: 1 }])
    await running.fail({ state: 'refused', reason: 'the test ends it' })
    assert.deepEqual(await store.imports.count(), [{ state: 'refused', imports: 1 }])
  })

  test('says how old the credentials are, and how old they may be', async () => {
    await service.parts.oauth.refresh()
    const { sum } = await metrics()
    const age = sum('bursar_source_age_seconds', { source: 'credentials' })
    assert.ok(age >= 0 && age < 3600, String(age))
    assert.equal(sum('bursar_source_age_limit_seconds', { source: 'credentials' }), 60)
  })

  onPostgres('keeps the sessions of each pool apart', async () => {
    assert.equal((await service.call(`${accounts}?limit=9`)).status, 200)
    const { sum } = await metrics()
    const pool = { db_client_connection_pool_name: 'customers' }
    assert.ok(sum('db_client_connection_count', pool) > 0)
    assert.ok(sum('db_client_connection_wait_time_seconds_count', pool) > 0)
    assert.equal(sum('db_client_connection_pending_requests', pool), 0)
    assert.ok(sum('bursar_batch_size_count', { batch: 'pages' }) > 0)
  })
})

async function keptPages() {
  const { sum } = await metrics()
  return ['hit', 'miss'].map((result) => sum('bursar_kept_pages_total', { result })) as [
    number,
    number,
  ]
}

describe('labels', () => {
  const hostile = [
    '5a51e000-0000-4000-8000-00000000beef',
    'acme"} 1\n# HELP evil',
    '../../etc/passwd',
    'borealis',
    `${'9'.repeat(12)}`,
  ]
  let driven: TestService
  before(async () => {
    driven = await startTestService({
      control: openMovableClock(),
      store: 'sqlite',
      env: { BURSAR_OPERATOR_PORT: '0' },
    })
  })
  after(() => driven.stop())

  test('show no id and no customer, and have no more series than declared', async () => {
    const all = [...operations, ...ingestOperations, ...sandboxOperations]
    const scopes = [...operatorScopes]
    const tokens = [
      await driven.tokenOf(acme),
      await driven.tokenOf(borealis),
      await operatorToken(driven, 'drives_metrics', scopes),
      'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl',
    ]
    // The sandbox would be reset under the others.
    const driveable = all.filter(({ path }) => !path.startsWith('/sandbox/reset'))
    for (const { method, path } of driveable) {
      for (const [at, id] of hostile.entries()) {
        const target = path.replaceAll(/:[a-z_]+/g, encodeURIComponent(id))
        const query = `customer_id=${encodeURIComponent(id)}&ids=${encodeURIComponent(id)}`
        const response = await fetch(`${driven.url}${target}?${query}`, {
          method,
          headers: {
            authorization: `Bearer ${tokens[at % tokens.length]}`,
            'x-request-id': id.replaceAll(/[^a-z0-9-]/gi, ''),
          },
          ...(method !== 'GET' && { body: JSON.stringify({ id, customer_id: id }) }),
        })
        await response.arrayBuffer()
      }
    }
    const text = await readMetrics(driven.operatorUrl)
    const seen = new Set(text.samples.flatMap(({ labels }) => labels.operation ?? []))
    for (const { id } of driveable) assert.ok(seen.has(id), id)
    for (const secret of [...hostile, 'acme', 'borealis', 'drives_metrics', acme.clientId]) {
      assert.ok(!text.text.includes(secret), secret)
    }
    assert.doesNotMatch(text.text, /[0-9a-f]{8}-[0-9a-f]{4}-/)
    assert.doesNotMatch(text.text, /operation="other"/)
    for (const [name, family] of Object.entries(families)) {
      const own = text.samples.filter((sample) => sample.name.startsWith(name))
      const max = seriesOf(family, all.length + otherRoutes)
      assert.ok(own.length <= max, `${name}: ${own.length} of ${max}`)
    }
  })
})

/** Routes besides operations: documents, health and OAuth. */
const otherRoutes = 20

const sizes = {
  statuses: statusGuides.length + 7,
  refusals: 18,
  kinds: 6,
  servers: 1,
}

function seriesOf({ type, labels, buckets }: Family, operationsMax: number): number {
  const given = { ...sizes, operations: operationsMax }
  const each = type === 'histogram' ? buckets.length + 3 : 1
  return Object.values(labels)
    .map((values) => (typeof values === 'string' ? given[values] : values.length))
    .reduce((product, size) => product * size, each)
}
