import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Registry } from '@prometheus-io/client'
import fc from 'fast-check'
import { parseMetrics } from '../../../test/support/metrics-text.ts'
import { type Family, type FamilyName, families, type GivenList } from '../src/metrics/families.ts'
import { type OpenMetrics, openMetrics } from '../src/metrics/open-metrics.ts'

const given = {
  operations: () => ['readOne', 'readAll'],
  statuses: () => ['200', '404'],
  refusals: () => ['expired'],
  kinds: () => ['statements'],
} satisfies Readonly<Record<GivenList, () => readonly string[]>>

const names = Object.keys(families).filter((name): name is FamilyName => name in families)
const read = async ({ registry }: Pick<OpenMetrics, 'registry'>) =>
  parseMetrics(await registry.metrics())

/** Records a value of a family with any labels, as a caller without types could. */
function record(metrics: OpenMetrics, name: FamilyName, labels: Readonly<Record<string, string>>) {
  const { type }: Family = families[name]
  const loose = metrics as unknown as Record<
    'count' | 'observe' | 'gauge',
    (name: string, labels: unknown, value?: number) => void
  >
  if (type === 'counter') loose.count(name, labels)
  else if (type === 'histogram') loose.observe(name, labels, 0.01)
  else loose.gauge(name, () => [[labels, 1]])
}

/** The labels whose values the compiler cannot check. */
const openLabels = ({ labels }: Family) =>
  Object.entries(labels).filter(([, values]) => typeof values === 'string')

test('docs/running.md has a row for every family, with its labels', () => {
  const [, section = ''] = readFileSync('docs/running.md', 'utf8').split('\n## Metrics\n')
  const [table = ''] = section.split('\n## ')
  const rows = table.match(/^\| `[a-z_0-9]+` .*$/gm) ?? []
  const told = rows
    .map((row) => row.split(' | ').map((cell) => cell.replaceAll(/[|` ]/g, '')))
    .filter(([name = '']) => name in families)
  assert.deepEqual(
    told.map(([name, labels]) => [name, labels]),
    names.map((name) => [name, Object.keys(families[name].labels).join(',')]),
  )
})

describe('metrics', () => {
  test('have no more series than declared, whatever the values of their labels are', async () => {
    const values = fc.oneof(fc.string(), fc.uuid(), fc.constantFrom('200', 'readOne', '__proto__'))
    for (const name of names) {
      const family: Family = families[name]
      const metrics = openMetrics(given)
      const closed = Object.entries(family.labels).flatMap(([label, values]) =>
        typeof values === 'string' ? [] : [[label, fc.constantFrom(...values)] as const],
      )
      const open = openLabels(family).map(([label]) => [label, values] as const)
      const anyLabels = fc.record(Object.fromEntries([...closed, ...open]))
      for (const labels of fc.sample(anyLabels, { numRuns: 500, seed: 7 })) {
        record(metrics, name, labels)
      }
      const own = (await read(metrics)).samples.filter((sample) => sample.name.startsWith(name))
      assert.ok(own.length > 0, name)
      assert.ok(own.length <= metrics.seriesMax(name), `${name}: ${own.length}`)
    }
  })

  test('count a value that is not declared as `other`', async () => {
    const metrics = openMetrics(given)
    metrics.count('bursar_tokens_refused_total', { reason: 'expired' })
    metrics.count('bursar_tokens_refused_total', { reason: 'eyJhbGciOiJFUzI1NiJ9' })
    metrics.count('bursar_tokens_refused_total', { reason: 'acme' }, 2)
    const { samples } = await read(metrics)
    assert.deepEqual(samples, [
      { name: 'bursar_tokens_refused_total', labels: { reason: 'expired' }, value: 1 },
      { name: 'bursar_tokens_refused_total', labels: { reason: 'other' }, value: 3 },
    ])
  })

  test('add what several readers of a gauge say, until they end', async () => {
    const metrics = openMetrics(given)
    const kind = 'statements'
    const ends = [2, 3].map((count) =>
      metrics.gauge('bursar_damaged_records', () => [[{ kind }, count]]),
    )
    const damaged = async () => (await read(metrics)).sum('bursar_damaged_records', { kind })
    assert.equal(await damaged(), 5)
    ends[0]?.()
    assert.equal(await damaged(), 3)
    ends[1]?.()
    assert.equal(await damaged(), 0)
  })

  test('do not show a gauge that nobody reads', async () => {
    const { families: shown } = await read(openMetrics(given))
    assert.ok(shown.includes('bursar_kept_pages_total'))
    assert.ok(!shown.includes('bursar_open_quotes'))
  })

  test('of several workers are added, and those of their one store are not', async () => {
    const workers = [1, 3].map((count) => {
      const metrics = openMetrics(given)
      const labels = { operation: 'readOne', status: '200' }
      metrics.observe('http_server_request_duration_seconds', labels, count)
      metrics.count('bursar_kept_pages_total', { result: 'hit' }, count)
      metrics.gauge('bursar_open_quotes', () => [[{}, count]])
      metrics.gauge('db_client_connection_pending_requests', () => [
        [{ db_client_connection_pool_name: 'customers' }, count],
      ])
      return metrics.registry.getMetricsAsJSON()
    })
    // As one process sends them to another.
    const sent = JSON.parse(JSON.stringify(await Promise.all(workers)))
    const merged = parseMetrics(await Registry.aggregate(sent).metrics())
    assert.equal(merged.sum('http_server_request_duration_seconds_count'), 2)
    assert.equal(merged.sum('http_server_request_duration_seconds_sum'), 4)
    assert.equal(merged.sum('http_server_request_duration_seconds_bucket', { le: '1' }), 1)
    assert.equal(merged.sum('bursar_kept_pages_total', { result: 'hit' }), 4)
    assert.equal(merged.sum('bursar_open_quotes'), 3)
    assert.equal(merged.sum('db_client_connection_pending_requests'), 4)
  })
})
