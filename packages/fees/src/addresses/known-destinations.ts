import assert from 'node:assert/strict'
import schedule from '../schedule/fee-schedule.json' with { type: 'json' }
import {
  type AddressFault,
  type AddressPolicy,
  type AddressRefusal,
  refuse,
} from './address-check.ts'
import groups from './known-destinations.json' with { type: 'json' }

/** The faults of `known-destinations.json`, each with what the caller should do. */
const details = {
  no_key:
    'Nobody is known to have the key of this address, so what it receives is lost; send the address of the recipient’s own wallet.',
  contract:
    'The address is a contract that credits nobody for a plain transfer; send the address of the recipient’s own wallet.',
  token_contract:
    'The address is a token’s contract or mint, where deposits are lost; send the address of the recipient’s own wallet.',
  token_issuer:
    'The account issues this asset, and a payment to the issuer destroys it; send the recipient’s own account.',
  program_or_sysvar:
    'The address is a program or a system account; send the address of the recipient’s own wallet.',
} as const satisfies Partial<Record<AddressFault, string>>

type KnownFault = keyof typeof details

const isKnownFault = (fault: string): fault is KnownFault => fault in details

export const refuseAs = (fault: KnownFault): AddressRefusal => refuse(fault, details[fault])

type TokenPlace = { readonly kind: string; readonly contract?: string; readonly mint?: string }
const assets: Readonly<Record<string, Readonly<Record<string, TokenPlace>>>> = schedule.assets

/**
 * Destinations that lose what they receive, by payload in hexadecimal digits or, on Solana, by
 * address. A contract is refused on every EVM network: people paste its address on the wrong one,
 * where nobody has its key either.
 */
const knownFaults: ReadonlyMap<string, KnownFault> = new Map([
  ...groups.flatMap(({ fault, addresses }) => {
    assert(isKnownFault(fault), `${fault} has no detail`)
    return Object.values(addresses).map((address) => [keyOf(address), fault] as const)
  }),
  ...Object.values(assets)
    .flatMap((tokens) => Object.values(tokens))
    .flatMap(({ contract, mint }) => contract ?? mint ?? [])
    .map((address) => [keyOf(address), 'token_contract'] as const),
])

function keyOf(address: string): string {
  return address.startsWith('0x') ? address.slice(2).toLowerCase() : address
}

/**
 * Twenty equal digits or five equal words are 80 bits that nobody can search a key for: burn
 * addresses, and the ranges that chains reserve (OP stack: `0x4200…`, `0xc0D3…`, `0xDeadDead…`).
 */
const hexadecimalPattern = /([0-9a-f])\1{19}|(?:dead|beef|c0d3|cafe|babe){5}/

/** The same of base58 and base32, which have more bits a character: `1Counterparty…XXXXXXXX…`. */
const textPattern = /(.)\1{13}/

/**
 * Refuses a destination that is known to lose what it receives, or that no key can belong to.
 * `payload` is what the address encodes, in lower-case hexadecimal digits.
 */
export function refuseLost(
  policy: AddressPolicy,
  payload: string,
  text = '',
): AddressRefusal | undefined {
  const fault = knownFaults.get(payload) ?? knownFaults.get(text)
  if (fault !== undefined) return refuseAs(fault)
  if (policy.issued === true) return undefined
  const isPattern = hexadecimalPattern.test(payload) || textPattern.test(text)
  return isPattern ? refuseAs('no_key') : undefined
}
