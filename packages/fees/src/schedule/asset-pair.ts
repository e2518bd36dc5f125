import { type CryptoNetwork, cryptoNetworks, largest, parseDecimal } from '@bursar/base'
import { type Static, Type } from 'typebox'
import { checkAddress } from '../addresses/check-address.ts'
import { traitsOf } from '../networks.ts'
import type { AddFault, DocumentParts } from './document-parts.ts'
import {
  decimalText,
  evmAddress,
  integer,
  object,
  oneOf,
  positiveUnits,
  record,
  solanaKey,
} from './schedule-members.ts'

/** One (asset, network) pair. Amounts are smallest units of the asset on that network. */
export type AssetPair = Readonly<ReturnType<typeof toPair>>

const pair = object({
  kind: oneOf('native', 'erc20', 'spl', 'token2022', 'trustline'),
  decimals: integer(0, 30),
  contract: Type.Optional(evmAddress),
  mint: Type.Optional(solanaKey),
  issuer: Type.Optional(Type.String({ minLength: 56, maxLength: 56 })),
  certainty: Type.Optional(oneOf('A', 'B', 'C')),
  enabled: Type.Optional(Type.Boolean()),
  fee_increment: decimalText,
  min_fee: decimalText,
  min_amount: Type.Optional(decimalText),
  token_transfer_ppm: Type.Optional(integer(0, 1_000_000)),
})
type PairDocument = Static<typeof pair>

const ofNetworks = cryptoNetworks.map((network) => [network, Type.Optional(record(pair))])

/** The document's `assets`: pairs by network, then by asset. */
export const assets = Type.Object(Object.fromEntries(ofNetworks), {
  additionalProperties: false,
  reason: 'must be an object',
  unknown: 'is no network',
})

export const readPairs = (network: CryptoNetwork, parts: DocumentParts) =>
  parts.readEach(['assets', network], (part, addFault, asset) =>
    toPair(network, asset, part as PairDocument, addFault),
  )

function toPair(network: CryptoNetwork, asset: string, document: PairDocument, addFault: AddFault) {
  const { kind, decimals, certainty } = document
  const unitsOf = (member: 'min_fee' | 'min_amount') => {
    const parsed = parseDecimal(document[member] ?? '0', decimals)
    if (parsed.ok) return parsed.units
    addFault(member, `has more decimals than the asset's ${decimals}`)
    return 0n
  }
  return {
    asset,
    network,
    kind,
    decimals,
    /** The contract, mint or issuer; undefined for a native coin. */
    token: kind === 'native' ? undefined : readToken(network, document, addFault),
    certainty,
    enabled: document.enabled ?? (kind === 'native' || certainty === 'A'),
    feeIncrementUnits: positiveUnits(document.fee_increment, decimals, 'fee_increment', addFault),
    feeUnitsMin: unitsOf('min_fee'),
    amountUnitsMin: largest(unitsOf('min_amount'), 1n),
    /** The share of a transfer that the token itself takes, in millionths. */
    transferPpm: BigInt(document.token_transfer_ppm ?? 0),
  }
}

function readToken(network: CryptoNetwork, document: PairDocument, addFault: AddFault) {
  const member = traitsOf(network).tokenMembers[document.kind]
  if (member === undefined) return addFault('kind', `does not exist on ${network}`)
  if (document.certainty === undefined) addFault('certainty', 'must be A, B or C')
  const address = document[member]
  if (address === undefined) return addFault(member, 'is missing')
  const check = checkAddress(network, address)
  // Withdrawals to a token's own contract are refused, but this member has to hold one.
  if (!check.valid && check.reason !== 'token_contract') {
    addFault(member, `is wrong: ${check.detail}`)
  }
  return address
}
