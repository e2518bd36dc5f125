import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acme, callUrl, fetchToken } from '../../../test/support/harness.ts'
import { startProgram } from '../../../test/support/program.ts'

/** The published example seed of the StrKey proposal (SEP-23). */
const seed = 'SBU2RRGLXH3E5CQHTD3ODLDF2BWDCYUSSBLLZ5GNW7JXHDIYKXZWHOKR'

test('a Stellar seed sent as an address is refused and appears in no answer and no log', async () => {
  const program = startProgram(['sandbox', '--port', '0', '--json'], {
    env: { LOG_LEVEL: 'trace' },
  })
  const { url } = JSON.parse(await program.firstLine)
  const called = await callUrl(`${url}/v2/transfer/fees/crypto-withdrawal`, {
    method: 'POST',
    token: await fetchToken(url, acme),
    body: JSON.stringify({
      asset: 'XLM',
      crypto_network: 'STELLAR',
      destination_address: seed,
      amount: '5',
    }),
  })
  assert.equal(await program.kill(), 0)
  assert.equal(called.status, 400)
  assert.equal(called.body.type, '/problems/unsupported-address')
  assert.equal(called.body.meta.fault, 'secret_key')
  assert.ok(!called.text.includes(seed.slice(0, 12)))
  assert.ok(program.errors().includes('unsupported-address'))
  assert.ok(!program.errors().includes(seed.slice(0, 12)))
})
