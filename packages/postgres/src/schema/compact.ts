import { ConfigError, limitsOf, type ServerAddress } from '@bursar/base'
import { isTrue, StoreUnavailable } from '@bursar/records'
import { withPrimary } from '../cluster/with-primary.ts'
import type { Connection } from '../driver/connection.ts'
import { isLockTimeout } from '../driver/failure.ts'
import { tableRights } from './grants.ts'

const limits = limitsOf({
  /** PostgreSQL: how long a compaction waits for a table, whose readers wait too, and how often. */
  compactLockMs: 2000,
  compactAttemptsMax: 10,
})

/**
 * Writes every table anew without deleted rows, as the owner. Each is locked for as long as that
 * takes. Statistics hold values of the rows, so those are made anew too. Returns the bytes before
 * and after.
 */
export const compactPostgres = (
  addresses: readonly ServerAddress[],
): Promise<{ before: number; after: number }> =>
  withPrimary(addresses, async (connection) => {
    const before = await bytesOf(connection)
    // A lock that is awaited makes all readers of the table wait behind it.
    await connection.execute(
      `set lock_timeout = ${limits.compactLockMs}; set statement_timeout = 0`,
    )
    try {
      for (const table of Object.keys(tableRights)) await rewrite(connection, `bursar.${table}`)
      await rewrite(connection, 'pg_catalog.pg_statistic')
    } finally {
      await connection.execute('reset lock_timeout; reset statement_timeout')
    }
    return { before, after: await bytesOf(connection) }
  })

async function rewrite(connection: Connection, table: string): Promise<void> {
  await requireRewritable(connection, table)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connection.execute(`vacuum (full, analyze) ${table}`)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (attempt < limits.compactAttemptsMax) continue
      throw new StoreUnavailable(
        `${table} is in use, so it is not compacted; the tables before it are; run this again when imports and exports have ended`,
        { cause: error },
      )
    }
  }
}

/** PostgreSQL skips a table that the role may not rewrite, with no more than a warning. */
async function requireRewritable(connection: Connection, table: string): Promise<void> {
  const [row = {}] = await connection.rows({
    text: `select pg_has_role(relowner, 'usage') or pg_has_role(datdba, 'usage') as may,
        current_user as role, pg_get_userbyid(nspowner) as owner, datname
      from pg_class, pg_database, pg_namespace
      where pg_class.oid = '${table}'::regclass and datname = current_database()
        and nspname = 'bursar'`,
  })
  const { may, role, owner, datname } = row
  if (isTrue(may)) return
  throw new ConfigError(
    `The role ${role} may not compact ${table}; the tables before it are compacted. Use a URL of ${owner}, which must own the database too: run \`alter database ${datname} owner to ${owner}\` as an administrator, then this again.`,
  )
}

async function bytesOf(connection: Connection): Promise<number> {
  const [row] = await connection.rows({
    text: `select sum(pg_total_relation_size(oid))::bigint as bytes from pg_class
      where relnamespace = 'bursar'::regnamespace and relkind = 'r'`,
  })
  return Number(row?.bytes ?? 0)
}
