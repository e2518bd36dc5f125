import { cryptoNetworks, DAY_MICROS, printInstant } from '@bursar/base'
import { conversionTargets } from '@bursar/contract'
import { traitsOf } from '@bursar/fees'
import { encodeAddress } from './encode-address.ts'
import { type Life, lifeOf } from './lives.ts'
import { cycle, drawBytes } from './seeded.ts'
import { carriesOptional, type Story } from './story.ts'

/** One key controls the same address on all of these networks. */
const evmNetworks = cryptoNetworks.filter((network) => traitsOf(network).addressFamily === 'evm')

/** Every address has an identity. Some are renamed a month after they were created. */
export function depositAddresses(story: Story, count: number, hours = 7): Life[] {
  const { customer } = story
  return Array.from({ length: count }, (_, at) => {
    const network = cycle(cryptoNetworks, at)
    const createdAt = story.createdAt(at, hours)
    const address = {
      id: story.idOf('deposit-addresses', at),
      customer_id: customer,
      profile_id: story.profileId(at),
      crypto_network: network,
      address: encodeAddress(network, drawBytes(`${customer} address ${at}`)),
      conversion_target_asset: cycle(conversionTargets, at),
      compatible_crypto_networks:
        evmNetworks.includes(network) && at % 2 === 0 ? [...evmNetworks] : [network],
      created_at: printInstant(createdAt),
      identity_id: story.identityId(at),
      ...(at % 3 !== 2 && { ref_id: story.refId('address', at) }),
      ...(carriesOptional(at) && { metadata: { label: `Wallet ${at + 1}` } }),
      ...(at % 2 === 0 && { account_id: story.accountId(at) }),
    }
    const created = { happenedAt: createdAt, record: () => address }
    const renamedAt = createdAt + 30n * DAY_MICROS
    const isRenamed = at % 40 === 20 && renamedAt <= story.end
    const renamed = {
      happenedAt: renamedAt,
      record: () => ({ ...address, metadata: { label: `Treasury wallet ${at + 1}` } }),
    }
    return lifeOf(story, isRenamed ? [created, renamed] : [created])
  })
}
