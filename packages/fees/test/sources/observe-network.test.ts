import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { CryptoNetwork } from '@bursar/base'
import type { CostModel } from '../../src/cost-model.ts'
import { observeNetwork } from '../../src/sources/networks/observe-network.ts'
import { nodeClient } from '../../src/sources/nodes/node-client.ts'
import { now, scheduleWith } from '../sample-basis.ts'
import { json, type Methods, rpcAnswer, startStub } from './stub-node.ts'

const plans = scheduleWith({
  networks: { SOLANA: { priority_accounts: ['9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'] } },
}).networks
const headSeconds = Number(now / 1_000_000n) - 10
const headHex = `"0x${headSeconds.toString(16)}"`

async function observe(test: TestContext, network: CryptoNetwork, methods: Methods) {
  const stub = await startStub(test, rpcAnswer(methods))
  return observeAt(network, stub.url)
}

function observeAt(network: CryptoNetwork, url: string) {
  const node = nodeClient({ url, authorization: undefined })
  return observeNetwork(node, plans[network], now, new AbortController().signal)
}

/** The configured rates of a network with observed ones in their place. */
const changed = (network: CryptoNetwork, figures: object): CostModel =>
  ({ ...plans[network].rates, ...figures }) as CostModel

const words = (...units: readonly (bigint | number)[]): string =>
  `"0x${units.map((unit) => BigInt(unit).toString(16).padStart(64, '0')).join('')}"`

const bitcoin: Methods = {
  getblockchaininfo: `{"chain":"main","initialblockdownload":false,"mediantime":${headSeconds}}`,
  getblockhash: '"00000000000000000019f112ec0a9982926f1258cdcc558dd7c3b7e5dc7fa148"',
  estimatesmartfee: '{"feerate":0.00012345,"blocks":2}',
  getmempoolinfo: '{"mempoolminfee":1e-05,"minrelaytxfee":0.00001000}',
}

const evm: Methods = {
  eth_chainId: '"0x1"',
  eth_syncing: 'false',
  eth_getBlockByNumber: `{"timestamp":${headHex}}`,
  eth_feeHistory: `{"baseFeePerGas":["0x3b9aca00","0x77359400","0x59682f00"],
    "gasUsedRatio":[0.5,0,7e-05],"reward":[["0x5f5e100"],["0x0"],["0xbebc200"]]}`,
}

describe('observing Bitcoin', () => {
  it('reads the estimate in satoshi per kvB', async (test) => {
    const { model, alarms } = await observe(test, 'BITCOIN', bitcoin)
    assert.deepEqual(model, changed('BITCOIN', { ratePerKvb: 12_345n }))
    assert.deepEqual(alarms, [])
  })

  it('sends the confirmation target and the mode, and no third argument', async (test) => {
    let params: readonly unknown[] = []
    const estimatesmartfee = (given: readonly unknown[]): string => {
      params = given
      return '{"feerate":0.0001}'
    }
    await observe(test, 'BITCOIN', { ...bitcoin, estimatesmartfee })
    assert.deepEqual(params, [2, 'conservative'])
  })

  it('uses the mempool minimum if it is higher', async (test) => {
    const getmempoolinfo = '{"mempoolminfee":2e-04,"minrelaytxfee":0.00001}'
    const { model } = await observe(test, 'BITCOIN', { ...bitcoin, getmempoolinfo })
    assert.deepEqual(model, changed('BITCOIN', { ratePerKvb: 20_000n }))
  })

  it('keeps the rate between floor and cap and raises an alarm at the cap', async (test) => {
    const low = '{"feerate":0.00000001}'
    const none = '{"mempoolminfee":0,"minrelaytxfee":0}'
    const floored = await observe(test, 'BITCOIN', {
      ...bitcoin,
      estimatesmartfee: low,
      getmempoolinfo: none,
    })
    assert.deepEqual(floored.model, changed('BITCOIN', { ratePerKvb: 1_000n }))
    const high = '{"feerate":0.05}'
    const capped = await observe(test, 'BITCOIN', { ...bitcoin, estimatesmartfee: high })
    assert.deepEqual(capped.model, changed('BITCOIN', { ratePerKvb: 300_000n }))
    assert.deepEqual(capped.alarms, [
      'the rate per kvB is 5000000, above its cap 300000, which is used',
    ])
  })

  const lies: readonly [what: string, methods: Methods, reason: RegExp][] = [
    ['a test chain', { getblockchaininfo: '{"chain":"test"}' }, /another chain/],
    ['a fork', { getblockhash: `"${'0'.repeat(64)}"` }, /another chain/],
    [
      'one that is syncing',
      { getblockchaininfo: '{"chain":"main","initialblockdownload":true}' },
      /syncing/,
    ],
    [
      'one that fell behind',
      { getblockchaininfo: '{"chain":"main","initialblockdownload":false,"mediantime":1}' },
      /no recent block/,
    ],
    [
      'a fresh one without data',
      { estimatesmartfee: '{"errors":["Insufficient data"],"blocks":0}' },
      /too little data/,
    ],
    ['a negative rate', { estimatesmartfee: '{"feerate":-1}' }, /not a decimal/],
    [
      'a missing method',
      { estimatesmartfee: () => undefined },
      /estimatesmartfee failed with -32601/,
    ],
  ]
  for (const [what, methods, reason] of lies) {
    it(`refuses ${what} and quotes nothing that the node sent`, async (test) => {
      await assert.rejects(observe(test, 'BITCOIN', { ...bitcoin, ...methods }), (error: Error) => {
        assert.match(error.message, reason)
        assert.doesNotMatch(error.message, /secret|Insufficient/)
        return true
      })
    })
  }
})

