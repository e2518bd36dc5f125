import Type from 'typebox'
import { largest } from '../../values/bounds.ts'
import { parseDecimal } from '../../values/decimal.ts'
import { type CryptoNetwork, isCryptoNetwork } from '../../values/network.ts'
import { checkAddress } from '../addresses/check-address.ts'
import type { AssetKind } from '../models/asset-kind.ts'
import {
  type AddFault,
  convert,
  leaf,
  object,
  optional,
  type Reader,
  record,
  type ValueOf,
} from './document-reader.ts'
import {
  decimalText,
  evmAddress,
  integer,
  oneOf,
  positiveUnits,
  solanaKey,
} from './schedule-values.ts'

/** One (asset, network) pair. Amounts are smallest units of the asset on that network. */
export type AssetPair = {
  readonly asset: string
  readonly network: CryptoNetwork
  readonly kind: AssetKind
  readonly decimals: number
  /** The contract, mint or issuer; undefined for a native coin. */
  readonly token: string | undefined
  readonly certainty: 'A' | 'B' | 'C' | undefined
  readonly enabled: boolean
  readonly feeIncrementUnits: bigint
  readonly feeUnitsMin: bigint
  readonly amountUnitsMin: bigint
  /** The share of a transfer that the token itself takes, in millionths. */
  readonly transferPpm: bigint
}

/** The document's `assets`: pairs by network, then by asset. */
export const pairs: Reader<ReadonlyMap<string, ReadonlyMap<string, AssetPair>>> = record(
  (network) => (given, path, pass) => {
    if (isCryptoNetwork(network)) {
      return record((asset) => pair(network, asset))(given, path, pass)
    }
    pass.faults.push(`${path} is no network`)
    return undefined
  },
)

type TokenMember = 'contract' | 'mint' | 'issuer'

/** The kinds of token that exist on a network, each with the member that holds its address. */
export function tokenMembersOf(
  network: CryptoNetwork,
): Readonly<Partial<Record<AssetKind, TokenMember>>> {
  switch (network) {
    case 'BITCOIN':
    case 'LITECOIN':
    case 'BITCOIN_CASH':
      return {}
    case 'SOLANA':
      return { spl: 'mint', token2022: 'mint' }
    case 'STELLAR':
      return { trustline: 'issuer' }
    default:
      return { erc20: 'contract' }
  }
}

const assetShape = {
  kind: oneOf('native', 'erc20', 'spl', 'token2022', 'trustline'),
  decimals: integer(0, 30),
  contract: optional(evmAddress),
  mint: optional(solanaKey),
  issuer: optional(leaf(Type.String({ minLength: 56, maxLength: 56 }))),
  certainty: optional(oneOf('A', 'B', 'C')),
  enabled: optional(leaf(Type.Boolean())),
  fee_increment: decimalText,
  min_fee: decimalText,
  min_amount: optional(decimalText),
  token_transfer_ppm: optional(integer(0, 1_000_000)),
}
type AssetDocument = ValueOf<typeof assetShape>

const pair = (network: CryptoNetwork, asset: string): Reader<AssetPair> =>
  convert(object(assetShape), (document, addFault) => {
    const { kind, decimals, certainty, enabled } = document
    const unitsOf = (member: 'min_fee' | 'min_amount'): bigint => {
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
      feeIncrementUnits: positiveUnits(document.fee_increment, decimals, 'fee_increment', addFault),
      feeUnitsMin: unitsOf('min_fee'),
      amountUnitsMin: largest(unitsOf('min_amount'), 1n),
      token: kind === 'native' ? undefined : readToken(network, document, addFault),
      certainty,
      enabled: enabled ?? (kind === 'native' || certainty === 'A'),
      transferPpm: BigInt(document.token_transfer_ppm ?? 0),
    }
  })

function readToken(
  network: CryptoNetwork,
  document: AssetDocument,
  addFault: AddFault,
): string | undefined {
  const member = tokenMembersOf(network)[document.kind]
  if (member === undefined) {
    addFault('kind', `does not exist on ${network}`)
    return undefined
  }
  if (document.certainty === undefined) addFault('certainty', 'must be A, B or C')
  const address = document[member]
  if (address === undefined) {
    addFault(member, 'is missing')
    return undefined
  }
  const check = checkAddress(network, address)
  // Withdrawals to a token's own contract are refused, but this member has to hold one.
  if (!check.valid && check.reason !== 'token_contract') {
    addFault(member, `is wrong: ${check.detail}`)
  }
  return address
}
