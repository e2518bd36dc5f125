import type { Config } from '../../platform/config.ts'
import type { AddressPolicy } from './address-check.ts'

export const addressPolicy = (config: Config): AddressPolicy => ({
  testnets: config.addressTestnets,
  requireEvmChecksum: config.requireEvmChecksum,
})