describe('observing Bitcoin Cash', () => {
  const cash: Methods = {
    getblockchaininfo: bitcoin.getblockchaininfo ?? '',
    getblockhash: '"000000000000000000651ef99cb9fcbe0dadde1d424bd9f15ff20136191a5eec"',
    estimatefee: '0.00001234',
    getnetworkinfo: '{"relayfee":0.00001000}',
    getmempoolinfo: '{"mempoolminfee":0.00001000}',
  }

  it('uses the highest rate that the node reports', async (test) => {
    const { model } = await observe(test, 'BITCOIN_CASH', cash)
    assert.deepEqual(model, changed('BITCOIN_CASH', { ratePerKvb: 1_234n }))
  })

  it('uses the relay fee if there is no estimate', async (test) => {
    for (const estimatefee of ['-1', () => undefined]) {
      const { model } = await observe(test, 'BITCOIN_CASH', { ...cash, estimatefee })
      const expected = changed('BITCOIN_CASH', { ratePerKvb: 1_000n })
      assert.deepEqual(model, expected, `estimatefee ${estimatefee}`)
    }
  })

  it('refuses a Bitcoin node, whose chain is also called main', async (test) => {
    const methods = { ...cash, getblockhash: bitcoin.getblockhash ?? '' }
    await assert.rejects(observe(test, 'BITCOIN_CASH', methods), /another chain/)
  })
})

describe('observing Ethereum and Polygon', () => {
  it('adds the median tip of filled blocks to the highest base fee', async (test) => {
    const { model } = await observe(test, 'ETHEREUM', evm)
    assert.deepEqual(model, changed('ETHEREUM', { gasPriceWei: 2_200_000_000n }))
  })

  it('uses at least the network’s minimum tip', async (test) => {
    const { model } = await observe(test, 'POLYGON_POS', { ...evm, eth_chainId: '"0x89"' })
    assert.deepEqual(model, changed('POLYGON_POS', { gasPriceWei: 27_000_000_000n }))
  })

  it('counts no tip if the node reports none', async (test) => {
    const eth_feeHistory = '{"baseFeePerGas":["0x77359400"],"gasUsedRatio":[0.1]}'
    const { model } = await observe(test, 'ETHEREUM', { ...evm, eth_feeHistory })
    assert.deepEqual(model, changed('ETHEREUM', { gasPriceWei: 2_000_000_000n }))
  })

  const lies: readonly [what: string, methods: Methods, reason: RegExp][] = [
    ['another chain', { eth_chainId: '"0x5"' }, /another chain/],
    ['one that is syncing', { eth_syncing: '{"currentBlock":"0x1"}' }, /syncing/],
    ['one that fell behind', { eth_getBlockByNumber: '{"timestamp":"0x1"}' }, /no recent block/],
    ['one without blocks', { eth_getBlockByNumber: 'null' }, /not a hexadecimal/],
    ['a null history', { eth_feeHistory: 'null' }, /no history/],
    ['invalid fees', { eth_feeHistory: '{"baseFeePerGas":[7]}' }, /not a hexadecimal/],
  ]
  for (const [what, methods, reason] of lies) {
    it(`refuses ${what}`, async (test) => {
      await assert.rejects(observe(test, 'ETHEREUM', { ...evm, ...methods }), reason)
    })
  }
})

describe('observing Base', () => {
  const base: Methods = { ...evm, eth_chainId: '"0x2105"' }
  const withOracle = (answers: Readonly<Record<string, string>>): Methods => ({
    ...base,
    eth_call: ([given]) => answers[(given as { data: string }).data.slice(0, 10)],
  })

  it('adds the oracle’s L1 fee and operator fee', async (test) => {
    const methods = withOracle({ '0xf1c7a58b': words(6_129n), '0x275aedd2': words(77n) })
    const { model } = await observe(test, 'BASE', methods)
    const l1FeeWei = { native: 6_129n, erc20: 6_129n }
    const operatorFeeWei = { native: 77n, erc20: 77n }
    const gasPriceWei = 2_200_000_000n
    assert.deepEqual(model, changed('BASE', { gasPriceWei, l1FeeWei, operatorFeeWei }))
  })

  it('calls an older oracle with a transaction of the same size', async (test) => {
    const { model } = await observe(test, 'BASE', withOracle({ '0x49948e0e': words(5_015n) }))
    assert(model.family === 'op')
    assert.deepEqual(model.l1FeeWei, { native: 5_015n, erc20: 5_015n })
    assert.deepEqual(model.operatorFeeWei, { native: 0n, erc20: 0n })
  })

  it('keeps the configured L1 fee if there is no oracle', async (test) => {
    for (const eth_call of ['"0x"', () => undefined]) {
      const { model } = await observe(test, 'BASE', { ...base, eth_call })
      assert(model.family === 'op' && plans.BASE.family === 'op')
      assert.deepEqual(model.l1FeeWei, plans.BASE.rates.l1FeeWei, `eth_call ${eth_call}`)
    }
  })

  it('reduces an L1 fee above its cap and raises an alarm', async (test) => {
    const { model, alarms } = await observe(
      test,
      'BASE',
      withOracle({ '0xf1c7a58b': words(10n ** 18n) }),
    )
    assert(model.family === 'op')
    assert.equal(model.l1FeeWei.native, 400_000_000_000_000n)
    assert.equal(alarms.length, 2)
  })
})

