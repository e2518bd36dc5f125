import type { RecordRules } from '../contract/resource.ts'
import type { Config } from '../platform/config.ts'

export const recordRules = (config: Config): RecordRules => ({
  statementTypes: new Set(config.statementTypes),
  statementProducts: new Set(config.statementProducts),
  testnets: config.addressTestnets,
})
