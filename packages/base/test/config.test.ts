import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
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

test('a file is read behind a byte order mark, and another encoding is refused by its name', () => {
  const file = join(folder, 'encoded.json')
  writeFileSync(file, '\ufeff{"port": 1}')
  assert.equal(loadConfig({ env: {}, file }).port, 1)
  const utf16 = Buffer.from('\ufeff{"port": 1}', 'utf16le')
  for (const [bytes, fault] of [
    [utf16, 'is UTF-16; save it as UTF-8'],
    [Buffer.from(utf16).swap16(), 'is UTF-16; save it as UTF-8'],
    [Buffer.from('{"host": "bücher"}', 'latin1'), 'is not UTF-8; save it as UTF-8'],
  ] as const) {
    writeFileSync(file, bytes)
    assert.deepEqual(faultsOf({}, file), [`${file} ${fault}`])
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

test('a URL that a parser would mend is a fault that says what to change', () => {
  const place = 'has a host or a port that a URL parser changes'
  const path = 'has a path or a query that a URL parser changes'
  const mended: Readonly<Record<string, string>> = {
    'https://a.example\r':
      'has the invisible character U+000D, as a file with Windows line ends leaves; take it out',
    'https://a.exa\tmple': 'has the invisible character U+0009; take it out',
    '\u0000https://a.example': 'has the invisible character U+0000; take it out',
    'https://a.example\u200b': 'has the invisible character U+200B; take it out',
    ' https://a.example': 'begins or ends with a blank; take it out',
    'https:\\\\a.example': 'has a \\; write / instead',
    'https:/a.example': 'must be a URL such as',
    'HTTPS://a.example': 'must be a URL such as',
    'https://a.example:': place,
    'https://a.example:0443': place,
    'https://a%2eexample': place,
    'https://a\u00ad.example': place,
    'http://127.1': place,
    'http://0x7f000001': place,
    'https://a.example/x/../y': path,
    'https://a.example/a b': path,
    'https://a.example/é': path,
    'https://a.example/?': path,
  }
  for (const [url, reason] of Object.entries(mended)) {
    const [fault = '', ...others] = faultsOf({ BURSAR_PUBLIC_URL: url })
    assert.ok(fault.startsWith(`BURSAR_PUBLIC_URL ${reason}`), `${JSON.stringify(url)}: ${fault}`)
    assert.deepEqual(others, [])
    const issuer = { issuer: 'https://a.example', audience: 'us', jwksUri: url }
    assert.equal(faultsOf({ BURSAR_TRUSTED_ISSUERS: JSON.stringify([issuer]) }).length, 1, url)
  }
  const lawful = [
    'https://A.example:443/x%20y/',
    'http://127.0.0.1:80',
    'https://bücher.example',
    'http://[::0001]:8080',
  ]
  for (const url of lawful) assert.deepEqual(faultsOf({ BURSAR_PUBLIC_URL: url }), [], url)
})

test('no setting keeps a character that nobody sees', () => {
  const texts = {
    HOST: '127.0.0.1',
    PORT: '8080',
    LOG_LEVEL: 'warn',
    BURSAR_CONSOLE: 'true',
    BURSAR_SPOOL_FOLDER: '/tmp',
    DATABASE_URL: 'sqlite:data/bursar.db',
    OPERATOR_DATABASE_URL: 'postgres://bursar@localhost/bursar',
  }
  for (const [name, text] of Object.entries(texts)) {
    assert.deepEqual(faultsOf({ [name]: `${text} ` }), [
      `${name} begins or ends with a blank; take it out`,
    ])
    for (const character of ['\r', '\0', '\ufeff']) {
      const [fault = ''] = faultsOf({ [name]: `${text}${character}` })
      assert.ok(fault.startsWith(`${name} has the invisible character U+`), fault)
    }
  }
  const issuer = { issuer: 'https://a.example', audience: 'us\r' }
  const [fault = ''] = faultsOf({ BURSAR_TRUSTED_ISSUERS: JSON.stringify([issuer]) })
  assert.match(fault, /audience has the invisible character U\+000D/)
  // Blanks and line ends between the entries of a list are no part of them.
  const { corsOrigins } = loadConfig({
    env: { BURSAR_CORS_ORIGINS: 'https://a.example ,https://b.example\r' },
  })
  assert.deepEqual(corsOrigins, ['https://a.example', 'https://b.example'])
})

test('a master key in a variable is trimmed, as one in a file is', () => {
  const key = randomBytes(32).toString('base64')
  for (const name of ['BURSAR_MASTER_KEY', 'BURSAR_MASTER_KEY_PREVIOUS']) {
    assert.deepEqual(faultsOf({ [name]: ` ${key}\r\n` }), [])
  }
  assert.equal(loadConfig({ env: { BURSAR_MASTER_KEY: `${key}\n` } }).masterKey?.reveal(), key)
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

test('a misspelt word or member of a setting is a fault that names what was meant', () => {
  const issuer = { issuer: 'https://a.example', audiense: 'us', algorithms: ['ES265'] }
  const [level = '', issuers = ''] = faultsOf({
    LOG_LEVEL: 'wran',
    BURSAR_TRUSTED_ISSUERS: JSON.stringify([issuer]),
  })
  assert.match(level, /; did you mean warn\?$/)
  assert.match(issuers, /audiense, which is not a member of an issuer; did you mean audience\?/)
  assert.match(issuers, /algorithms must be .*; did you mean ES256\?/)
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
