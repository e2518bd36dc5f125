import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import { type CryptoNetwork, cryptoNetworks, isCryptoNetwork } from '@bursar/base'
import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { base58 } from '@scure/base'
import { depositAddress } from '../../../contract/src/resources/deposit-address.ts'
import { encodeAddress } from '../../../sandbox/src/encode-address.ts'
import { canonicalAddress } from '../../src/addresses/canonical-address.ts'
import { checkAddress } from '../../src/addresses/check-address.ts'
import { mixedCaseEvmAddress } from '../../src/addresses/evm-address.ts'
import knownDestinations from '../../src/addresses/known-destinations.json' with { type: 'json' }
import { encodeStellarAddress } from '../../src/addresses/stellar-address.ts'
import { traitsOf } from '../../src/networks.ts'
import vectorFile from './vectors.json' with { type: 'json' }

type Vector = {
  readonly network: CryptoNetwork
  readonly address: string
  readonly valid: boolean
  readonly why: string
  readonly reason: string
}

/**
 * The published vectors of each encoding, the policy's cases, and addresses made by other
 * libraries.
 */
const vectors: readonly Vector[] = vectorFile.map((vector) => {
  assert(isCryptoNetwork(vector.network))
  return { ...vector, network: vector.network }
})

const seed = 'SAM3EWCW4HAVBSUDJT74RNM3EOW32DWAHCPFR2ZCWO3EO2AJRUACX5GD'

describe('checkAddress', () => {
  for (const { network, address, valid, why, reason } of vectors) {
    it(`${valid ? 'accepts' : 'refuses'} on ${network}: ${why} (${address.slice(0, 12)}…)`, () => {
      const check = checkAddress(network, address)
      assert.equal(check.valid ? check.kind : check.reason, reason)
      assert.equal(check.valid, valid)
    })
  }

  it('refuses every one-character change of every checksummed address', () => {
    for (const { network, address } of vectors.filter(carriesChecksum)) {
      assert.deepEqual(acceptedChanges(network, address), [], `${network} ${address}`)
    }
  })

  it('refuses all but a few in ten thousand changes of any mixed-case EVM address', () => {
    const evm = vectors.filter((vector) => vector.valid && isMixedCase(vector))
    const accepted = evm.flatMap(({ network, address }) => acceptedChanges(network, address))
    const hexadecimalChanges = evm.length * 40 * 21
    assert(accepted.length * 2_000 < hexadecimalChanges, accepted.join(' '))
  })

  it('never quotes the text in its answer', () => {
    const pasted = [seed, ...vectors.map((vector) => vector.address)]
    for (const network of cryptoNetworks) {
      for (const text of pasted) {
        const check = checkAddress(network, text)
        if (check.valid || text.length < 12) continue
        assert(!check.detail.includes(text.slice(0, 12)), check.detail)
      }
    }
  })

  it('reports a pasted private key or seed as such', () => {
    const secrets: readonly [CryptoNetwork, string][] = [
      ['STELLAR', seed],
      ['STELLAR', seed.toLowerCase()],
      ['BITCOIN', '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ'],
      ['ETHEREUM', `0x${'4c'.repeat(32)}`],
      ['BASE', '4c'.repeat(32)],
    ]
    for (const [network, text] of secrets) {
      const check = checkAddress(network, text)
      assert.equal(check.valid ? check.kind : check.reason, 'secret_key', `${network} ${text}`)
    }
  })

  it('accepts test networks only if the policy allows them', () => {
    const testAddresses: readonly [CryptoNetwork, string, string][] = [
      ['BITCOIN', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 'p2wpkh'],
      ['BITCOIN', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'p2pkh'],
      ['LITECOIN', 'tltc1qw508d6qejxtdg4y5r3zarvary0c5xw7klfsuq0', 'p2wpkh'],
      ['LITECOIN', 'QXHFfTBKYXjaaTH1e7Rox8CcdNPGHVhM59', 'p2sh'],
      ['BITCOIN_CASH', 'bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap', 'p2pkh'],
      ['BITCOIN_CASH', 'qp63uahgrxged4z5jswyt5dn5v3lzsem6cq85x00dt', 'p2pkh'],
    ]
    for (const [network, address, kind] of testAddresses) {
      assert.equal(checkAddress(network, address).valid, false, address)
      const check = checkAddress(network, address, { testnets: true })
      assert.deepEqual(check, { valid: true, kind }, address)
    }
  })

  it('reads the id of a muxed account', () => {
    const muxed = 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK'
    const memoId = '9223372036854775808'
    assert.deepEqual(checkAddress('STELLAR', muxed), { valid: true, kind: 'muxed', memoId })
    const key = ed25519.getPublicKey(new Uint8Array(32).fill(7))
    const account = encodeStellarAddress(key, 42n)
    assert.deepEqual(checkAddress('STELLAR', account), { valid: true, kind: 'muxed', memoId: '42' })
  })

  it('accepts a muxed account with a small id, whatever its key ends in', () => {
    for (let at = 0; at < 200; at++) {
      const key = ed25519.getPublicKey(hash('sha256', `muxed ${at}`, 'buffer'))
      for (const id of [0n, 1n]) {
        const account = encodeStellarAddress(key, id)
        assert.equal(checkAddress('STELLAR', account).valid, true, account)
      }
    }
  })

  it('accepts an EVM address in a single case unless a checksum is required', () => {
    const lower = '0xf0aa84466e353e5390be37fe2934301c07c19a55'
    assert.equal(checkAddress('INK', lower).valid, true)
    const check = checkAddress('INK', lower, { requireEvmChecksum: true })
    assert.equal(check.valid ? check.kind : check.reason, 'checksum_missing')
  })

  it('refuses an empty text and one that is too long', () => {
    for (const network of cryptoNetworks) {
      for (const text of ['', '1'.repeat(129), 'x'.repeat(100_000)]) {
        const check = checkAddress(network, text)
        assert.equal(
          check.valid ? check.kind : check.reason,
          'length',
          `${network}, ${text.length} characters`,
        )
      }
    }
  })
})

