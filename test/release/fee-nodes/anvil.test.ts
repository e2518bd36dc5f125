import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CryptoNetwork, largest, systemTime } from '@bursar/base'
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  parseAbi,
  parseEther,
  parseGwei,
  publicActions,
  serializeTransaction,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base, mainnet } from 'viem/chains'
import { estimateL1Fee } from 'viem/op-stack'
import { costOf } from '../../../packages/fees/src/cost-model.ts'
import { observeNetwork } from '../../../packages/fees/src/sources/networks/observe-network.ts'
import { nodeClient } from '../../../packages/fees/src/sources/nodes/node-client.ts'
import { observeChainlink } from '../../../packages/fees/src/sources/prices/price-sources.ts'
import { scheduleWith } from '../../../packages/fees/test/sample-basis.ts'
import { startAnvil } from './anvil-node.ts'
import contracts from './op-stack-contracts.json' with { type: 'json' }

/** The first account that anvil funds. Every anvil prints its key. */
const rich = privateKeyToAccount(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
)
const recipient = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const gasPriceOracle = '0x420000000000000000000000000000000000000F'
const l1Block = '0x4200000000000000000000000000000000000015'
const unlimited = () => new AbortController().signal
const systemNow = (): bigint => systemTime.now()

async function observe(network: CryptoNetwork, url: string, overrides: object = {}) {
  const plan = scheduleWith({ networks: { [network]: overrides } }).networks[network]
  const node = nodeClient({ url, authorization: undefined })
  return observeNetwork(node, plan, systemNow(), unlimited())
}

describe('a local EVM node', () => {
  it('gives the same figures to viem, and a cost that a real transfer has', async (test) => {
    const url = await startAnvil(test, '--chain-id', '1')
    const chain = createPublicClient({ chain: mainnet, transport: http(url) })
    const wallet = createWalletClient({ chain: mainnet, transport: http(url), account: rich })
    const send = async (tipGwei: string) => {
      const hash = await wallet.sendTransaction({
        to: recipient,
        value: parseEther('0.1'),
        maxPriorityFeePerGas: parseGwei(tipGwei),
        maxFeePerGas: parseGwei('50'),
      })
      return chain.waitForTransactionReceipt({ hash, pollingInterval: 10 })
    }
    for (const tip of ['1', '3', '2', '1.5', '2.5']) await send(tip)

    const { model } = await observe('ETHEREUM', url)
    assert(model.family === 'evm')
    const history = await chain.getFeeHistory({ blockCount: 20, rewardPercentiles: [60] })
    const baseFee = largest(0n, ...history.baseFeePerGas)
    const tips = (history.reward ?? [])
      .filter((_, index) => (history.gasUsedRatio[index] ?? 0) > 0)
      .map(([tip = 0n]) => tip)
    assert.deepEqual(
      tips.toSorted((one, other) => Number(one - other)).map(String),
      ['1', '1.5', '2', '2.5', '3'].map((tip) => String(parseGwei(tip))),
    )
    assert.equal(model.gasPriceWei, baseFee + parseGwei('2'))

    const receipt = await send('2')
    const paid = receipt.gasUsed * receipt.effectiveGasPrice
    const expected = costOf(model, 'native', 'evm')
    assert(paid <= expected && expected <= 2n * paid, `${paid} paid, ${expected} expected`)
  })

  it('is refused on another chain', async (test) => {
    const url = await startAnvil(test, '--chain-id', '137')
    await assert.rejects(observe('ETHEREUM', url), /another chain/)
  })

  it('gives the same feed price to viem', async (test) => {
    const url = await startAnvil(test, '--chain-id', '1')
    const feed = '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419'
    const updatedAt = systemTime.now() / 1_000_000n - 60n
    await installFeed(url, feed, 412_345_678_901n, updatedAt)
    const chain = createPublicClient({ chain: mainnet, transport: http(url) })
    const abi = parseAbi([
      'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
    ])
    const [, answer] = await chain.readContract({
      address: feed,
      abi,
      functionName: 'latestRoundData',
    })
    const source = {
      kind: 'chainlink',
      network: 'ETHEREUM',
      maxAgeSeconds: 3_900,
      feeds: new Map([['ETH', feed]]),
    } as const
    const node = nodeClient({ url, authorization: undefined })
    const prices = await observeChainlink(node, source, 1n, systemNow(), unlimited())
    const expected = { usd: answer * 10n ** 10n, observedAtMicros: updatedAt * 1_000_000n }
    assert.deepEqual(prices.get('ETH'), expected)
  })
})

