import { attempt } from '@bursar/base'
import { schnorr } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { base58check, bech32, bech32m } from '@scure/base'
import {
  type AddressCheck,
  type AddressKind,
  type AddressPolicy,
  accept,
  refuse,
} from './address-check.ts'
import { refuseLost } from './known-destinations.ts'

type Base58Kind = 'p2pkh' | 'p2sh'

/** The address forms of Bitcoin or Litecoin: version bytes of Base58Check and the Bech32 prefix. */
export type UtxoForms = {
  readonly versions: Readonly<Record<number, Base58Kind>>
  readonly testVersions: Readonly<Record<number, Base58Kind>>
  readonly prefix: string
  readonly testPrefixes: readonly string[]
  /** A version byte whose addresses are the same strings on another chain. */
  readonly ambiguousVersion?: number
}

export const bitcoinForms: UtxoForms = {
  versions: { 0: 'p2pkh', 5: 'p2sh' },
  testVersions: { 111: 'p2pkh', 196: 'p2sh' },
  prefix: 'bc',
  testPrefixes: ['tb', 'bcrt'],
}

export const litecoinForms: UtxoForms = {
  versions: { 48: 'p2pkh', 50: 'p2sh' },
  testVersions: { 111: 'p2pkh', 58: 'p2sh' },
  prefix: 'ltc',
  testPrefixes: ['tltc', 'rltc'],
  ambiguousVersion: 0x05,
}

const checkedBase58 = base58check(sha256)
const hashBytes = 20
/** A 20-byte hash in Base58Check has at most 35 characters, a private key (WIF) 51 or 52. */
const base58CharactersMax = 36
const segwitCharactersMax = 90
const wrongNetwork = (): AddressCheck =>
  refuse('wrong_network', 'The address belongs to another network.')

/** Tries Base58Check first, since a Litecoin address may begin like a Bech32 prefix. */
export function checkUtxoAddress(
  forms: UtxoForms,
  address: string,
  policy: AddressPolicy,
): AddressCheck {
  const payload =
    address.length <= base58CharactersMax ? attempt(() => checkedBase58.decode(address)) : undefined
  if (payload !== undefined) return checkBase58Payload(forms, address, payload, policy)
  if (/^(?:[5KLc9][1-9A-HJ-NP-Za-km-z]{50,51}|6P[1-9A-HJ-NP-Za-km-z]{56})$/.test(address)) {
    return refuse('secret_key', 'This is a private key, not an address: move the funds it guards.')
  }
  const separator = address.lastIndexOf('1')
  const prefix = address.slice(0, Math.max(0, separator)).toLowerCase()
  if (prefix === forms.prefix || forms.testPrefixes.includes(prefix)) {
    return checkSegwit(forms, prefix, address, policy)
  }
  if (decodeBech32(bech32, address) ?? decodeBech32(bech32m, address)) return wrongNetwork()
  return refuse('checksum', 'The text is no address of this network, or its checksum is wrong.')
}

/** Encodes 20 bytes as P2WPKH or 32 bytes as P2WSH, on the main network. */
export const encodeSegwitAddress = (forms: UtxoForms, program: Uint8Array): string =>
  bech32.encode(forms.prefix, [0, ...bech32.toWords(program)])

function checkBase58Payload(
  forms: UtxoForms,
  address: string,
  payload: Uint8Array,
  policy: AddressPolicy,
): AddressCheck {
  const version = payload[0] ?? -1
  if (payload.length !== 1 + hashBytes) return refuse('length', 'The address must hold 20 bytes.')
  if (version === forms.ambiguousVersion) {
    const detail = 'The legacy form 3… is also a Bitcoin address; send its M… form.'
    return refuse('ambiguous_legacy_p2sh', detail)
  }
  const testKind = policy.testnets === true ? forms.testVersions[version] : undefined
  const kind = forms.versions[version] ?? testKind
  if (kind === undefined) return wrongNetwork()
  return refuseLost(policy, bytesToHex(payload.subarray(1)), address) ?? accept(kind)
}

function checkSegwit(
  forms: UtxoForms,
  prefix: string,
  address: string,
  policy: AddressPolicy,
): AddressCheck {
  if (address !== address.toLowerCase() && address !== address.toUpperCase()) {
    return refuse('mixed_case', 'A Bech32 address must not mix upper and lower case.')
  }
  const asBech32 = decodeBech32(bech32, address)
  const words = asBech32 ?? decodeBech32(bech32m, address)
  if (words === undefined) return refuse('checksum', 'The checksum of the address is wrong.')
  const version = words[0]
  if (version === undefined) return refuse('length', 'The address holds no program.')
  if (version > 16) return refuse('witness_version', 'There is no such witness version.')
  if ((version === 0) !== (asBech32 !== undefined)) {
    return refuse('checksum_variant', 'Version 0 takes Bech32, later versions Bech32m (BIP-350).')
  }
  if (prefix !== forms.prefix && policy.testnets !== true) return wrongNetwork()
  return checkProgram(version, words.slice(1), address.toLowerCase(), policy)
}

/** BIP-141 and BIP-341. Unknown witness versions and pay-to-anchor are refused as destinations. */
function checkProgram(
  version: number,
  words: number[],
  address: string,
  policy: AddressPolicy,
): AddressCheck {
  const program = bech32.fromWordsUnsafe(words)
  if (!program) return refuse('padding', 'The last character holds unused bits.')
  const lost = refuseLost(policy, bytesToHex(program), address)
  if (version === 0) {
    const kinds: Readonly<Record<number, AddressKind>> = { 20: 'p2wpkh', 32: 'p2wsh' }
    const kind = kinds[program.length]
    return kind === undefined
      ? refuse('length', 'A version 0 program must hold 20 or 32 bytes.')
      : (lost ?? accept(kind))
  }
  if (version !== 1 || program.length !== 32) {
    return refuse('unsupported_witness', 'Only witness programs of version 0 and taproot are paid.')
  }
  if (isOnCurve(program)) return lost ?? accept('p2tr')
  return refuse('off_curve', 'No key can spend from this taproot address; copy it again.')
}

function decodeBech32(coder: typeof bech32 | typeof bech32m, address: string) {
  return coder.decodeUnsafe(address, segwitCharactersMax)?.words
}

/** Consensus accepts any 32 bytes, but no key can spend without a curve point at this x. */
const isOnCurve = (x: Uint8Array): boolean =>
  attempt(() => schnorr.utils.lift_x(BigInt(`0x${Buffer.from(x).toString('hex')}`))) !== undefined