describe('known destinations', () => {
  const known = knownDestinations.flatMap(({ fault, addresses }) =>
    Object.entries(addresses).map(([name, address]) => ({ fault, name, address })),
  )

  it('name their source and date', () => {
    for (const { what, source, date } of knownDestinations) {
      assert(source !== '' && /^2026-\d\d-\d\d$/.test(date), what)
    }
  })

  it('are refused on every EVM network, in every spelling', () => {
    const contracts = known.filter(({ address }) => address.startsWith('0x'))
    assert(contracts.length > 3_000)
    const evm = cryptoNetworks.filter((network) => traitsOf(network).commonKind === 'evm')
    for (const { fault, name, address } of contracts) {
      assert.equal(address, mixedCaseEvmAddress(address), name)
      for (const network of evm) {
        assert.equal(reasonOf(network, address), fault, `${name} on ${network}`)
        assert.equal(reasonOf(network, address.toLowerCase()), fault, `${name} on ${network}`)
      }
    }
  })

  it('are refused on Solana', () => {
    const faults = new Set(['token_contract', 'program_or_sysvar'])
    const accounts = known.filter(({ fault, address }) => faults.has(fault) && address.length > 42)
    assert(accounts.length > 500)
    for (const { fault, name, address } of accounts) {
      assert.equal(reasonOf('SOLANA', address), fault, name)
    }
  })

  it('hold the hash that a burn address spells', () => {
    const burnt = known.filter(({ name }) => /^1[1-9A-HJ-NP-Za-km-z]{25,33}$/.test(name))
    assert(burnt.length > 5)
    for (const { fault, name, address } of burnt) {
      assert.equal(bytesToHex(base58.decode(name).subarray(1, 21)), address, name)
      assert.equal(reasonOf('BITCOIN', name), fault, name)
    }
  })

  it('are searched for patterns only among destinations', () => {
    const pattern = `0x${'1'.repeat(40)}`
    assert.equal(reasonOf('BASE', pattern), 'no_key')
    assert.equal(checkAddress('BASE', pattern, { issued: true }).valid, true)
  })

  it('are no address that a wallet makes', () => {
    for (const network of cryptoNetworks) {
      for (let at = 0; at < 500; at++) {
        const address = encodeAddress(network, hash('sha256', `wallet ${at}`, 'buffer'))
        assert.equal(checkAddress(network, address).valid, true, address)
      }
    }
  })
})

