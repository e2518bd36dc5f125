import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '@bursar/base'
import { pino } from 'pino'
import { configOf } from '../../../test/support/harness.ts'
import { requireOneIssuer, requirePublicUrl, warnOfPlainHttp } from '../src/issuer.ts'

const remote = 'postgres://bursar@127.0.0.1,db2:6432/bursar'

test('serve needs a public URL unless host and store are on this machine', () => {
  for (const [env, reason] of [
    [{ HOST: '0.0.0.0' }, /^BURSAR_PUBLIC_URL must be set, because the host 0.0.0.0 is not/],
    [{ HOST: '::' }, /the host :: is not a loopback address/],
    [{ HOST: '192.0.2.1' }, /the host 192.0.2.1 /],
    [{ HOST: 'localhost.example.com' }, /the host localhost.example.com /],
    [{ DATABASE_URL: remote }, /other machines may share the store on db2:6432/],
  ] as const) {
    const about = JSON.stringify(env)
    const isRefusal = (error: unknown) =>
      error instanceof ConfigError && reason.test(error.message) && !/\n/.test(error.message)
    assert.throws(() => requirePublicUrl(configOf(env)), isRefusal, about)
    const named = configOf({ ...env, BURSAR_PUBLIC_URL: 'https://api.example.com' })
    assert.doesNotThrow(() => requirePublicUrl(named), about)
  }
  for (const HOST of [
    '127.0.0.1',
    '127.1.2.3',
    '::1',
    '::ffff:127.0.0.1',
    'localhost',
    'a.localhost',
  ]) {
    const DATABASE_URL = 'postgres://bursar@[::1],localhost/bursar'
    assert.doesNotThrow(() => requirePublicUrl(configOf({ HOST, DATABASE_URL })), HOST)
  }
})

/** A log and the lines that it has written. */
function openMemoryLog() {
  const lines: string[] = []
  return { lines, log: pino({ base: null }, { write: (line: string) => void lines.push(line) }) }
}

test('serve warns about a plain http URL that other machines use', () => {
  for (const [url, isWarned] of [
    ['http://api.example.com', true],
    ['http://192.0.2.1:8080/bursar', true],
    ['http://[2001:db8::1]:8080', true],
    ['http://[::1]:8080', false],
    ['http://localhost:8080', false],
    ['https://api.example.com', false],
  ] as const) {
    const { lines, log } = openMemoryLog()
    warnOfPlainHttp(configOf({ BURSAR_PUBLIC_URL: url }), log)
    assert.equal(lines.length, isWarned ? 1 : 0, url)
    if (isWarned) assert.match(String(lines), /"level":40.*BURSAR_PUBLIC_URL is a plain http URL/)
  }
  const { lines, log } = openMemoryLog()
  warnOfPlainHttp(configOf({}), log)
  assert.deepEqual(lines, [])
})

test('two issuers on one store are refused if this one is derived, and logged if it is set', () => {
  const { lines, log } = openMemoryLog()
  const set = { config: configOf({ BURSAR_PUBLIC_URL: 'https://a.example' }), log }
  requireOneIssuer(set, 'https://a.example', undefined)
  assert.deepEqual(lines, [])
  requireOneIssuer(set, 'https://a.example', 'https://b.example')
  const { level, issuer, other, msg } = JSON.parse(String(lines))
  assert.deepEqual([level, issuer, other], [40, 'https://a.example', 'https://b.example'])
  assert.match(msg, /set BURSAR_PUBLIC_URL to the same URL for both$/)
  assert.throws(
    () =>
      requireOneIssuer({ config: configOf({}), log }, 'http://127.0.0.1:1', 'https://b.example'),
    /^ConfigError: Another process serves this store as https:\/\/b.example, and this one would serve it as http:\/\/127.0.0.1:1, so each would refuse the other's tokens. Set BURSAR_PUBLIC_URL/,
  )
})
