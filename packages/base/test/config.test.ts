import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { ConfigError, loadConfig } from '../src/config.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

function faultsOf(env: Readonly<Record<string, string>>, file?: string): string[] {
  try {
    loadConfig({ env, file })
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message.split('\n')
  }
}

test('flags override the environment, the environment the file, and the file the defaults', () => {
  const file = join(folder, 'good.json')
  writeFileSync(file, JSON.stringify({ port: 1, host: '127.0.0.2', logLevel: 'warn' }))
  const config = loadConfig({ flags: { port: '3' }, env: { PORT: '2', HOST: '127.0.0.3' }, file })
  assert.deepEqual(
    [config.port, config.host, config.logLevel, config.tokenLifeSeconds],
    [3, '127.0.0.3', 'warn', 900],
  )
})

test('a setting that the file names twice is a fault', () => {
  const file = join(folder, 'twice.json')
  writeFileSync(file, '{"port": 1, "port": 2}')
  assert.deepEqual(faultsOf({}, file), [`${file} has port twice`])
})

test('a ConfigError names every fault and its source', () => {
  const file = join(folder, 'bad.json')
  writeFileSync(file, JSON.stringify({ prot: 1, tokenLifeSeconds: 5 }))
  const env = {
    DATABASE_URL: 'mysql://x',
    PORT: 'http',
    BURSAR_MASTER_KEY: 'short',
    BURSAR_TRUSTED_PROXIES: '10.0.0.0/33',
    BURSAR_CORS_ORIGINS: 'https://app.example.com/path',
  }
  assert.deepEqual(faultsOf(env, file), [
    `${file} has prot, which is not a setting; did you mean port?`,
    'DATABASE_URL must start with sqlite: or postgres://, as in sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    'PORT must be a whole number from 0 to 65535',
    'BURSAR_MASTER_KEY must be 32 bytes in base64; make one with `openssl rand -base64 32`',
    'BURSAR_CORS_ORIGINS must be a list of origins such as https://app.example.com',
    'BURSAR_TRUSTED_PROXIES must be a list of IP addresses or CIDR ranges',
    'tokenLifeSeconds in the configuration file must be a whole number from 60 to 3600',
  ])
})

test('a store in memory and a file as a URI are refused with what to write', () => {
  for (const url of ['sqlite::memory:', 'sqlite:file:data/bursar.db', 'sqlite:file::memory:']) {
    assert.deepEqual(faultsOf({ DATABASE_URL: url }), [
      'DATABASE_URL must name a file by its path alone; write sqlite:PATH, without file: or :memory:',
    ])
  }
})

test('a configuration file that exists but cannot be read is a fault', () => {
  const file = join(folder, 'folder.json')
  mkdirSync(file)
  assert.deepEqual(faultsOf({}, file), [`${file} cannot be read: it is a folder`])
  assert.deepEqual(faultsOf({}, join(folder, 'none.json')), [
    `${join(folder, 'none.json')} cannot be read: there is no such file`,
  ])
  assert.deepEqual(faultsOf({}, '/dev/zero'), ['/dev/zero has more than 1048576 bytes'])
})

test('a public URL must name a host that callers can connect to', () => {
  const hosts = {
    '0.0.0.0': '0.0.0.0',
    '0': '0.0.0.0',
    '[::]': '::',
    '[::ffff:0.0.0.0]': '::ffff:0:0',
  }
  for (const [host, shown] of Object.entries(hosts)) {
    assert.deepEqual(faultsOf({ BURSAR_PUBLIC_URL: `http://${host}:8080` }), [
      `BURSAR_PUBLIC_URL must name a host that callers can connect to, and ${shown} is every address`,
    ])
  }
  for (const host of ['127.0.0.1', '[::1]', 'api.example.com', '10.0.0.0']) {
    assert.deepEqual(faultsOf({ BURSAR_PUBLIC_URL: `http://${host}:8080` }), [], host)
  }
})

test('a public URL has no query and no fragment, also not an empty one before a slash', () => {
  for (const url of ['http://a.example?/', 'http://a.example/#/', 'http://a.example/?x=1']) {
    assert.deepEqual(
      faultsOf({ BURSAR_PUBLIC_URL: url }),
      ['BURSAR_PUBLIC_URL must be an http or https URL without a query'],
      url,
    )
  }
})

