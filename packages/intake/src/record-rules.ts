import type { Config } from '@bursar/base'
import type { RecordRules } from '@bursar/contract'

export const recordRules = (config: Config): RecordRules => ({
  statementTypes: new Set(config.statementTypes),
  statementProducts: new Set(config.statementProducts),
  testnets: config.addressTestnets,
})
