import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CryptoNetwork } from '@bursar/base'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { observeNetwork } from '../../src/sources/networks/observe-network.ts'
import type { NodeClient } from '../../src/sources/nodes/node-client.ts'
import { observeChainlink } from '../../src/sources/prices/price-sources.ts'
import { now, scheduleWith } from '../sample-basis.ts'

const recipient = '0x1111111111111111111111111111111111111111'
const signal = new AbortController().signal

/** A node that only records the contract calls that it receives. */
function listener(): { node: NodeClient; asked: [to: string, data: string][] } {
  const asked: [string, string][] = []
  const never = () => Promise.reject(new Error('unexpected call'))
  const node: NodeClient = {
    host: 'listener.example',
    get: never,
    getForSymbol: never,
    batch: async (calls) => {
      for (const { method, params } of calls) {
        if (method !== 'eth_call') continue
        const { to, data } = params[0] as { to: string; data: string }
        asked.push([to, data])
      }
      throw new Error('heard enough')
    },
  }
  return { node, asked }
}

async function askedOn(network: CryptoNetwork) {
  const { node, asked } = listener()
  await assert.rejects(
    observeNetwork(node, scheduleWith().networks[network], now, signal),
    /enough/,
  )
  return asked
}

describe('contract calls are encoded as viem encodes them', () => {
  it('to the OP stack’s oracle', async () => {
    const abi = parseAbi([
      'function getL1Fee(bytes) view returns (uint256)',
      'function getL1FeeUpperBound(uint256) view returns (uint256)',
      'function getOperatorFee(uint256) view returns (uint256)',
    ])
    const asked = await askedOn('BASE')
    const sample = (bytes: number): Hex =>
      `0x${Buffer.from(Array.from({ length: bytes }, (_, index) => (index * 151 + 89) % 256)).toString('hex')}`
    const expected = (bytes: number, gas: bigint) => [
      encodeFunctionData({ abi, functionName: 'getL1FeeUpperBound', args: [BigInt(bytes)] }),
      encodeFunctionData({ abi, functionName: 'getL1Fee', args: [sample(bytes)] }),
      encodeFunctionData({ abi, functionName: 'getOperatorFee', args: [gas] }),
    ]
    assert.deepEqual(
      asked.map(([, data]) => data),
      [...expected(120, 21_000n), ...expected(180, 65_000n)],
    )
    assert(asked.every(([to]) => to === '0x420000000000000000000000000000000000000F'))
  })

  it('to Arbitrum’s precompiled contracts', async () => {
    const abi = parseAbi([
      'function gasEstimateL1Component(address, bool, bytes) view returns (uint64, uint256, uint256)',
      'function getMinimumGasPrice() view returns (uint256)',
      'function transfer(address, uint256) returns (bool)',
    ])
    const transfer = encodeFunctionData({
      abi,
      functionName: 'transfer',
      args: [recipient, 2n ** 256n - 1n],
    })
    const component = (data: Hex) =>
      encodeFunctionData({
        abi,
        functionName: 'gasEstimateL1Component',
        args: [recipient, false, data],
      })
    assert.deepEqual(await askedOn('ARBITRUM_ONE'), [
      ['0x00000000000000000000000000000000000000C8', component('0x')],
      ['0x00000000000000000000000000000000000000C8', component(transfer)],
      [
        '0x000000000000000000000000000000000000006C',
        encodeFunctionData({ abi, functionName: 'getMinimumGasPrice' }),
      ],
    ])
  })

  it('to a Chainlink feed', async () => {
    const abi = parseAbi([
      'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
      'function decimals() view returns (uint8)',
    ])
    const { node, asked } = listener()
    const feeds = new Map([['ETH', recipient]])
    const source = { kind: 'chainlink', network: 'ETHEREUM', maxAgeSeconds: 60, feeds } as const
    await assert.rejects(observeChainlink(node, source, 1n, now, signal), /enough/)
    assert.deepEqual(asked, [
      [recipient, encodeFunctionData({ abi, functionName: 'latestRoundData' })],
      [recipient, encodeFunctionData({ abi, functionName: 'decimals' })],
    ])
  })
})
