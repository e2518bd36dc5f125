import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { openMovableClock } from '@bursar/base'
import { type Family, families } from '../../packages/base/src/metrics/families.ts'
import { retryWhileLocked } from '../../packages/sqlite/src/locks.ts'
import { describeService } from '../support/describe-service.ts'
import { type TestService, temporaryFolder } from '../support/harness.ts'
import { type MetricsText, readMetrics, type Sample } from '../support/metrics-text.ts'
import { promtool, promtoolIsMissing } from '../support/promtool.ts'
import { flipped } from '../support/test-sealing.ts'
import { until } from '../support/until.ts'
import { passTime } from '../support/virtual-time.ts'

/**
 * Each test causes the condition of an alert on a running service. What the service then says of
 * itself is given to the rules, as Prometheus would have read it: ten minutes of what it said
 * before, and then what it says now. What is counted goes on as between the last two readings.
 */

const rules = 'examples/alerts.yaml'
const accounts = '/v2/transfer/fiat-accounts'
const options = { store: 'sqlite', env: { BURSAR_OPERATOR_PORT: '0' } } as const

describe('the five alerts', { skip: promtoolIsMissing }, () => {
  test('are the rules of Prometheus, and docs/alerts.md shows each of them', () => {
    const checked = execFileSync(promtool, ['check', 'rules', rules]).toString()
    assert.match(checked, /SUCCESS: 5 rules found/)
    const file = readFileSync(rules, 'utf8')
    const names = [...file.matchAll(/- alert: (\w+)$/gm)].map(([, name = '']) => name)
    const text = readFileSync('docs/alerts.md', 'utf8')
    const sections = text.split('\n## ').slice(1)
    const told = sections.filter((section) => section.startsWith('Bursar'))
    assert.deepEqual(
      told.map((section) => section.split('\n')[0]),
      names,
    )
    for (const section of told) {
      const [, promql = ''] = /```promql\n(.*?)```/s.exec(section) ?? []
      assert.ok(plain(file).includes(`expr:${plain(promql)}`), section)
    }
    for (const [, anchor = ''] of file.matchAll(/runbook: docs\/alerts\.md#(\w+)/g)) {
      assert.ok(
        told.some((section) => section.toLowerCase().startsWith(`${anchor}\n`)),
        anchor,
      )
    }
  })

  test('are loaded by the configuration of docs/alerts.md', () => {
    const [, config = ''] =
      /```yaml\n(rule_files:.*?)```/s.exec(readFileSync('docs/alerts.md', 'utf8')) ?? []
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'prometheus.yaml'), config)
    writeFileSync(join(folder, 'alerts.yaml'), readFileSync(rules))
    const checked = execFileSync(promtool, ['check', 'config', join(folder, 'prometheus.yaml')])
    assert.match(checked.toString(), /5 rules found/)
  })

  describe('BursarDown', () => {
    const service = describeService(options)
    test('fires once the operator’s port answers no more', async () => {
      const before = await said(service)
      const url = `${service.operatorUrl}/metrics`
      await service.stop()
      // Prometheus sets `up` to 0 where it cannot read.
      await assert.rejects(fetch(url), TypeError)
      assertFires({ before, during: down, after: down }, ['BursarDown'])
    })
  })

  describe('BursarFailing', () => {
    const service = describeService(options)
    const statuses = async (requests: number) => {
      const calls = Array.from({ length: requests }, () => service.call(accounts))
      return new Set((await Promise.all(calls)).map(({ status }) => status))
    }
    /** Requests of the operator’s port are not measured. */
    const untilReadyIs = (status: number) =>
      until(async () => (await fetch(`${service.operatorUrl}/readyz`)).status === status)
    const file = () => service.place.commandUrl.slice('sqlite:'.length)
    const lose = async () => {
      renameSync(file(), `${file()}.lost`)
      await untilReadyIs(503)
    }
    const putBack = async () => {
      renameSync(`${file()}.lost`, file())
      await untilReadyIs(200)
    }

    test('fires when the file of the store disappears under the server', async () => {
      assert.deepEqual(await statuses(3), new Set([200]))
      const before = await said(service)
      await lose()
      assert.deepEqual(await statuses(1), new Set([503]))
      const during = await said(service)
      assert.deepEqual(await statuses(2), new Set([503]))
      const after = await said(service)
      await putBack()
      assertFires({ before, during, after }, ['BursarFailing'])
    })

    test('does not fire for a few failures that are over', async () => {
      const before = await said(service)
      await lose()
      assert.deepEqual(await statuses(3), new Set([503]))
      await putBack()
      const during = await said(service)
      assert.deepEqual(await statuses(2), new Set([200]))
      const after = await said(service)
      assertFires({ before, during, after }, [])
    })
  })

  describe('BursarSlow', () => {
    const service = describeService({ ...options, control: openMovableClock() })
    test('fires when requests take longer than half a second', async () => {
      assert.equal((await service.call(accounts)).status, 200)
      const before = await said(service)
      const fault = { customer_id: 'acme', kind: 'delay', delay_ms: 600, times: 4 }
      const created = await service.call('/sandbox/faults', {
        as: null,
        method: 'POST',
        body: JSON.stringify(fault),
      })
      assert.equal(created.status, 201, created.text)
      const readTwice = async () => {
        const calls = [service.call(accounts), service.call(accounts)]
        for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
        return await said(service)
      }
      const [during, after] = [await readTwice(), await readTwice()]
      assertFires({ before, during, after }, ['BursarSlow'])
    })
  })

  describe('BursarSourceStale', () => {
    const service = describeService(options)
    test('fires before requests are refused because the credentials are too old', async () => {
      const { oauth } = service.parts
      await oauth.refresh()
      const before = await said(service)
      let after = before
      // The credentials may be read again while the metrics are.
      await until(async () => {
        await oauth.refresh()
        passTime(50_000)
        after = await said(service)
        return after.sum('bursar_source_age_seconds', { source: 'credentials' }) >= 50
      })
      assert.equal((await service.call(accounts)).status, 200)
      assertFires({ before, during: after, after }, ['BursarSourceStale'])
    })
  })

  describe('BursarDamaged', () => {
    const service = describeService(options)
    test('fires when a read finds a damaged record', async () => {
      const path = `${accounts}/11111111-1111-4111-8111-111111111111`
      assert.equal((await service.call(path)).status, 200)
      const before = await said(service)
      const db = new DatabaseSync(service.place.commandUrl.slice('sqlite:'.length))
      await retryWhileLocked(() => db.exec(`update fiat_account_full set ${flipped('body')}`))
      db.close()
      assert.equal((await service.call(path)).status, 503)
      const after = await said(service)
      assert.ok(after.sum('bursar_damaged_records', { kind: 'fiat-accounts' }) > 0)
      assertFires({ before, during: after, after }, ['BursarDamaged'])
    })
  })
})