test('a misspelt variable or key is a fault that names the setting that was meant', () => {
  const file = join(folder, 'misspelt.json')
  writeFileSync(file, JSON.stringify({ BURSAR_WORKERS: 2, publicURL: 'x', colour: 'red' }))
  const env = {
    BURSAR_PUBLC_URL: 'https://api.example.com',
    BURSAR_TRUSTED_PROXY: '10.0.0.1',
    BURSAR_PROXIES: '10.0.0.1',
    DATABASE_READ_URL: 'x',
    OPERATOR_DATABASE_URI: 'x',
  }
  assert.deepEqual(faultsOf(env, file), [
    `${file} has BURSAR_WORKERS, which is not a setting; did you mean workers?`,
    `${file} has publicURL, which is not a setting; did you mean publicUrl?`,
    `${file} has colour, which is not a setting`,
    'BURSAR_PUBLC_URL is not a setting; did you mean BURSAR_PUBLIC_URL?',
    'BURSAR_TRUSTED_PROXY is not a setting; did you mean BURSAR_TRUSTED_PROXIES?',
    'BURSAR_PROXIES is not a setting; did you mean BURSAR_TRUSTED_PROXIES?',
    'DATABASE_READ_URL is not a setting; did you mean DATABASE_READ_URLS?',
    'OPERATOR_DATABASE_URI is not a setting; did you mean OPERATOR_DATABASE_URL?',
  ])
})

test('the prefix before the name of a setting without one is a fault with the right name', () => {
  const variables = {
    BURSAR_HOST: 'HOST',
    BURSAR_PORT: 'PORT',
    BURSAR_LOG_LEVEL: 'LOG_LEVEL',
    BURSAR_DATABASE: 'DATABASE_URL',
    BURSAR_DATABASE_URL: 'DATABASE_URL',
    BURSAR_DATABASE_READ_URLS: 'DATABASE_READ_URLS',
    BURSAR_OPERATOR_DATABASE_URL: 'OPERATOR_DATABASE_URL',
  }
  for (const [name, meant] of Object.entries(variables)) {
    const faults = [`${name} is not a setting; its variable is ${meant}`]
    assert.deepEqual(faultsOf({ [name]: '8080' }), faults)
  }
  const misspelt = { BURSAR_HOSTS: 'HOST', BURSAR_DATABASE_URI: 'DATABASE_URL' }
  for (const [name, meant] of Object.entries(misspelt)) {
    const faults = [`${name} is not a setting; did you mean ${meant}?`]
    assert.deepEqual(faultsOf({ [name]: '8080' }), faults)
  }
  const port = ['BURSAR_OPERATER_PORT is not a setting; did you mean BURSAR_OPERATOR_PORT?']
  assert.deepEqual(faultsOf({ BURSAR_OPERATER_PORT: '9090' }), port)
})

test('a variable of another program or of Kubernetes is no fault', () => {
  const env = {
    BURSAR_SERVICE_HOST: '10.0.0.1',
    BURSAR_SERVICE_PORT: '8080',
    BURSAR_SERVICE_PORT_HTTP: '8080',
    BURSAR_API_SERVICE_HOST: '10.0.0.1',
    BURSAR_API_PORT: 'tcp://10.0.0.1:8080',
    BURSAR_PORT: 'tcp://10.0.0.1:8080',
    BURSAR_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
    BURSAR_PORT_8080_TCP_PORT: '8080',
    BURSAR_PORT_8080_TCP_ADDR: '10.0.0.1',
    BURSAR_NODE_TOKEN: 'x',
    BURSAR_TEST_STORE: 'postgres',
    DATABASE_NAME: 'x',
  }
  assert.deepEqual(faultsOf(env), [])
})

test('a file with thousands of unknown keys has a hundred faults and a count', () => {
  const file = join(folder, 'wide.json')
  const keys = Array.from({ length: 5000 }, (_, at) => [`colour${at}\u001b[2J`, at])
  writeFileSync(file, JSON.stringify(Object.fromEntries(keys)))
  const faults = faultsOf({}, file)
  assert.equal(faults[0], `${file} has colour0\\u{1b}[2J, which is not a setting`)
  assert.deepEqual([faults.length, faults.at(-1)], [101, 'and 4900 more'])
})

test('a file that is not JSON is reported without what stands in it', () => {
  const file = join(folder, 'broken.json')
  writeFileSync(file, '{"masterKey": canary-secret}')
  const [fault = ''] = faultsOf({}, file)
  assert.ok(fault.startsWith(`${file} is not JSON: `) && !fault.includes('canary'), fault)
})

test('no fault quotes a secret', () => {
  assert.ok(!faultsOf({ BURSAR_MASTER_KEY: 'canary-secret' }).join().includes('canary'))
})
