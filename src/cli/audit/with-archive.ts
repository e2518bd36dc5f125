import { systemClock } from '../../platform/clock.ts'
import { openLog } from '../../platform/log.ts'
import { type AuditArchive, withAuditArchive } from '../../stores.ts'
import { type CommonOptions, configOf } from '../options.ts'

/** Opens the log by `--database` or DATABASE_URL, since the program's own roles cannot read it. */
export const withArchive = <T>(
  options: CommonOptions,
  work: (archive: AuditArchive) => Promise<T>,
): Promise<T> =>
  withAuditArchive({ config: configOf(options), clock: systemClock, log: openLog('warn') }, work)