const plain = (text: string): string => text.replaceAll(/[\s|]+/g, '')

type Said = Pick<MetricsText, 'samples' | 'sum'>

/** What Prometheus reads from the service. */
async function said({ operatorUrl }: TestService): Promise<Said> {
  const { samples, sum } = await readMetrics(operatorUrl)
  return { samples: [...samples, { name: 'up', labels: {}, value: 1 }], sum }
}

const down: Said = { samples: [{ name: 'up', labels: {}, value: 0 }], sum: () => 0 }

type Times = { readonly before: Said; readonly during: Said; readonly after: Said }

/** Ten minutes of `before`, then seven of the condition. Compares the names of all that fire. */
function assertFires(times: Times, names: readonly string[]): void {
  const firing = names.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }))
  const expr = 'max by (alertname) (ALERTS{alertstate="firing"})'
  const tests = {
    rule_files: [resolve(rules)],
    evaluation_interval: '15s',
    tests: [
      {
        interval: '15s',
        input_series: seriesOf(times),
        promql_expr_test: [
          { expr, eval_time: '10m', exp_samples: [] },
          { expr, eval_time: '17m', exp_samples: firing },
        ],
      },
    ],
  }
  const file = join(temporaryFolder(), 'test.json')
  writeFileSync(file, JSON.stringify(tests))
  execFileSync(promtool, ['test', 'rules', file], { stdio: 'pipe' })
}

function seriesOf({ before, during, after }: Times) {
  const valuesOf = ({ samples }: Said) =>
    new Map(samples.map((sample) => [keyOf(sample), sample.value]))
  const [first, second, third] = [valuesOf(before), valuesOf(during), valuesOf(after)]
  return [...new Set([...first.keys(), ...third.keys()])].map((series) => {
    const [was, is] = [second.get(series), third.get(series)]
    const isCounted = /^\w+_(total|bucket|sum|count)\{/.test(series)
    const more = isCounted ? (is ?? 0) - (was ?? 0) : 0
    const values = [
      first.has(series) ? `${first.get(series)}x40` : '_x41',
      was ?? '_',
      is === undefined ? '_x30' : `${is}+${more}x29`,
    ]
    return { series, values: values.join(' ') }
  })
}

const keyOf = ({ name, labels }: Sample): string => {
  const all = { ...labels, job: 'bursar', instance: '127.0.0.1:8081' }
  return `${name}{${Object.entries(all).map(([label, value]) => `${label}="${value}"`)}}`
}

describe('examples/grafana.json', () => {
  const dashboard = JSON.parse(readFileSync('examples/grafana.json', 'utf8'))
  const queries: readonly string[] = dashboard.panels.flatMap(
    ({ targets = [] }: { targets?: { expr: string }[] }) => targets.map(({ expr }) => expr),
  )

  /** A histogram has three names. */
  const existing = new Set(
    Object.entries<Family>(families).flatMap(([name, { type }]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
    ),
  )
  const queried = new Set(
    queries.flatMap((query) => query.match(/\b(?:bursar|http|nodejs|db)_[a-z0-9_]+/g) ?? []),
  )
  // Labels have the same first word.
  const labels = new Set(
    Object.values<Family>(families).flatMap((each) => Object.keys(each.labels)),
  )

  test('asks for metrics that exist, and for each family', () => {
    assert.ok(queries.length > 0)
    for (const name of queried) assert.ok(existing.has(name) || labels.has(name), name)
    for (const name of Object.keys(families)) {
      assert.ok(
        [...queried].some((each) => each.startsWith(name)),
        name,
      )
    }
  })

  test('asks for labels that the family has', () => {
    const known = new Set([...labels, 'le', 'job', 'instance'])
    for (const query of queries) {
      for (const [, list = ''] of query.matchAll(/by \(([^)]*)\)/g)) {
        for (const label of list.split(/, */)) assert.ok(known.has(label), `${label}: ${query}`)
      }
    }
  })

  test('is PromQL', { skip: promtoolIsMissing }, () => {
    const file = join(temporaryFolder(), 'queries.json')
    const recorded = queries.map((query, at) => ({
      record: `query:${at}`,
      expr: query.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }))
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
    const checked = execFileSync(promtool, ['check', 'rules', file]).toString()
    assert.match(checked, new RegExp(`SUCCESS: ${queries.length} rules found`))
  })
})
