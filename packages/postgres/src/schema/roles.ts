import { commandHint } from '@bursar/base'
import type { Connection } from '../driver/connection.ts'
import { sessionRefused } from '../driver/failure.ts'

/** How row-level security treats the role of a session. */
const roleQuery = `
  select current_user, role.rolsuper or role.rolbypassrls,
    pg_has_role(current_user, owned.relowner, 'member'),
    exists (
      select 1 from pg_policy as policy, unnest(policy.polroles) as admitted (role)
      where policy.polrelid = owned.oid and policy.polname = 'operator'
        and admitted.role <> 0 and pg_has_role(current_user, admitted.role, 'member')),
    case when not has_database_privilege(current_database(), 'temporary')
      then format('grant temporary on database %I to %I', current_database(), current_user) end
  from pg_roles as role, pg_class as owned
  where role.rolname = current_user and owned.oid = 'bursar.fiat_account'::regclass`

async function readRole(connection: Connection) {
  const [row] = await connection.query({ text: roleQuery })
  const [name, ...answers] = (row ?? []).map((value) => value?.toString())
  const [bypasses, owns, isAdmitted] = answers.map((answer) => answer === 't')
  return { name, bypasses, owns, isAdmitted, grantDue: answers[3] }
}

/** What makes a role unfit for any URL of a server: row-level security must apply to it. */
function unrestricted({ bypasses, owns }: Awaited<ReturnType<typeof readRole>>) {
  if (bypasses) return 'a superuser, or may bypass row level security'
  return owns ? 'the owner of the tables' : undefined
}

/** Refuses a role that row-level security does not limit to one tenant. */
export const requireCustomersRole =
  (setting: 'DATABASE_URL' | 'DATABASE_READ_URLS'): RoleCheck =>
  async (connection) => {
    const role = await readRole(connection)
    const what =
      unrestricted(role) ??
      (role.isAdmitted ? 'the operator’s role, which sees every customer' : undefined)
    if (what === undefined) return
    throw sessionRefused(
      `${setting} must not name the role ${role.name}: it is ${what}. Serve with the role that ${commandHint('migrate --app-role')} was given (bursar).`,
    )
  }

/** Refuses a role other than the operator's: it sees no records, or could change the tables. */
export const requireOperatorRole: RoleCheck = async (connection) => {
  const role = await readRole(connection)
  const what = unrestricted(role)
  if (what === undefined && role.isAdmitted) {
    if (role.grantDue === undefined) return
    throw sessionRefused(
      `The role ${role.name} may not make temporary tables, in which imports stage records. Run \`${role.grantDue}\` as an administrator.`,
    )
  }
  const why = what === undefined ? 'it would see no customer’s records' : `it is ${what}`
  throw sessionRefused(
    `The role ${role.name} is not the operator’s: ${why}. Set OPERATOR_DATABASE_URL to a URL of the role that ${commandHint('migrate --operator-role')} was given (bursar_operator).`,
  )
}

/** Runs on each new session. Rejects if its role is not the one that the URL must name. */
export type RoleCheck = (connection: Connection) => Promise<void>
