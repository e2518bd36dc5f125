import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresUrlFault, readPostgresUrl } from '../src/postgres-url.ts'

test('a URL names one or several servers of a database', () => {
  const credentials = { user: 'bur sar', pass: 'p:w@/', database: 'money', ssl: 'verify-full' }
  const url = 'postgres://bur%20sar:p:w%40%2F@db1,db2:6432,[::1]:5433/money?sslmode=verify-full'
  assert.deepEqual(readPostgresUrl(url), [
    { host: 'db1', port: 5432, label: 'db1:5432', credentials },
    { host: 'db2', port: 6432, label: 'db2:6432', credentials },
    { host: '::1', port: 5433, label: '[::1]:5433', credentials },
  ])
})

test('postgresql:// is a synonym, and a password is optional', () => {
  const [server] = readPostgresUrl('postgresql://bursar@localhost/bursar') ?? []
  assert.deepEqual(server?.credentials, {
    user: 'bursar',
    pass: '',
    database: 'bursar',
    ssl: false,
  })
})

test('sslmode defaults to verify-full for each host that is not loopback', () => {
  const modes = (url: string) => readPostgresUrl(url)?.map(({ credentials }) => credentials.ssl)
  const hosts = 'db1,127.0.0.1:6432,[::1],localhost,10.0.0.5,[fd00::1]:5433,localhost.example.com'
  const full = 'verify-full'
  assert.deepEqual(modes(`postgres://bursar@${hosts}/bursar`), [
    full,
    false,
    false,
    false,
    full,
    full,
    full,
  ])
  for (const [sslmode, ssl] of [
    ['disable', false],
    ['require', 'require'],
    ['verify-full', full],
  ]) {
    const url = `postgres://bursar@db1,localhost/bursar?sslmode=${sslmode}`
    assert.deepEqual(modes(url), [ssl, ssl], String(sslmode))
  }
})

test('each parameter is used, states what is done anyway, or is refused by its name', () => {
  const faults: Readonly<Record<string, RegExp | undefined>> = {
    'channel_binding=require': /^has the parameter channel_binding .*sslmode=verify-full/,
    'sslmode=require&channel_binding=require': /^has the parameter channel_binding /,
    'sslrootcert=/etc/ca.pem': /^has the parameter sslrootcert .*NODE_EXTRA_CA_CERTS/,
    'application_name=x': /^has the parameter application_name .*; take it out/,
    'sslmodes=require': /^has the parameter sslmodes .*did you mean sslmode\?/,
    'pgbouncer=true': /^has the parameter pgbouncer .*BURSAR_POOLER=transaction/,
    'connect_timeout=10': /^has the parameter connect_timeout .*BURSAR_DATABASE_TIMEOUT_MS/,
    'constructor=1': /^has the parameter constructor .*; take it out/,
    'p%40ssw0rd=1': /^has a parameter after the \?/,
    'sslmode=disable&sslmode=verify-full': /^has sslmode twice/,
    'channel_binding=prefer&target_session_attrs=read-write&client_encoding=UTF8': undefined,
  }
  for (const [query, reason] of Object.entries(faults)) {
    const url = `postgres://bursar@localhost/bursar?${query}`
    const fault = postgresUrlFault(url)
    assert.equal(readPostgresUrl(url) === undefined, reason !== undefined, query)
    if (reason === undefined) assert.equal(fault, undefined)
    else assert.match(fault ?? '', reason)
    assert.doesNotMatch(fault ?? '', /ssw0rd|ca\.pem/)
  }
})

for (const [wrong, part] of [
  ['postgres://localhost/bursar', 'names no user before the host'],
  ['postgres://:canary@localhost/bursar', 'names no user before the host'],
  ['postgres://bursar@localhost', 'names no database after the host'],
  ['postgres://bursar@localhost/', 'names no database after the host'],
  ['postgres://bursar@/bursar', 'names no host'],
  ['postgres://bursar@db1,,db2/bursar', 'names no host'],
  ['postgres://bursar@localhost/bursar?sslmode=prefer', 'has an unknown sslmode'],
  ['postgres://bursar@local host/bursar', 'has a blank'],
  ['postgres://bursar@localhost:70000/bursar', 'has a port that is no number from 1 to 65535'],
  ['postgres://bursar@db1,db2:five/bursar', 'has a port that is no number from 1 to 65535'],
  ['postgres://bursar:%zz@localhost/bursar', 'has a % that starts no escape'],
  ['postgres://bursar:can@ary@localhost/bursar', 'has an @ in the user name or password'],
  ['postgres://bursar:can/ary@localhost/bursar', 'has a /, ? or # in the user name or password'],
  ['postgres://bursar:canary?x@localhost/bursar', 'has a /, ? or # in the user name or password'],
  ['postgres://bursar@localhost/bursar/x', 'has a / in the name of the database'],
  ['postgres:bursar@localhost/bursar', 'must start with postgres://'],
  ['mysql://bursar@localhost/bursar', 'must start with postgres://'],
] as const) {
  test(`is not a database URL: ${wrong} ${part}`, () => {
    assert.equal(readPostgresUrl(wrong), undefined)
    const fault = postgresUrlFault(wrong) ?? ''
    assert.ok(fault.startsWith(part), fault)
    assert.doesNotMatch(fault, /can|ary/)
  })
}
