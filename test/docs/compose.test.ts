import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { loadConfig, readPostgresUrl } from '@bursar/base'
import { parse } from 'yaml'

/** examples/compose.yaml is not run by any test: its images are those of others. */

type Service = {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, object>>
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
}

const text = readFileSync('examples/compose.yaml', 'utf8')
const { services, volumes }: { services: Readonly<Record<string, Service>>; volumes: object } =
  parse(text, { merge: true })
const ours = Object.entries(services).filter(([, { image }]) => image.includes('BURSAR_IMAGE'))

/** As the composer expands it: a required variable, and a default. */
const expanded = (value: string): string =>
  value
    .replace(/\$\{BURSAR_MASTER_KEY:\?\}/, Buffer.alloc(32, 1).toString('base64'))
    .replaceAll(/\$\{DATABASE_PASSWORD:\?\}/g, 'password')

test('examples/compose.yaml has a primary, a standby, two servers and Prometheus, and says that it is not run', () => {
  assert.deepEqual(
    ['primary', 'standby', 'migrate', 'server-one', 'server-two', 'prometheus'],
    Object.keys(services),
  )
  assert.match(text, /They do not run it, because/)
  for (const [name, { depends_on = {}, volumes: mounts = [] }] of Object.entries(services)) {
    for (const other of Object.keys(depends_on)) assert.ok(other in services, `${name}: ${other}`)
    for (const [, source = ''] of mounts.map((mount) => mount.match(/^([^:]+):/) ?? [])) {
      const isThere = source.startsWith('./') ? existsSync(`examples/${source}`) : source in volumes
      assert.ok(isThere, `${name}: ${source}`)
    }
  }
})

test('the servers of examples/compose.yaml have settings that the program takes, and a read-only root', () => {
  assert.deepEqual(
    ours.map(([name]) => name),
    ['migrate', 'server-one', 'server-two'],
  )
  for (const [name, { environment = {}, read_only, cap_drop }] of ours) {
    const env = Object.fromEntries(
      Object.entries(environment).map(([variable, value]) => [variable, expanded(value)]),
    )
    const config = loadConfig({ env, file: null })
    assert.doesNotMatch(JSON.stringify(env), /\$\{/)
    assert.deepEqual([read_only, cap_drop], [true, ['ALL']], name)
    // Its PostgreSQL has no certificate, which another machine would have to show by default.
    const urls = [config.databaseUrl, config.operatorDatabaseUrl ?? '', ...config.databaseReadUrls]
    const hosts = urls.flatMap((url) => readPostgresUrl(url) ?? [])
    assert.equal(hosts.length, name === 'migrate' ? 1 : 5)
    for (const { label, credentials } of hosts) {
      assert.equal(credentials.ssl, false, label)
      assert.ok((label.split(':')[0] ?? '') in services, label)
    }
  }
})

test('Prometheus of examples/compose.yaml asks the operator’s port of both servers', () => {
  const prometheus = parse(readFileSync('examples/prometheus.yml', 'utf8'))
  const asked = prometheus.scrape_configs.flatMap(
    (job: { static_configs: readonly { targets: readonly string[] }[] }) =>
      job.static_configs.flatMap(({ targets }) => targets),
  )
  const served = ours
    .filter(([name]) => name.startsWith('server'))
    .map(([name, { environment }]) => `${name}:${environment?.BURSAR_OPERATOR_PORT}`)
  assert.deepEqual(asked, served)
  const mounted = services.prometheus?.volumes?.map((mount) => mount.split(':')[1])
  for (const file of prometheus.rule_files) assert.ok(mounted?.includes(`/etc/prometheus/${file}`))
})
