import { text } from '../driver/cells.ts'
import type { Connection } from '../driver/connection.ts'

const PREFIX = 'bursar '
/** PostgreSQL keeps 63 bytes of a name. */
const NAME_LENGTH_MAX = 63

/**
 * The name of a session that declares the issuer of its process. The session of the health check
 * has it: each server has one of every process, and it ends with the process.
 */
export const sessionNameOf = (issuer: string): string =>
  `${PREFIX}${encodeURI(issuer.toWellFormed())}`.slice(0, NAME_LENGTH_MAX)

/** The other issuers that live processes with the same role declare for this database. */
export async function otherIssuers(connection: Connection, name: string): Promise<string[]> {
  const rows = await connection.query({
    text: `select distinct application_name from pg_stat_activity
      where datname = current_database() and usename = current_user
        and starts_with(application_name, $1) and application_name <> $2 order by 1`,
    values: [PREFIX, name],
  })
  return rows.map((row) => text(row, 0).slice(PREFIX.length))
}
