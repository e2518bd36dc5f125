import { ConfigError, commandHint } from '@bursar/base'
import { text } from '@bursar/records'
import { transact } from '../cluster/transaction.ts'
import { type Connection, textArray } from '../driver/connection.ts'
import type { SessionSettings } from '../driver/sessions.ts'
import { identifier, type Roles } from './grants.ts'

/**
 * Gives the roles the rights on the database itself that PUBLIC has unless somebody has revoked
 * them. Throws a ConfigError with the statements if the owner may not.
 */
export async function grantDatabase(owner: Connection, { app, operator }: Roles): Promise<void> {
  const values = [
    [app, operator, operator],
    ['connect', 'connect', 'temporary'],
  ].map(textArray)
  const due = async () =>
    (await owner.rows({ text: DUE, values })).map((row) => text(row, 'statement'))
  const what = 'grant rights on the database'
  await runOrName(owner, what, await due())
  // PostgreSQL only warns a caller who may do something else with the database.
  const left = await due()
  if (left.length > 0) throw forAdministrator(what, left)
}

const DUE = `
  select format('grant %s on database %I to %I', needed.right, current_database(), needed.role)
    as statement
  from unnest($1::text[], $2::text[]) as needed (role, "right")
  where not has_database_privilege(needed.role, current_database(), needed.right)`

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
  await runOrName(owner, 'change the roles', statements)
}

const FIND = `
  select current_database(), (
    select array_to_string(setconfig, E'\\n') from pg_db_role_setting as stored
    join pg_database on pg_database.oid = stored.setdatabase
    join pg_roles on pg_roles.oid = stored.setrole
    where datname = current_database() and rolname = $1)`

async function runOrName(
  owner: Connection,
  what: string,
  statements: readonly string[],
): Promise<void> {
  try {
    if (statements.length > 0) await transact(owner, () => owner.execute(statements.join('; ')))
  } catch (error) {
    if ((error as { code?: unknown }).code !== '42501') throw error
    throw forAdministrator(what, statements)
  }
}

const forAdministrator = (what: string, statements: readonly string[]): ConfigError =>
  new ConfigError(
    `The owner of the tables may not ${what}. Run these statements as an administrator, then ${commandHint('migrate')} again:\n${statements.map((statement) => `${statement};`).join('\n')}`,
  )
