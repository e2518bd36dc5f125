import { bytesToHex } from '@noble/hashes/utils.js'
import { bech32 } from '@scure/base'
import {
  type AddressCheck,
  type AddressKind,
  type AddressPolicy,
  accept,
  refuse,
} from './address-check.ts'
import { refuseLost } from './known-destinations.ts'

const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const mainPrefix = 'bitcoincash'
const testPrefixes = ['bchtest', 'bchreg']
const checksumWords = 8

/** By the type bits of the version byte: CashAddr, and CashTokens CHIP-2022-02 for the last two. */
const kinds: readonly AddressKind[] = ['p2pkh', 'p2sh', 'p2pkh-token-aware', 'p2sh-token-aware']

/** Only scripts have a 32-byte form (CHIP-2022-05 P2SH32). Its output and dust limit are larger. */
const longKinds: Readonly<Partial<Record<AddressKind, AddressKind>>> = {
  p2sh: 'p2sh32',
  'p2sh-token-aware': 'p2sh32-token-aware',
}

/** Hash sizes by the size bits of the version byte. Only 20 and 32 are spendable. */
const hashBytes: readonly number[] = [20, 24, 28, 32, 40, 48, 56, 64]

/**
 * Checks a CashAddr address (specification, section "Encoding"); the prefix is optional. Legacy
 * Base58Check forms are refused, since the same strings are Bitcoin addresses.
 */
export function checkCashAddress(address: string, policy: AddressPolicy): AddressCheck {
  if (/^[13][1-9A-HJ-NP-Za-km-z]{24,34}$/.test(address)) {
    const detail = 'The legacy form is also a Bitcoin address; send the CashAddr form.'
    return refuse('legacy_format', detail)
  }
  const lower = address.toLowerCase()
  if (address !== lower && address !== address.toUpperCase()) {
    return refuse('mixed_case', 'A CashAddr address must not mix upper and lower case.')
  }
  const colon = lower.indexOf(':')
  const body = lower.slice(colon + 1)
  const allowed = policy.testnets === true ? [mainPrefix, ...testPrefixes] : [mainPrefix]
  const candidates = colon === -1 ? allowed : [lower.slice(0, colon)]
  if (candidates.some((prefix) => !allowed.includes(prefix))) {
    return refuse('wrong_network', 'The address must have the prefix bitcoincash: or none.')
  }
  const words = wordsOf(body)
  if (words.includes(-1)) {
    return refuse('charset', 'The address has a character that CashAddr does not.')
  }
  if (!candidates.some((prefix) => isMadeWith(prefix, words))) {
    return refuse('checksum', 'The checksum of the address is wrong.')
  }
  return checkPayload(words.slice(0, -checksumWords), body, policy)
}

/** A valid address in lower case with the prefix that its checksum was made with. */
export function withCashPrefix(address: string): string {
  const lower = address.toLowerCase()
  if (lower.includes(':')) return lower
  const prefix = testPrefixes.find((each) => isMadeWith(each, wordsOf(lower)))
  return `${prefix ?? mainPrefix}:${lower}`
}

/** Encodes 20 bytes as P2PKH or 32 bytes as P2SH32, on the main network, with the prefix. */
export function encodeCashAddress(payload: Uint8Array): string {
  const version = payload.length === 20 ? 0 : (1 << 3) | 3
  const words = bech32.toWords(Uint8Array.of(version, ...payload))
  const remainder = checksum([...prefixWords(mainPrefix), 0, ...words, ...Array(8).fill(0)])
  const checks = Array.from({ length: 8 }, (_, index) =>
    Number((remainder >> BigInt(5 * (7 - index))) & 31n),
  )
  const body = [...words, ...checks].map((word) => alphabet.charAt(word)).join('')
  return `${mainPrefix}:${body}`
}

function checkPayload(words: number[], body: string, policy: AddressPolicy): AddressCheck {
  // CashAddr and Bech32 group bits alike.
  const bytes = bech32.fromWordsUnsafe(words)
  if (!bytes) return refuse('padding', 'The last character holds unused bits.')
  const version = bytes[0] ?? 0x80
  const kind = kinds[version >> 3]
  const size = hashBytes[version & 7]
  if (kind === undefined) return refuse('unsupported_kind', 'The type of address is unknown.')
  const lost = refuseLost(policy, bytesToHex(bytes.subarray(1)), body)
  if (bytes.length - 1 === size && size === 20) return lost ?? accept(kind)
  const longKind = bytes.length - 1 === size && size === 32 ? longKinds[kind] : undefined
  return longKind === undefined
    ? refuse('length', 'The address must hold 20 bytes, or 32 for a script.')
    : (lost ?? accept(longKind))
}

const wordsOf = (body: string): number[] =>
  [...body].map((character) => alphabet.indexOf(character))

const isMadeWith = (prefix: string, words: readonly number[]): boolean =>
  checksum([...prefixWords(prefix), 0, ...words]) === 0n

const prefixWords = (prefix: string): number[] =>
  [...prefix].map((character) => character.charCodeAt(0) & 31)

/** The 40-bit BCH code of CashAddr. It is 0 over a valid address with its prefix. */
function checksum(words: readonly number[]): bigint {
  let remainder = 1n
  for (const word of words) {
    const top = Number(remainder >> 35n)
    remainder = ((remainder & 0x07ffffffffn) << 5n) ^ BigInt(word) ^ (generatorSums[top] ?? 0n)
  }
  return remainder ^ 1n
}

const generators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]

/** The sum of the generators for each value of the five bits that a step moves out. */
const generatorSums = Array.from({ length: 32 }, (_, top) =>
  generators.reduce((sum, generator, bit) => ((top >> bit) & 1 ? sum ^ generator : sum), 0n),
)
