import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDecimal, Secret, systemTime } from '@bursar/base'
import { checkAddress } from '@bursar/fees'
import { costOf } from '../../../packages/fees/src/cost-model.ts'
import { observeNetwork } from '../../../packages/fees/src/sources/networks/observe-network.ts'
import { at, type ExactJson } from '../../../packages/fees/src/sources/nodes/exact-json.ts'
import { nodeClient } from '../../../packages/fees/src/sources/nodes/node-client.ts'
import { scheduleWith } from '../../../packages/fees/test/sample-basis.ts'
import { type LitecoinNode, litecoindExists, startLitecoind } from './litecoin-node.ts'

/** A regtest chain has its own first block. */
const onTestChain = { chain: 'regtest', inputs: 1, known_block: { height: 0 } }

async function observe(node: LitecoinNode, overrides: object) {
  const plan = scheduleWith({ networks: { LITECOIN: overrides } }).networks.LITECOIN
  const client = nodeClient({ url: node.url, authorization: new Secret(node.authorization) })
  const now = systemTime.now()
  return observeNetwork(client, plan, now, new AbortController().signal)
}

const units = (value: ExactJson | undefined): bigint => {
  const parsed = parseDecimal(String(value), 8)
  assert(parsed.ok, `${value} is no amount`)
  return parsed.units
}

describe('a local Litecoin node', { skip: !litecoindExists() }, () => {
  it('gives its own rate, and a cost that a real withdrawal has', async (test) => {
    const node = await startLitecoind(test)
    const { call } = node
    await call('createwallet', 'test')
    const miner = await call('getnewaddress', '', 'bech32')
    await call('generatetoaddress', 110, miner)
    const hash = await call('getblockhash', 0)
    const plan = { ...onTestChain, known_block: { height: 0, hash } }

    await assert.rejects(observe(node, plan), /too little data/, 'a fresh node has no estimate')
    await assert.rejects(observe(node, { chain: 'regtest' }), /another chain/)

    // The node estimates only after it has seen enough transactions wait and be mined.
    for (let block = 0; block < 12; block++) {
      for (let sent = 0; sent < 4; sent++) await call('sendtoaddress', miner, '0.1')
      await call('generatetoaddress', 1, miner)
    }
    const estimate = await call('estimatesmartfee', 2, 'conservative')
    const { model } = await observe(node, plan)
    assert(model.family === 'utxo')
    assert.equal(model.ratePerKvb, units(at(estimate, 'feerate')))

    for (const kind of ['bech32', 'legacy', 'p2sh-segwit']) {
      const to = await call('getnewaddress', '', kind)
      const check = checkAddress('LITECOIN', String(to), { testnets: true })
      assert(check.valid, kind)
      await call('settxfee', String(at(estimate, 'feerate')))
      const transaction = await call('gettransaction', await call('sendtoaddress', to, '0.1'))
      const decoded = await call('decoderawtransaction', at(transaction, 'hex'))
      const inputs = at(decoded, 'vin')
      assert(Array.isArray(inputs))
      const expected = costOf({ ...model, inputs: BigInt(inputs.length) }, 'native', check.kind)
      const paid = units(String(at(transaction, 'fee')).replace('-', ''))
      // The length of a signature varies by a byte.
      const slack: bigint = model.ratePerKvb / 500n
      assert(
        paid <= expected + slack && paid >= expected - slack,
        `${paid} paid, ${expected} expected`,
      )
    }
  })
})
