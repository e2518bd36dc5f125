import type { Config } from '@bursar/base'
import type { AddressPolicy } from './address-check.ts'

export const addressPolicy = (
  config: Pick<Config, 'addressTestnets' | 'requireEvmChecksum'>,
): AddressPolicy => ({
  testnets: config.addressTestnets,
  requireEvmChecksum: config.requireEvmChecksum,
})
