import { ConfigError } from '../../../platform/config.ts'
import { commandHint } from '../../../platform/version.ts'
import { transact } from '../cluster/transaction.ts'
import { type Connection, textArray } from '../driver/connection.ts'
import type { SessionSettings } from '../driver/sessions.ts'
import { identifier, type Roles } from './grants.ts'

/**
 * Makes settings those of the two roles in this database, for the sessions of a pooler. Throws a
 * ConfigError with the statements if the owner may not change the roles.
 */
export async function setRoles(
  owner: Connection,
  { app, operator }: Roles,
  settings: SessionSettings,
): Promise<void> {
  const statements: string[] = []
  for (const role of [app, operator]) {
    const [row] = await owner.query({ text: FIND, values: [role] })
    const stored = String(row?.[1] ?? '').split('\n')
    const due = Object.entries(settings).filter(([name, to]) => !stored.includes(`${name}=${to}`))
    const place = `role ${identifier(role)} in database ${identifier(String(row?.[0]))}`
    statements.push(...due.map(([name, to]) => `alter ${place} set ${name} = '${to}'`))
  }
  try {
    if (statements.length > 0) await transact(owner, () => owner.execute(statements.join('; ')))
  } catch (error) {
    if ((error as { code?: unknown }).code !== '42501') throw error
    const lines = statements.map((statement) => `${statement};`).join('\n')
    throw new ConfigError(
      `The owner of the database may not change the roles. Run these statements as a superuser, then ${commandHint('migrate')} again:\n${lines}`,
    )
  }
}

const FIND = `
  select current_database(), (
    select array_to_string(setconfig, E'\\n') from pg_db_role_setting as stored
    join pg_database on pg_database.oid = stored.setdatabase
    join pg_roles on pg_roles.oid = stored.setrole
    where datname = current_database() and rolname = $1)`

/** Throws a ConfigError unless the sessions behind a pooler have the settings that they need. */
export async function requireSettings(
  connection: Connection,
  settings: SessionSettings,
): Promise<void> {
  const rows = await connection.query({
    text: 'select current_user, name, setting from pg_settings where name = any($1::text[])',
    values: [textArray(Object.keys(settings))],
  })
  for (const row of rows) {
    const [role = '', name = '', is = ''] = row.map(String)
    const wanted = String(settings[name])
    if (is === wanted) continue
    throw new ConfigError(
      `The sessions of role ${role} behind the pooler have ${name} = ${is}, not ${wanted}. Run ${commandHint('migrate')} with BURSAR_POOLER=transaction and the same BURSAR_DATABASE_TIMEOUT_MS. Then let the pooler open new sessions: RECONNECT in PgBouncer’s console.`,
    )
  }
}
