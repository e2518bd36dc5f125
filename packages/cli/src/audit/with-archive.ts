import { type Keyring, openLog, systemTime } from '@bursar/base'
import type { AuditKey } from '@bursar/records'
import { type AuditArchive, storeEngine } from '@bursar/server/stores'
import { type CommonOptions, configOf } from '../options.ts'

/** Finds an audit key by its id, also a revoked one: the lines that it made are still checked. */
export function auditKeysOf(keyring: Keyring): (id: string) => AuditKey | undefined {
  const keys = new Map(keyring.all('audit').map((key) => [key.id, key]))
  return (id) => keys.get(id)
}

/** Opens the log by `--database` or DATABASE_URL, since the program's own roles cannot read it. */
export const withArchive = async <T>(
  options: CommonOptions,
  work: (archive: AuditArchive) => Promise<T>,
): Promise<T> =>
  (
    await storeEngine({ config: configOf(options), clock: systemTime.now, log: openLog('warn') })
  ).withAudit(work)
