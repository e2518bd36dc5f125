import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPostgresUrl } from '../../src/platform/postgres-url.ts'

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
    ...[false, false, false],
    ...[full, full, full],
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

for (const wrong of [
  'postgres://localhost/bursar',
  'postgres://bursar@localhost',
  'postgres://bursar@/bursar',
  'postgres://bursar@localhost/bursar?sslmode=prefer',
  'postgres://bursar@localhost/bursar?application_name=x',
  'postgres://bursar@local host/bursar',
  'postgres://bursar@localhost:70000/bursar',
  'postgres://bursar:%zz@localhost/bursar',
  'mysql://bursar@localhost/bursar',
]) {
  test(`is not a database URL: ${wrong}`, () => {
    assert.equal(readPostgresUrl(wrong), undefined)
  })
}
