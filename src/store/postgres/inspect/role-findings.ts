import { type Finding, refusalOf } from '../../../platform/finding.ts'
import { commandHint } from '../../../platform/version.ts'
import { text } from '../../row.ts'
import type { Connection } from '../driver/connection.ts'
import { auditRights, type Roles, tableRights } from '../schema/grants.ts'
import { type RoleCheck, requireCustomersRole, requireOperatorRole } from '../schema/roles.ts'

type ExpectedRole = {
  readonly require: RoleCheck
  readonly rights: keyof Roles
}

export const customersRole: ExpectedRole = {
  require: requireCustomersRole('DATABASE_URL'),
  rights: 'app',
}
export const operatorsRole: ExpectedRole = { require: requireOperatorRole, rights: 'operator' }

/** What a role may do beyond its part, and what it lacks. */
export async function roleFindings(
  session: Connection,
  { require, rights }: ExpectedRole,
): Promise<readonly Finding[]> {
  const refused = await refusalOf(() => require(session))
  // An unfit role has other rights too, and the one finding says enough.
  if (refused.length > 0) return refused
  const memberships = await session.rows({ text: MEMBERSHIPS })
  const bypassing = memberships.map((row) => ({
    what: `the role ${text(row, 'name')} is a member of ${text(row, 'of')}, which may bypass row-level security`,
    why: 'with `set role`, its sessions see the records of every customer',
    fix: `run \`revoke ${text(row, 'of')} from ${text(row, 'name')}\``,
  }))
  return [...bypassing, ...(await rightFindings(session, rights))]
}

/** Managed services give some roles such a membership. */
const MEMBERSHIPS = `
  select current_user as name, target.rolname as of from pg_roles as target
  where (target.rolbypassrls or target.rolsuper) and target.rolname <> current_user
    and pg_has_role(current_user, target.oid, 'member')
  order by target.rolname`

/** Compares the rights of a role on whole tables with those that `migrate` grants. */
async function rightFindings(
  session: Connection,
  rights: ExpectedRole['rights'],
): Promise<readonly Finding[]> {
  const rows = await session.rows({ text: RIGHTS })
  return rows.flatMap((row) => {
    const [role, table, granted] = [text(row, 'role'), text(row, 'table'), text(row, 'granted')]
    const held = granted === '' ? [] : granted.split(' ')
    const granting = tableRights[table] ?? auditRights[table]
    const expected = wholeTableRights(granting?.[rights] ?? '')
    const [more, less] = [held, expected].map((own, at) =>
      own.filter((right) => !([expected, held][at] ?? []).includes(right)),
    )
    const fix = `run ${commandHint('migrate')} as the owner, which grants each role its rights`
    return [
      ...(more?.length
        ? [
            {
              what: `the role ${role} may ${more.join(', ')} on ${table}`,
              why: 'its password would give an attacker more than the program needs',
              fix,
            },
          ]
        : []),
      ...(less?.length
        ? [
            {
              what: `the role ${role} may not ${less.join(', ')} on ${table}`,
              why: 'requests that need it are answered 503',
              fix,
            },
          ]
        : []),
    ]
  })
}

/** `select, update (kept_at)` grants `select` on the whole table. */
const wholeTableRights = (granted: string): readonly string[] =>
  granted
    .replace(/\([^)]*\)/g, '()')
    .split(',')
    .map((right) => right.trim())
    .filter((right) => right !== '' && !right.endsWith('()'))

const RIGHTS = `
  select current_user as role, case when schema_.nspname = 'bursar' then relation.relname
      else schema_.nspname || '.' || relation.relname end as table, coalesce((
    select string_agg(lower(right_.name), ' ' order by right_.name)
    from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) as right_ (name)
    where has_table_privilege(current_user, relation.oid, right_.name)), '') as granted
  from pg_class as relation join pg_namespace as schema_ on schema_.oid = relation.relnamespace
  where schema_.nspname in ('bursar', 'bursar_audit') and relation.relkind = 'r'
  order by schema_.nspname, relation.relname`
