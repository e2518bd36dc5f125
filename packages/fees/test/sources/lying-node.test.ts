import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CryptoNetwork, cryptoNetworks } from '@bursar/base'
import fc from 'fast-check'
import { type CostModel, costOf } from '../../src/cost-model.ts'
import { observeNetwork } from '../../src/sources/networks/observe-network.ts'
import type { ExactJson } from '../../src/sources/nodes/exact-json.ts'
import type { NodeClient, RpcReply } from '../../src/sources/nodes/node-client.ts'
import { now, scheduleWith } from '../sample-basis.ts'

const plans = scheduleWith().networks
const head = now / 1_000_000n

/** The answers that pass each check, so that a false figure is reached. */
const expected: Readonly<Record<string, ExactJson>> = {
  getblockchaininfo: { chain: 'main', initialblockdownload: false, time: String(head) },
  eth_syncing: false,
  eth_getBlockByNumber: { timestamp: `0x${head.toString(16)}` },
  getGenesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  getHealth: 'ok',
}

const wide = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const narrow = fc.bigInt({ min: 0n, max: 10n ** 30n })
const odd = fc.constantFrom<ExactJson>(
  '',
  '0x',
  '-1',
  '1e99',
  '0.00001',
  '9'.repeat(60),
  null,
  true,
)
const decimal = fc.oneof(
  narrow.map(String),
  narrow.map((units) => `${units}e-12`),
)
const hexadecimal = fc.oneof(
  narrow.map((units) => `0x${units.toString(16)}`),
  wide.map((units) => `0x${units.toString(16).padStart(64, '0')}`),
  wide.map((units) => `0x${units.toString(16).padStart(192, '0')}`),
)
/** Mostly figures in the form that the network's nodes use, so that they pass the form check. */
const figureOf = (network: CryptoNetwork) =>
  fc.oneof(
    { weight: 12, arbitrary: 'chainId' in plans[network].guard ? hexadecimal : decimal },
    { weight: 1, arbitrary: odd },
  )
const garbage = fc.oneof(odd, fc.array(odd, { maxLength: 3 }), fc.constant<ExactJson>({}))

const wild = fc.oneof(
  { weight: 12, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: garbage },
)

/** The right shape of each answer, around arbitrary figures. */
const shaped: Readonly<Record<string, (one: ExactJson, other: ExactJson) => ExactJson>> = {
  estimatesmartfee: (feerate) => ({ feerate }),
  getmempoolinfo: (mempoolminfee, minrelaytxfee) => ({ mempoolminfee, minrelaytxfee }),
  getnetworkinfo: (relayfee) => ({ relayfee }),
  eth_feeHistory: (base, tip) => ({
    baseFeePerGas: [base, base],
    gasUsedRatio: ['0.5'],
    reward: [[tip]],
  }),
  getRecentPrioritizationFees: (price, other) => [
    { prioritizationFee: price },
    { prioritizationFee: other },
  ],
}
const horizon = (p95: ExactJson, last_ledger_base_fee: ExactJson): ExactJson => ({
  network_passphrase: 'Public Global Stellar Network ; September 2015',
  history_latest_ledger_closed_at: new Date(Number(now / 1_000n)).toISOString(),
  fee_charged: { p95 },
  last_ledger_base_fee,
})

/** The highest cost of one withdrawal by each network's caps, in native units. */
function ceiling(model: CostModel): bigint {
  switch (model.family) {
    case 'utxo':
    case 'bch':
      return 10n ** 6n
    case 'evm':
    case 'op':
      return 10n ** 18n
    case 'arbitrum':
      return 30_000_000n * 50_000_000_000n
    case 'solana':
      return 21_000_000n
    case 'stellar':
      return 1_000_000n
  }
}

describe('a node that sends false figures', () => {
  it('cannot move a figure out of its bounds and is otherwise refused with a safe message', async () => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...cryptoNetworks).chain((network) => {
          const lie = fc.tuple(figureOf(network), figureOf(network), wild)
          return fc.tuple(fc.constant(network), fc.array(lie, { minLength: 11, maxLength: 11 }))
        }),
        async ([network, lies]) => {
          const plan = plans[network]
          const guard = plan.guard
          const truths: Readonly<Record<string, ExactJson>> = {
            ...expected,
            ...('chainId' in guard && { eth_chainId: `0x${guard.chainId.toString(16)}` }),
            ...('knownBlock' in guard && { getblockhash: guard.knownBlock?.hash ?? '' }),
          }
          const answer = (method: string, index: number): ExactJson => {
            const [one, other, instead] = lies[index] ?? [null, null, null]
            return truths[method] ?? instead ?? shaped[method]?.(one, other) ?? one
          }
          const get = async (): Promise<ExactJson> =>
            horizon(lies[0]?.[0] ?? null, lies[0]?.[1] ?? null)
          const node: NodeClient = {
            host: 'liar.example',
            get,
            getForSymbol: get,
            batch: async (calls) =>
              calls.map(({ method }, index): RpcReply => {
                return { ok: true, result: answer(method, index) }
              }),
          }
          try {
            const { model } = await observeNetwork(node, plan, now, new AbortController().signal)
            accepted += 1
            for (const kind of ['native', 'erc20', 'spl', 'token2022'] as const) {
              const cost = costOf(model, kind, 'p2tr')
              assert(cost >= 0n && cost <= ceiling(model), `${network} ${cost}`)
            }
          } catch (error) {
            assert(error instanceof Error && error.name === 'Error', String(error))
          }
        },
      ),
      { numRuns: 3_000 },
    )
    assert(
      accepted > 200,
      `only ${accepted} of 3000 false answers passed the checks, too few for a test`,
    )
  })
})
