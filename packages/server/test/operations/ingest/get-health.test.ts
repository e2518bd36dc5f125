import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseInstant } from '@bursar/base'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { callUrl } from '../../../../../test/support/harness.ts'
import { importInPart } from '../../../../../test/support/import-in-part.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { testStore } from '../../../../../test/support/test-database.ts'
import { until } from '../../../../../test/support/until.ts'
import { importsCheck } from '../../../src/documents/readiness.ts'

type Job = Readonly<Record<string, string>> & { readonly name: string; readonly of?: string }

const service = describeService({ env: { BURSAR_OPERATOR_PORT: '0' } })

const jobsOfStore = {
  sqlite: ['check-store-files', 'empty-write-ahead-log'],
  postgres: ['customers', 'credentials', 'operator', 'ingest'].map(
    (role) => `check-database-servers ${role}`,
  ),
}

test('names each job of the process that answers, and when it ran last', async () => {
  const token = await operatorToken(service, 'watch', ['ingest:read_health'])
  const health = () => service.call('/ingest/v1/health', { token })
  // PostgreSQL notifies the process of the new client, so a run may go on, or begin at any moment.
  const betweenRuns = async (): Promise<Job> => {
    let found: Job | undefined
    await until(async () => {
      found = (await health()).body.jobs[0]
      return found?.running_since === undefined
    })
    assert(found !== undefined)
    return found
  }
  const { status, body } = await health()
  assert.equal(status, 200)
  assert.equal(body.pid, process.pid)
  assert.deepEqual(
    body.jobs.map(({ name, of }: Job) => (of === undefined ? name : `${name} ${of}`)),
    [
      'read-credentials',
      'sweep-fee-quotes',
      'forget-imports',
      'report-audit',
      'compare-records',
      ...(testStore === 'sqlite' ? ['check-tables'] : []),
      ...jobsOfStore[testStore],
      'close-untaken-answers operator',
      'close-untaken-answers customers',
      'announce-consumed-fees',
      'measure-service',
    ],
  )
  const { ran_at: ranAt = '', next_at: nextAt = '', took_ms: tookMs, ...job } = await betweenRuns()
  assert.deepEqual(job, { name: 'read-credentials', every_s: 2, status: 'ok' })
  const [ran, next] = [ranAt, nextAt].map((text) => parseInstant(text)?.micros ?? 0n)
  const now = service.parts.clock()
  assert.ok(ran && next && ran <= now && now - ran < 3_600_000_000n, ranAt)
  assert.ok(next - ran >= 2_000_000n, nextAt)
  assert.ok(Number.isInteger(tookMs))
})

test('shows that an import of the last hour was stored in part, and stays ready', async () => {
  const token = await operatorToken(service, 'importer', ['ingest:read_health'])
  const imports = async () => {
    const { body } = await service.call('/ingest/v1/health', { token })
    return body.checks.imports
  }
  const { status, stored_in_part: none, ...before } = await imports()
  assert.deepEqual([status, none], ['ok', undefined])
  await importInPart(service.parts.store)
  assert.deepEqual(await imports(), {
    ...before,
    status: 'degraded',
    reason: 'in the last hour: 1 import stored in part',
    stored_in_part: 1,
  })
  assert.equal((await callUrl(`${service.operatorUrl}/readyz`, {})).status, 200)
})

test('does not take a process for failed whose rows of imports cannot be read', async () => {
  const { check } = importsCheck({ count: () => Promise.reject(new Error('no store')) })
  assert.deepEqual(await check(), { status: 'unavailable', reason: 'the rows cannot be read' })
})

test('shows no job in the public answer', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const { body } = await service.call(path, { as: null })
    assert.deepEqual(Object.keys(body), ['status'], path)
  }
  assert.equal((await service.call('/ingest/v1/health')).status, 403)
})

test('counts the requests of callers by minute, and no health checks', async () => {
  const token = await operatorToken(service, 'counter', ['ingest:read_health'])
  const sum = async () => {
    const { body } = await service.call('/ingest/v1/health', { token })
    return body.requests.minutes.reduce(
      (all: number, { count }: { readonly count: number }) => all + count,
      0,
    )
  }
  const before = await sum()
  assert.ok(before > 0)
  for (const path of ['/healthz', '/readyz']) await service.call(path, { as: null })
  await service.call('/v2/transfer/fiat-accounts')
  // The call that answers is counted once it was answered.
  assert.equal(await sum(), before + 2)
})
