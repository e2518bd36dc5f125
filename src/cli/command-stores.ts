import { systemClock } from '../platform/clock.ts'
import { openLog } from '../platform/log.ts'
import { openOperatorStores, type Stores } from '../stores.ts'
import { type CommonOptions, configOf } from './options.ts'

/** The stores as the operator's commands see them: every customer's. What goes wrong beside the command is logged. */
export const openCommandStores = (options: CommonOptions): Promise<Stores> =>
  openOperatorStores({
    config: operatorConfigOf(options),
    clock: systemClock,
    log: openLog('warn'),
  })

/** A store that is named by `--database` is meant, whatever the environment says of the operator's. */
export function operatorConfigOf(options: CommonOptions) {
  const config = configOf(options)
  return options.database === undefined ? config : { ...config, operatorDatabaseUrl: undefined }
}
