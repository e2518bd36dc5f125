import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { configOf, temporaryFolder } from '../../../test/support/harness.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { requireOwnPorts } from '../src/options.ts'

const err =
  'the operator has the port of the API, 8080; choose another one with BURSAR_OPERATOR_PORT or PORT\n'

test('a server refuses to have one port for customers and for its operator', async () => {
  const url = `sqlite:${join(temporaryFolder(), 'bursar.db')}`
  const env = { BURSAR_OPERATOR_PORT: '8080' }
  assert.deepEqual(await runBursar(url, ['serve', '--create'], '', env), { code: 2, out: '', err })
  assert.deepEqual(await runBursar(url, ['sandbox', '--port', '8080'], '', env), {
    code: 2,
    out: '',
    err,
  })
})

const both = { PORT: '8080', BURSAR_OPERATOR_PORT: '8080' }
const shared = [
  ['0.0.0.0', '10.0.0.5'],
  ['10.0.0.5', '::'],
  ['localhost', '127.0.0.1'],
  ['::1', 'localhost'],
]
for (const [HOST = '', BURSAR_OPERATOR_HOST = ''] of shared) {
  test(`${HOST} and ${BURSAR_OPERATOR_HOST} cannot have the same port`, () => {
    const config = configOf({ ...both, HOST, BURSAR_OPERATOR_HOST })
    assert.throws(() => requireOwnPorts(config), { name: 'ConfigError' })
  })
}

test('two hosts may have the same port, and the system gives two where it is asked for any', () => {
  const apart = [
    { ...both, HOST: '10.0.0.5' },
    { ...both, HOST: '::1' },
    { PORT: '0', BURSAR_OPERATOR_PORT: '0' },
    { PORT: '8080' },
  ]
  for (const env of apart) assert.doesNotThrow(() => requireOwnPorts(configOf(env)))
})
