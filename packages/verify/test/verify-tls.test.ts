import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { runProgram } from '../../../test/support/program.ts'
import { systemMs } from '../../../test/support/until.ts'

/** What `verify` says about a certificate, in a process that trusts one more authority. */

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
assert(hasOpenssl || process.env.CI !== 'true', 'openssl is missing: apt-get install openssl')

let folder: string
const at = (name: string): string => join(folder, name)
const openssl = (...words: readonly string[]) =>
  execFileSync('openssl', [...words], { stdio: 'pipe', cwd: folder })

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** An authority, a request for `localhost`, and certificates for it with different faults. */
function certify(): void {
  const authority = ['-subj', '/CN=test authority', '-keyout', 'ca.key', '-out', 'ca.crt']
  openssl('req', '-x509', ...newKey, '-days', '2', ...authority)
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  openssl('req', ...newKey, ...names, '-keyout', 'server.key', '-out', 'server.csr')
  const self = ['-key', 'server.key', '-days', '2', '-out', 'self-signed.crt']
  openssl('req', '-x509', ...self, ...names)
  const now = systemMs()
  sign('valid.crt', now - HOUR_MS, now + HOUR_MS)
  sign('expired.crt', now - 2 * HOUR_MS, now - HOUR_MS)
  sign('early.crt', now + HOUR_MS, now + 2 * HOUR_MS)
}

const HOUR_MS = 3_600_000

function sign(out: string, from: number, until: number): void {
  writeFileSync(at('index.txt'), '')
  writeFileSync(
    at('ca.cnf'),
    `[ca]
default_ca = test
[test]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
copy_extensions = copy
policy = any
[any]
commonName = supplied
`,
  )
  const authority = ['-config', 'ca.cnf', '-cert', 'ca.crt', '-keyfile', 'ca.key']
  const dates = ['-startdate', opensslTime(from), '-enddate', opensslTime(until)]
  openssl('ca', '-batch', '-notext', ...authority, ...dates, '-in', 'server.csr', '-out', out)
}

/** `20261123120000Z` */
const opensslTime = (millis: number): string =>
  `${new Date(millis).toISOString().slice(0, 19).replace(/\D/g, '')}Z`

/** What the command says of a server with the certificate, at a host name. */
async function saidOf(certificate: string, host = 'localhost') {
  const key = readFileSync(at('server.key'))
  const server = createServer({ key, cert: readFileSync(at(certificate)) }, (_, answer) => {
    answer.writeHead(404).end()
  })
  server.listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const words = ['verify', '--target', `https://${host}:${port}`, '--client-id', 'a']
  const env = { NODE_EXTRA_CA_CERTS: at('ca.crt'), VERIFY_CLIENT_SECRET: 'its_secret' }
  const { code, output, errors } = await runProgram(words, { env })
  server.closeAllConnections()
  server.close()
  assert.deepEqual([code, output], [2, ''], errors)
  assert.ok(!errors.includes('its_secret'))
  return errors.replaceAll(String(port), 'PORT')
}

describe('over TLS', { skip: !hasOpenssl }, () => {
  before(() => {
    folder = temporaryFolder()
    certify()
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('a certificate of an authority in NODE_EXTRA_CA_CERTS is trusted', async () => {
    assert.match(await saidOf('valid.crt'), /^there is no token endpoint at https:\S+ \(HTTP 404\)/)
  })

  test('a certificate of an unknown authority is named, with what to set', async () => {
    assert.equal(
      await saidOf('self-signed.crt'),
      'the certificate of localhost:PORT is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); name its authority in NODE_EXTRA_CA_CERTS\n',
    )
  })

  test('a certificate that has expired is named so', async () => {
    assert.equal(
      await saidOf('expired.crt'),
      'the certificate of localhost:PORT has expired (CERT_HAS_EXPIRED); renew it, or correct the clock here\n',
    )
  })

  test('a certificate that is not valid yet is named so', async () => {
    assert.equal(
      await saidOf('early.crt'),
      'the certificate of localhost:PORT is not valid yet (CERT_NOT_YET_VALID); check the clocks of both machines\n',
    )
  })

  test('a certificate for another host is named so', async () => {
    assert.equal(
      await saidOf('valid.crt', '127.0.0.1'),
      'the certificate of 127.0.0.1:PORT is for another name (ERR_TLS_CERT_ALTNAME_INVALID); check the host in the URL\n',
    )
  })
})
