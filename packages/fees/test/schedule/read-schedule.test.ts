import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cryptoNetworks } from '@bursar/base'
import { describeNetworks, describeSchedule } from '../../src/describe-schedule.ts'
import { readSchedule } from '../../src/schedule/read-schedule.ts'
import { basisWith, now, scheduleWith } from '../sample-basis.ts'

const faultsOf = (overrides: unknown, environment = {}): readonly string[] => {
  const read = readSchedule(overrides, environment)
  return read.ok ? [] : read.faults
}

describe('readSchedule', () => {
  it('reads the embedded schedule, which is a dated sample', () => {
    const { costs, networks, pairs } = scheduleWith()
    assert.deepEqual([costs.origin, costs.asOf], ['sample', '2026-11-21'])
    assert.deepEqual(Object.keys(networks).sort(), [...cryptoNetworks].sort())
    assert.equal(
      [...pairs.values()].reduce((count, assets) => count + assets.size, 0),
      29,
    )
  })

  it('merges overrides deeply and keeps the rest of the schedule', () => {
    const { networks, pairs } = scheduleWith({
      networks: { BASE: { gas: { erc20: 70_000 }, rpc: [{ url: 'https://node.example/v1/' }] } },
      assets: { BASE: { USDC: { min_amount: '2.5' } } },
    })
    const base = networks.BASE
    assert(base.family === 'op')
    assert.deepEqual(base.rates.gas, { native: 21_000n, erc20: 70_000n })
    assert.equal(base.endpoints[0]?.url, 'https://node.example/v1')
    const usdc = pairs.get('BASE')?.get('USDC')
    assert.deepEqual([usdc?.amountUnitsMin, usdc?.feeIncrementUnits], [2_500_000n, 10_000n])
  })

  it('reports every fault of form at once', () => {
    const overrides = {
      networks: { BITCOIN: { rate_per_kvb: -1, rate: 1 }, BASE: { margin_bp: '5' } },
      assets: { INK: { NEW: { kind: 'erc20', decimals: 1.5 } } },
      quote: { ttl_s: 30 },
      extra: true,
    }
    assert.deepEqual(faultsOf(overrides).toSorted(), [
      'assets.INK.NEW.decimals must be integer',
      'assets.INK.NEW.fee_increment is missing',
      'assets.INK.NEW.min_fee is missing',
      'extra is no setting of the fee schedule',
      'networks.BASE.margin_bp must be integer',
      'networks.BITCOIN.rate is no setting of the fee schedule',
      'networks.BITCOIN.rate_per_kvb is none of the values that may stand here',
      'quote.ttl_s must be >= 60',
    ])
  })

  it('names what was probably meant by a misspelt member', () => {
    assert.deepEqual(faultsOf({ netwroks: {}, assets: { ETHERIUM: {} } }), [
      'assets.ETHERIUM is no network; did you mean ETHEREUM?',
      'netwroks is no setting of the fee schedule; did you mean networks?',
    ])
  })

  it('reads no part of a document that has more faults than are listed', () => {
    const unknown = Array.from({ length: 200 }, (_, at) => [`unknown_${at}`, 1])
    const faults = faultsOf({ ...Object.fromEntries(unknown), networks: { BITCOIN: 1 } })
    assert.equal(faults[0], 'unknown_0 is no setting of the fee schedule')
  })

  it('refuses long text without running a pattern, and shows keys without controls', () => {
    const price = '1'.repeat(100_000)
    assert.deepEqual(
      faultsOf({ prices_as_of: '2026-01-01', prices_usd: { ETH: `${price}x` }, '\u001b[2J': 1 }),
      [
        'prices_usd.ETH must have at most 2000 characters',
        '\\u{1b}[2J is no setting of the fee schedule',
      ],
    )
  })

  it('reports every fault of content at once', () => {
    const overrides = {
      as_of: '2026-02-30',
      prices_usd: { ETH: '0' },
      networks: {
        BITCOIN: { rate_per_kvb: 500, rpc: [{ url: 'http://n.example', auth_env: 'NODE_AUTH' }] },
      },
      assets: {
        BASE: { USDC: { contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914' } },
        BITCOIN: { BTC: { min_fee: '0.000000001' } },
      },
      price_sources: [{ kind: 'chainlink', network: 'SOLANA', feeds: {}, max_age_s: 60 }],
    }
    assert.deepEqual(faultsOf(overrides), [
      'prices_as_of must say which day prices_usd are of',
      'as_of must be a day that exists, as YYYY-MM-DD',
      'prices_usd.ETH must be above 0, with at most 18 decimals',
      'price_sources.0.network must be an EVM network',
      'networks.BITCOIN.rpc.0.auth_env names NODE_AUTH, which is not set in the environment',
      'networks.BITCOIN.rate_per_kvb is not from floor_per_kvb to cap_per_kvb',
      "assets.BITCOIN.BTC.min_fee has more decimals than the asset's 8",
      'assets.BASE.USDC.contract is wrong: The EIP-55 checksum in its upper and lower case is wrong.',
    ])
  })

  it('refuses a URL that a parser would mend, and takes the place of the symbol', () => {
    const source = { kind: 'http', max_age_s: 60, price_pointer: '/p', symbols: { ETH: 'eth' } }
    const at = (url: string) => ({ price_sources: [{ ...source, url }] })
    assert.deepEqual(faultsOf(at('https://p.example/{symbol}?of={symbol}')), [])
    for (const url of ['https:\\\\p.example/{symbol}', 'https://p.example/a/../{symbol}']) {
      assert.equal(faultsOf(at(url)).length, 1, url)
    }
    const rpc = [{ url: 'http://127.1:8545' }]
    assert.deepEqual(faultsOf({ networks: { BITCOIN: { rpc } } }), [
      'networks.BITCOIN.rpc.0.url has a host or a port that a URL parser changes; write each in full',
    ])
  })

  it('reads the authorization from the environment and never prints it', () => {
    const rpc = [{ url: 'http://n.example', auth_env: 'NODE_AUTH' }]
    const overrides = { networks: { BITCOIN: { rpc } } }
    const schedule = scheduleWith(overrides, { NODE_AUTH: 'Basic eHg6eXk=\r\n' })
    const authorization = schedule.networks.BITCOIN.endpoints[0]?.authorization
    assert.equal(authorization?.reveal(), 'Basic eHg6eXk=')
    assert(!JSON.stringify(schedule.networks.BITCOIN.endpoints).includes('eHg6'))
  })

  it('refuses a document that is not an object', () => {
    for (const overrides of [[], null, 'x', 1]) {
      const expected = ['the document must be a JSON object']
      assert.deepEqual(faultsOf(overrides), expected, JSON.stringify(overrides))
    }
    assert.deepEqual(faultsOf({ networks: [] }), ['networks must be an object'])
  })

  it('refuses an L1 fee above its cap, and parts that do not fit one another', () => {
    const high = { networks: { BASE: { l1_fee_wei: '400000000000001' } } }
    assert.deepEqual(faultsOf(high), ['networks.BASE.l1_fee_wei is above cap_l1_fee_wei'])
    const feeds = { ETH: '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419' }
    const source = { kind: 'chainlink', network: 'ETHEREUM', feeds, max_age_s: 60 }
    const unfitting = { networks: { BITCOIN: { native: 'XBT' } }, price_sources: [source] }
    assert.deepEqual(faultsOf(unfitting), [
      'assets.BITCOIN.XBT is missing',
      "assets.BITCOIN.BTC.kind must be native for the network's own coin and for nothing else",
      'price_sources.0.network needs networks.ETHEREUM.rpc',
    ])
  })

  it('refuses keys, networks and kinds of price source that do not exist', () => {
    const overrides = {
      networks: { BITCOIN: { dust: { p2xyz: 1 } }, NOWHERE: {} },
      assets: { NOWHERE: {} },
      price_sources: [{ kind: 'http', url: 'https://prices.example', max_age_s: 60 }],
    }
    assert.deepEqual(faultsOf(overrides), [
      'price_sources.0.price_pointer is missing',
      'price_sources.0.symbols is missing',
      'networks.BITCOIN.dust.p2xyz is no setting of the fee schedule',
      'networks.NOWHERE is no setting of the fee schedule',
      'assets.NOWHERE is no network',
    ])
  })

  it('lets an operator add a token and a price for it', () => {
    const kind = {
      kind: 'erc20',
      decimals: 6,
      certainty: 'A',
      fee_increment: '0.01',
      min_fee: '0.1',
    }
    const NEW = { ...kind, contract: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }
    assert.deepEqual(faultsOf({ assets: { BASE: { NEW } } }), [
      'prices_usd must hold NEW and ETH, for assets.BASE.NEW',
    ])
    const prices = { prices_as_of: '2026-11-21', prices_usd: { NEW: '2' } }
    assert.deepEqual(faultsOf({ assets: { BASE: { NEW } }, ...prices }), [])
  })
})

describe('describeSchedule', () => {
  it('gives each pair a row with its charge and the charge’s source', () => {
    const rows = describeSchedule(basisWith(), now)
    assert.equal(rows.length, 29)
    assert.deepEqual(rows[0], {
      asset: 'BTC',
      network: 'BITCOIN',
      kind: 'native',
      decimals: 8,
      token: undefined,
      certainty: undefined,
      enabled: true,
      marginBasisPoints: 2500,
      minimum: '0.00000294',
      charge: {
        cost: '0.0000209',
        costAsset: 'BTC',
        fee: '0.00002613',
        source: 'schedule',
        ageSeconds: 129_600,
      },
    })
  })

  it('says why a pair cannot be quoted', () => {
    const rows = describeSchedule(basisWith({}, { acceptsSample: false }), now)
    assert.deepEqual(rows[0]?.charge, { unavailable: 'sample-not-accepted' })
  })
})

describe('describeNetworks', () => {
  it('gives the source and age of each network’s figures', () => {
    const model = scheduleWith().networks.STELLAR.rates
    const costs = new Map([
      ['STELLAR', { model, observedAtMicros: now - 7_000_000n, host: 'horizon.example' }],
    ] as const)
    const states = describeNetworks(basisWith({}, { costs }), now)
    assert.deepEqual(
      states.filter(({ network }) => network === 'STELLAR' || network === 'BASE'),
      [
        {
          network: 'BASE',
          source: 'schedule',
          ageSeconds: 129_600,
          cause: undefined,
          host: undefined,
        },
        {
          network: 'STELLAR',
          source: 'live',
          ageSeconds: 7,
          cause: undefined,
          host: 'horizon.example',
        },
      ],
    )
  })
})
