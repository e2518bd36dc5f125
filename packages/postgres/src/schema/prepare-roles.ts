import { ConfigError, commandHint } from '@bursar/base'
import { transact } from '../cluster/transaction.ts'
import type { Connection } from '../driver/connection.ts'
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
