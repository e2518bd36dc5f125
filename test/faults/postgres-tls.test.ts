import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { withPrimary } from '../../packages/postgres/src/cluster/with-primary.ts'
import { callUrl, fetchToken } from '../support/harness.ts'
import { owned, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { addressesOf, execute, openTestDatabase, prepareServer } from '../support/test-database.ts'
import { until } from '../support/until.ts'

/** Runs the program over TLS, against a server with a self-signed certificate. */

let server: PostgresServer
let certificate: string
const masterKey = randomBytes(32).toString('base64')

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
assert(hasOpenssl || process.env.CI !== 'true', 'openssl is missing: apt-get install openssl')

function certify(folder: string): void {
  const made = ['-keyout', join(folder, 'server.key'), '-out', join(folder, 'server.crt')]
  const words = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost']
  const names = ['-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', ['req', ...words, ...names, ...made], { stdio: 'pipe' })
  owned(join(folder, 'server.key'))
  appendFileSync(join(folder, 'postgresql.conf'), '\nssl = on\n')
}

const urlOf = (role: string, sslmode: string): string =>
  `${server.url(role, 'bursar_template').replace('127.0.0.1', 'localhost')}?sslmode=${sslmode}`

const envOf = (sslmode: string, trusted?: string) => ({
  DATABASE_URL: urlOf('bursar', sslmode),
  OPERATOR_DATABASE_URL: urlOf('bursar_operator', sslmode),
  BURSAR_MASTER_KEY: masterKey,
  LOG_LEVEL: 'warn',
  PORT: '0',
  ...(trusted !== undefined && { NODE_EXTRA_CA_CERTS: trusted }),
})

describe('over TLS', { skip: !hasOpenssl }, () => {
  const customerId = 'acme'
  let client: Parameters<typeof fetchToken>[1]

  before(async () => {
    server = await startPostgres()
    certificate = join(server.folder, 'server.crt')
    certify(server.folder)
    await server.kill('SIGINT')
    await server.restart()
    await prepareServer(server)
    const env = envOf('verify-full', certificate)
    const made = await runProgram(
      ['client', 'create', '--customer', customerId, '--name', 'Acme', '--json'],
      { env },
    )
    assert.equal(made.code, 0, made.errors)
    const { client_id: clientId, client_secret: clientSecret } = JSON.parse(made.output)
    client = { customerId, clientId, clientSecret }
  })

  after(() => server.stop())

  test('a password outside ASCII is prepared for SCRAM', async () => {
    const password = 'cafe\u0301\u00ad'
    const rules = join(server.folder, 'pg_hba.conf')
    const rule = 'hostssl all typed all scram-sha-256'
    writeFileSync(rules, `${rule}\n${readFileSync(rules, 'utf8')}`)
    await execute(
      urlOf('postgres', 'require'),
      `create role typed login password '${password}'; select pg_reload_conf()`,
    )
    await execute(urlOf(`typed:${encodeURIComponent(password)}`, 'require'), 'select 1')
    await assert.rejects(execute(urlOf('typed:cafe', 'require'), 'select 1'), /refuses the login/)
  })

  test('import works over TLS', async () => {
    const lines = [1, 2, 3].map((at) =>
      JSON.stringify(aFiatAccount({ id: anId(at), ref_id: `ref-${at} é€😀` })),
    )
    const imported = await runProgram(['import', 'fiat-accounts', '-', '--json'], {
      env: envOf('require'),
      stdin: lines.join('\n'),
    })
    assert.equal(imported.code, 0, imported.errors)
    assert.equal(JSON.parse(imported.output).added, 3)
  })

  test('records have the same bytes as without TLS', async () => {
    const answers: string[][] = []
    for (const [sslmode, trusted] of [
      ['disable', undefined],
      ['require', undefined],
      ['verify-full', certificate],
    ] as const) {
      const program = startProgram(['serve', '--json'], {
        env: envOf(sslmode, trusted),
      })
      const { url } = JSON.parse(await program.firstLine)
      const token = await fetchToken(url, client)
      const paths = [`/${anId(1)}`, '?limit=2', '?limit=100', `?ids=${anId(3)}`]
      const bodies: string[] = []
      for (const path of paths) {
        const { status, text } = await callUrl(`${url}/v2/transfer/fiat-accounts${path}`, { token })
        assert.equal(status, 200, text)
        bodies.push(text.replace(/"next_page_cursor":"[^"]+"/, '"next_page_cursor":"…"'))
      }
      answers.push(bodies)
      const encrypted = await areEncrypted()
      assert.deepEqual(encrypted, sslmode === 'disable' ? ['f'] : ['t'], sslmode)
      assert.equal(await program.kill(), 0)
    }
    const [plain, required, verified] = answers
    assert.deepEqual(required, plain)
    assert.deepEqual(verified, plain)
  })

  test('a stopped server is a 503 and is found again', async () => {
    const program = startProgram(['serve', '--json'], { env: envOf('require') })
    const { url } = JSON.parse(await program.firstLine)
    const token = await fetchToken(url, client)
    const statusOf = async () => {
      const answer = await callUrl(`${url}/v2/transfer/fiat-accounts/${anId(1)}`, { token })
      return answer.status
    }
    await Promise.all(Array.from({ length: 20 }, async () => assert.equal(await statusOf(), 200)))
    await server.kill('SIGKILL')
    assert.equal(await statusOf(), 503)
    await server.restart()
    await until(async () => (await statusOf()) === 200)
    assert.equal(await program.kill(), 0, program.errors())
  })

  test('a server without TLS is reported', async () => {
    const plain = await openTestDatabase()
    const env = { ...envOf('require'), DATABASE_URL: `${plain.url}?sslmode=require` }
    const { code, errors } = await runProgram(['serve'], { env })
    await plain.drop()
    assert.equal(code, 1)
    assert.match(
      errors,
      /^no primary: .*: the server offers no TLS; set up TLS on it, or add \?sslmode=disable to the URL\n$/,
    )
  })

  test('verify-full refuses a certificate of another host', async () => {
    const env = envOf('verify-full', certificate)
    const url = env.DATABASE_URL.replace('localhost', '127.0.0.1')
    const { code, errors } = await runProgram(['serve'], { env: { ...env, DATABASE_URL: url } })
    assert.equal(code, 1)
    assert.match(errors, /^no primary: .*: its certificate is not valid \(ERR_TLS_CERT_ALTNAME/)
  })

  test('verify-full refuses an untrusted certificate', async () => {
    const { code, errors } = await runProgram(['serve'], { env: envOf('verify-full') })
    assert.equal(code, 1)
    assert.match(
      errors,
      /^no primary: .*: its certificate is not valid \(.*SELF_SIGNED.*\); NODE_EXTRA_CA_CERTS names an authority of your own\n$/,
    )
  })
})

/** The distinct values of `ssl` over the sessions of the customers' role. */
async function areEncrypted(): Promise<string[]> {
  const rows = await withPrimary(addressesOf(server.url('postgres', 'postgres')), (session) =>
    session.query({
      text: `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'bursar'`,
    }),
  )
  return rows.map(([ssl]) => String(ssl))
}
