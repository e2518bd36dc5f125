import { ConfigError } from '../../../platform/config.ts'
import { commandHint } from '../../../platform/version.ts'
import type { Connection } from '../driver/connection.ts'

/** How row-level security treats the role of a session. */
const roleQuery = `
  select current_user, role.rolsuper or role.rolbypassrls,
    pg_has_role(current_user, owned.relowner, 'member'),
    exists (
      select 1 from pg_policy as policy, unnest(policy.polroles) as admitted (role)
      where policy.polrelid = owned.oid and policy.polname = 'operator'
        and admitted.role <> 0 and pg_has_role(current_user, admitted.role, 'member'))
  from pg_roles as role, pg_class as owned
  where role.rolname = current_user and owned.oid = 'bursar.fiat_account'::regclass`

async function readRole(connection: Connection) {
  const [row] = await connection.query({ text: roleQuery })
  const [name, ...answers] = (row ?? []).map(String)
  const [bypasses, owns, isAdmitted] = answers.map((answer) => answer === 't')
  return { name, bypasses, owns, isAdmitted }
}

/** Throws a ConfigError for a role that row-level security does not limit to one tenant. */
export async function requireCustomersRole(connection: Connection): Promise<void> {
  const { name, bypasses, owns, isAdmitted } = await readRole(connection)
  const what = bypasses
    ? 'a superuser, or may bypass row level security'
    : owns
      ? 'the owner of the tables'
      : isAdmitted
        ? 'the operator’s role, which sees every customer'
        : undefined
  if (what === undefined) return
  throw new ConfigError(
    `DATABASE_URL must not name the role ${name}: it is ${what}. Serve with the role that ${commandHint('migrate --app-role')} was given (bursar).`,
  )
}

/** Throws a ConfigError for a role from which row-level security would hide records. */
export async function requireOperatorRole(connection: Connection): Promise<void> {
  const { name, bypasses, isAdmitted } = await readRole(connection)
  if (bypasses || isAdmitted) return
  throw new ConfigError(
    `The role ${name} is not the operator’s: it would see no customer’s records. Set OPERATOR_DATABASE_URL to a URL of the role that ${commandHint('migrate --operator-role')} was given (bursar_operator).`,
  )
}
