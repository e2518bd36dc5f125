import type { CryptoNetwork } from '@bursar/base'
import type { AddressCheck, AddressPolicy, AddressRefusal } from './addresses/address-check.ts'
import { checkAddress } from './addresses/check-address.ts'
import { refuseAs } from './addresses/known-destinations.ts'
import { stellarAccountOf } from './addresses/stellar-address.ts'
import type { AssetPair } from './schedule/asset-pair.ts'
import type { FeeSchedule } from './schedule/read-schedule.ts'

export type Destination = {
  readonly network: CryptoNetwork
  readonly address: string
  /** Without an asset, what only one asset must not be sent to is not refused. */
  readonly asset: string
}

/** Whether a withdrawal may be paid to an address. A quote and the console both ask this. */
export function checkDestination(
  schedule: FeeSchedule,
  { network, address, asset }: Destination,
  policy: AddressPolicy,
): AddressCheck {
  const check = checkAddress(network, address, policy)
  if (!check.valid) return check
  const pair = schedule.pairs.get(network)?.get(asset)
  return refuseIssuer(pair, address) ?? refuseToken(schedule, address) ?? check
}

function refuseIssuer(pair: AssetPair | undefined, address: string): AddressRefusal | undefined {
  if (pair?.kind !== 'trustline' || stellarAccountOf(address) !== pair.token) return undefined
  return refuseAs('token_issuer')
}

/** Covers tokens that the operator added, on any network. */
function refuseToken({ pairs }: FeeSchedule, address: string): AddressRefusal | undefined {
  for (const ofNetwork of pairs.values()) {
    for (const pair of ofNetwork.values()) {
      if (isTokenOf(pair, address)) return refuseAs('token_contract')
    }
  }
  return undefined
}

function isTokenOf({ kind, token }: AssetPair, address: string): boolean {
  if (kind === 'trustline') return false
  return kind === 'erc20' ? token?.toLowerCase() === address.toLowerCase() : token === address
}