describe('observing Arbitrum', () => {
  const arbitrum: Methods = { ...evm, eth_chainId: '"0xa4b1"' }

  it('adds padded L1 gas to L2 gas and ignores tips', async (test) => {
    const eth_call: Methods[string] = ([given]) => {
      const { to } = given as { to: string }
      return to.endsWith('C8') ? words(10_001n, 1n, 1n) : words(20_000_000n)
    }
    const { model } = await observe(test, 'ARBITRUM_ONE', { ...arbitrum, eth_call })
    const gas = { native: 21_000n + 11_002n, erc20: 65_000n + 11_002n }
    assert.deepEqual(model, changed('ARBITRUM_ONE', { gasPriceWei: 2_000_000_000n, gas }))
  })

  it('uses the chain’s minimum if the base fee is lower', async (test) => {
    const eth_call: Methods[string] = ([given]) =>
      (given as { to: string }).to.endsWith('6C') ? words(3_000_000_000n) : undefined
    const { model } = await observe(test, 'ARBITRUM_ONE', { ...arbitrum, eth_call })
    assert.deepEqual(model, changed('ARBITRUM_ONE', { gasPriceWei: 3_000_000_000n }))
  })
})

describe('observing Solana', () => {
  const prices = [0, 0, 0, 4_000, 3_000, 2_000, 1_000]
  const slots = prices.map((price, slot) => `{"slot":${slot},"prioritizationFee":${price}}`)
  const solana: Methods = {
    getGenesisHash: '"5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"',
    getHealth: '"ok"',
    getRecentPrioritizationFees: `[${slots.join(',')}]`,
    getMinimumBalanceForRentExemption: ([bytes]) => (bytes === 165 ? '1019640' : '1096200'),
  }

  it('uses the upper quartile of paid prices and the current rent', async (test) => {
    const { model } = await observe(test, 'SOLANA', solana)
    const rentLamports = { spl: 1_019_640n, token2022: 1_096_200n }
    assert.deepEqual(model, changed('SOLANA', { microLamportsPerUnit: 4_000n, rentLamports }))
  })

  it('uses the floor if no transaction paid a priority price', async (test) => {
    const { model } = await observe(test, 'SOLANA', {
      ...solana,
      getRecentPrioritizationFees: '[]',
    })
    assert(model.family === 'solana')
    assert.equal(model.microLamportsPerUnit, 1_000n)
  })

  it('refuses a test cluster, and a node that is behind', async (test) => {
    const testCluster = {
      ...solana,
      getGenesisHash: '"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"',
    }
    await assert.rejects(observe(test, 'SOLANA', testCluster), /another chain/)
    const behind = { ...solana, getHealth: () => undefined }
    await assert.rejects(observe(test, 'SOLANA', behind), /getHealth failed/)
  })
})

describe('observing Stellar', () => {
  const passphrase = 'Public Global Stellar Network ; September 2015'
  const closedAt = new Date(headSeconds * 1_000).toISOString()
  const horizon = (root: object, stats: object) => (test: TestContext) =>
    startStub(test, ({ url }, response) => {
      json(response, JSON.stringify(url === '/' ? root : stats))
    })
  const root = { network_passphrase: passphrase, history_latest_ledger_closed_at: closedAt }
  const stats = { last_ledger_base_fee: '100', fee_charged: { p95: '12345' } }

  it('uses the 95th percentile of charged fees', async (test) => {
    const { url } = await horizon(root, stats)(test)
    const { model } = await observeAt('STELLAR', url)
    assert.deepEqual(model, changed('STELLAR', { stroopsPerOperation: 12_345n }))
  })

  it('refuses a test network, an old ledger and missing figures', async (test) => {
    const refused: readonly [object, object, RegExp][] = [
      [
        { ...root, network_passphrase: 'Test SDF Network ; September 2015' },
        stats,
        /another chain/,
      ],
      [
        { ...root, history_latest_ledger_closed_at: '2020-01-01T00:00:00Z' },
        stats,
        /no recent block/,
      ],
      [{ network_passphrase: passphrase }, stats, /newest ledger/],
      [root, {}, /not a whole number/],
    ]
    for (const [wrongRoot, wrongStats, reason] of refused) {
      const { url } = await horizon(wrongRoot, wrongStats)(test)
      await assert.rejects(observeAt('STELLAR', url), reason, String(reason))
    }
  })
})
