import { existsSync } from 'node:fs'
import { ConfigError } from '../../../platform/config.ts'

/** The file that exists while a restore replaces a database. */
export const restoreMarker = (path: string): string => `${path}.restoring`

/** Throws a ConfigError if a restore is replacing the database, or was interrupted. */
export function refuseHalfRestored(path: string): void {
  if (!existsSync(restoreMarker(path))) return
  throw new ConfigError(
    `${path} is being restored, or its restore was interrupted. If no restore is running, run \`bursar restore FILE --replace\` again.`,
  )
}
