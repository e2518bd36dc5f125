import { Type } from 'typebox'
import { largest } from '../../values/bounds.ts'
import { parseDecimal } from '../../values/decimal.ts'
import { type CryptoNetwork, isCryptoNetwork } from '../../values/network.ts'
import { checkAddress } from '../addresses/check-address.ts'
import { traitsOf } from '../networks.ts'
import {
  type AddFault,
  convert,
  fault,
  leaf,
  object,
  optional,
  type Reader,
  record,
  type ValueOf,
} from './document-reader.ts'
import { decimalText, evmAddress, integer, oneOf, positiveUnits, solanaKey } from './readers.ts'

/** One (asset, network) pair. Amounts are smallest units of the asset on that network. */
export type AssetPair = Readonly<ValueOf<ReturnType<typeof pair>>>

/** The document's `assets`: pairs by network, then by asset. */
export const pairs = record(
  (network): Reader<ReadonlyMap<string, AssetPair>> =>
    (given, path, pass) =>
      isCryptoNetwork(network)
        ? record((asset) => pair(network, asset))(given, path, pass)
        : fault(pass, `${path} is no network`),
)

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

const pair = (network: CryptoNetwork, asset: string) =>
  convert(object(assetShape), (document, addFault) => {
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
  })

function readToken(network: CryptoNetwork, document: AssetDocument, addFault: AddFault) {
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
