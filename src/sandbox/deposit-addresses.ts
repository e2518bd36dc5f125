import type { RecordInput } from '../contract/resource.ts'
import { traitsOf } from '../fees/networks.ts'
import { conversionTargets } from '../resources/deposit-address.ts'
import { cryptoNetworks } from '../values/network.ts'
import { encodeAddress } from './encode-address.ts'
import { cycle, drawBytes, drawUuid } from './seeded.ts'
import {
  accountId,
  carriesOptional,
  createdAt,
  fixtureIds,
  identityId,
  profileId,
  refId,
} from './story.ts'

/** One key controls the same address on all of these networks. */
const evmNetworks = cryptoNetworks.filter((network) => traitsOf(network).commonKind === 'evm')

export function depositAddresses(customer: string, count: number): RecordInput[] {
  return Array.from({ length: count }, (_, at) => {
    const isFirst = customer === 'acme' && at === 0
    const network = cycle(cryptoNetworks, at)
    return {
      id: isFirst ? fixtureIds['deposit-addresses'] : drawUuid(`${customer} deposit address ${at}`),
      customer_id: customer,
      profile_id: profileId(customer, at),
      crypto_network: network,
      address: encodeAddress(network, drawBytes(`${customer} address ${at}`)),
      conversion_target_asset: cycle(conversionTargets, at),
      compatible_crypto_networks:
        evmNetworks.includes(network) && at % 2 === 0 ? [...evmNetworks] : [network],
      created_at: createdAt(at),
      ...(at % 3 !== 2 && { ref_id: refId(customer, 'address', at) }),
      ...(carriesOptional(at) && {
        identity_id: identityId(customer, at),
        metadata: { label: `wallet ${at + 1}` },
      }),
      ...(at % 2 === 0 && { account_id: accountId(customer, at) }),
    }
  })
}
