import { type Finding, refusalOf } from '@bursar/base'
import { text } from '@bursar/records'
import type { Connection } from '../driver/connection.ts'
import type { Roles } from '../schema/grants.ts'
import { type RoleCheck, requireCustomersRole, requireOperatorRole } from '../schema/roles.ts'
import { rightFindings } from './right-findings.ts'

type ExpectedRole = {
  readonly require: RoleCheck
  readonly rights: keyof Roles
}

export const customersRole: ExpectedRole = {
  require: requireCustomersRole('DATABASE_URL'),
  rights: 'app',
}
export const operatorsRole: ExpectedRole = { require: requireOperatorRole, rights: 'operator' }

/** Looks further with a role that is fit for its URL. The check of roles reports another one. */
export async function ofFit(
  session: Connection,
  { require }: ExpectedRole,
  find: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const refused = await refusalOf(() => require(session))
  return refused.length > 0 ? [] : await find()
}

/** What a role may do beyond its part, and what it lacks. */
export async function roleFindings(
  session: Connection,
  { require, rights }: ExpectedRole,
): Promise<readonly Finding[]> {
  const refused = await refusalOf(() => require(session))
  // An unfit role has other rights too, and the one finding says enough.
  if (refused.length > 0) return refused
  const memberships = await session.rows({ text: MEMBERSHIPS })
  const member = memberships.map((row) => ({
    what: `the role ${text(row, 'name')} is a member of ${text(row, 'of')}${row.bypasses === true ? ', which may bypass row-level security' : ''}`,
    why:
      row.bypasses === true
        ? 'with `set role`, its sessions see the records of every customer'
        : 'its sessions have the rights of that role too',
    fix: `run \`revoke ${text(row, 'of')} from ${text(row, 'name')}\``,
  }))
  const attributes = (await session.rows({ text: ATTRIBUTES })).map((row) => ({
    what: `the role ${text(row, 'name')} may ${text(row, 'may')}`,
    why: 'its password would give an attacker more than the program needs',
    fix: 'take the attribute away with `alter role`',
  }))
  return [...member, ...attributes, ...(await rightFindings(session, rights))]
}

/** Managed services give some roles such memberships. */
const MEMBERSHIPS = `
  select current_user as name, target.rolname as of,
    target.rolbypassrls or target.rolsuper as bypasses
  from pg_roles as target
  where target.rolname <> current_user and pg_has_role(current_user, target.oid, 'member')
  order by target.rolname`

/** Each of these attributes reaches beyond the rights to tables. */
const ATTRIBUTES = `
  select rolname as name, attribute.may from pg_roles, lateral (values
    (rolcreaterole, 'create roles'), (rolcreatedb, 'create databases'),
    (rolreplication, 'copy the whole database by replication')) as attribute (is_set, may)
  where rolname = current_user and attribute.is_set`