describe('a local OP-stack node', () => {
  it('charges the oracle’s L1 fee as viem reads it, at most the observed cost', async (test) => {
    const url = await startAnvil(test, '--network', 'optimism', '--chain-id', '8453')
    await installOracle(url)
    const chain = createPublicClient({ chain: base, transport: http(url) })
    const { model } = await observe('BASE', url, { cap_gas_price_wei: '100000000000' })
    assert(model.family === 'op')

    const upperBound = await chain.readContract({
      address: gasPriceOracle,
      abi: parseAbi(['function getL1FeeUpperBound(uint256) view returns (uint256)']),
      functionName: 'getL1FeeUpperBound',
      args: [120n],
    })
    assert.equal(model.l1FeeWei.native, upperBound)
    assert(model.l1FeeWei.erc20 > model.l1FeeWei.native)
    const transfer = {
      to: recipient,
      value: parseEther('1'),
      gas: 21_000n,
      maxFeePerGas: model.gasPriceWei * 2n,
      maxPriorityFeePerGas: 1_000_000n,
      nonce: 0,
      chainId: 8453,
    } as const
    const l1Fee = await estimateL1Fee(chain, { ...transfer, account: rich.address })
    assert(l1Fee > 0n && l1Fee <= model.l1FeeWei.native)
    assert(serializeTransaction(transfer).length / 2 <= 120)

    const wallet = createWalletClient({ chain: base, transport: http(url), account: rich })
    const before = await chain.getBalance({ address: rich.address })
    const hash = await wallet.sendTransaction(transfer)
    const receipt = await chain.waitForTransactionReceipt({ hash, pollingInterval: 10 })
    const paid = before - (await chain.getBalance({ address: rich.address })) - transfer.value
    const executed = receipt.gasUsed * receipt.effectiveGasPrice
    assert(paid > executed, 'the balance pays more than gas')
    const expected = costOf(model, 'native', 'evm')
    assert(paid <= expected, `${paid} paid, ${expected} expected`)
  })

  it('reads an oracle from before Fjord, which has no upper bound', async (test) => {
    const url = await startAnvil(test, '--network', 'optimism', '--chain-id', '8453')
    await installOracle(url, 0x01n)
    const { model } = await observe('BASE', url)
    assert(model.family === 'op')
    const { native, erc20 } = model.l1FeeWei
    assert(native > 0n && native < erc20, `${native} and ${erc20}`)
  })

  it('keeps the configured L1 fee if it has no oracle', async (test) => {
    const url = await startAnvil(test, '--chain-id', '196')
    const { model } = await observe('XLAYER', url)
    assert(model.family === 'op')
    assert.equal(model.l1FeeWei.native, 1_000_000_000_000n)
    assert.equal(model.operatorFeeWei.native, 0n)
  })
})

/**
 * Installs the chain's system contracts: Fjord upgrade by default, L1 at 20 gwei, usual scalars.
 */
async function installOracle(url: string, upgrades = 0x0101n): Promise<void> {
  const control = createTestClient({ mode: 'anvil', chain: base, transport: http(url) }).extend(
    publicActions,
  )
  await control.setCode({ address: gasPriceOracle, bytecode: contracts.gasPriceOracle as Hex })
  await control.setCode({ address: l1Block, bytecode: contracts.l1Block as Hex })
  // On this chain a read pays the L1 fee too, from the sender of the call, the zero address.
  await control.setBalance({ address: `0x${'00'.repeat(20)}`, value: parseEther('1') })
  const store = (address: Hex, slot: bigint, value: bigint) =>
    control.setStorageAt({ address, index: toHex(slot), value: toHex(value, { size: 32 }) })
  // isEcotone and isFjord; L1 base fee; both scalars after the sequence number; blob base fee.
  await store(gasPriceOracle, 0n, upgrades)
  await store(l1Block, 1n, parseGwei('20'))
  await store(l1Block, 3n, (2_269n << 96n) | (1_055_762n << 64n))
  await store(l1Block, 7n, parseGwei('1'))
}

/**
 * Code that answers each call with (8, answer, updatedAt, updatedAt, 8): a round and 8 decimals.
 */
async function installFeed(
  url: string,
  feed: Hex,
  answer: bigint,
  updatedAt: bigint,
): Promise<void> {
  const words = [8n, answer, updatedAt, updatedAt, 8n]
  const stores = words.map((value, index) => {
    const push = `7f${value.toString(16).padStart(64, '0')}`
    return `${push}60${(32 * index).toString(16).padStart(2, '0')}52`
  })
  const control = createTestClient({ mode: 'anvil', chain: mainnet, transport: http(url) })
  await control.setCode({ address: feed, bytecode: `0x${stores.join('')}60a06000f3` })
}