describe('canonicalAddress', () => {
  const same: readonly [CryptoNetwork, spellings: readonly string[]][] = [
    [
      'BITCOIN',
      ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'],
    ],
    [
      'BITCOIN_CASH',
      [
        'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
        'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
        'BITCOINCASH:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A',
      ],
    ],
    [
      'INK',
      [
        '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
        '0xf0aa84466e353e5390be37fe2934301c07c19a55',
        '0xF0AA84466E353E5390BE37FE2934301C07C19A55',
      ],
    ],
  ]
  for (const [network, spellings] of same) {
    it(`gives equal addresses on ${network} the same spelling`, () => {
      for (const spelling of spellings) {
        assert.equal(canonicalAddress(network, spelling), spellings[0], spelling)
      }
    })
  }

  it('gives an address one key on all of its networks, in every spelling', () => {
    const { exclusive } = depositAddress.resource
    for (const [, spellings] of same) {
      const keys = spellings.flatMap((address) => exclusive?.keysOf(address) ?? [])
      assert.deepEqual([keys.length, new Set(keys).size], [spellings.length, 1], String(spellings))
    }
  })

  it('keeps significant case and returns nothing for a refused address', () => {
    const solana = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'
    assert.equal(canonicalAddress('SOLANA', solana), solana)
    const legacy = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
    assert.equal(canonicalAddress('BITCOIN', legacy), legacy)
    assert.equal(canonicalAddress('LITECOIN', legacy), undefined)
    const onTest = 'qp63uahgrxged4z5jswyt5dn5v3lzsem6cq85x00dt'
    const policy = { testnets: true }
    assert.equal(canonicalAddress('BITCOIN_CASH', onTest, policy), `bchtest:${onTest}`)
  })
})

describe('encodeAddress', () => {
  it('makes valid addresses on all eleven networks', () => {
    for (const network of cryptoNetworks) {
      for (let first = 0; first < 50; first++) {
        const payload = Uint8Array.from(
          { length: 32 },
          (_, index) => (first * 37 + index * 11) % 256,
        )
        const address = encodeAddress(network, payload)
        assert.equal(checkAddress(network, address).valid, true, address)
      }
    }
  })
})

function reasonOf(network: CryptoNetwork, address: string): string {
  const check = checkAddress(network, address)
  return check.valid ? check.kind : check.reason
}

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))

function acceptedChanges(network: CryptoNetwork, address: string): string[] {
  return [...address].flatMap((original, index) =>
    printable
      .filter((character) => character !== original)
      .map((character) => address.slice(0, index) + character + address.slice(index + 1))
      .filter((changed) => checkAddress(network, changed).valid),
  )
}

/**
 * EIP-55 holds about one bit a letter, so a change may pass by chance in an address with few
 * letters. The published vectors have no such case. The other checksums detect every change.
 */
function carriesChecksum(vector: Vector): boolean {
  if (!vector.valid || vector.network === 'SOLANA') return false
  return vector.reason !== 'evm' || (isMixedCase(vector) && !vector.why.startsWith('viem'))
}

function isMixedCase({ address, reason }: Vector): boolean {
  const digits = address.slice(2)
  return reason === 'evm' && digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
}
