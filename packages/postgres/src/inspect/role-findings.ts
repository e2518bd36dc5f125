import { type Finding, refusalOf } from '@bursar/base'
import { text } from '@bursar/records'
import { type Connection, textArray } from '../driver/connection.ts'
import { pinnedSettings } from '../driver/required-settings.ts'
import type { RoleCheck } from '../schema/roles.ts'

/** What a role has beside its rights to objects, which the check of the schema compares. */
export async function roleFindings(
  session: Connection,
  require: RoleCheck,
): Promise<readonly Finding[]> {
  const refused = await refusalOf(() => require(session))
  // An unfit role has other rights too, and the one finding says enough.
  if (refused.length > 0) return refused
  const settings = Object.entries({ ...pinnedSettings, ...loading })
  const names = textArray(settings.map(([name]) => name))
  const values = textArray(settings.map(([, value]) => String(value)))
  const rows = await session.rows({ text: BEYOND, values: [names, values] })
  return rows.map((row) => ({
    what: `the role ${text(row, 'role')} ${text(row, 'what')}`,
    why: text(row, 'why'),
    fix: text(row, 'fix'),
  }))
}

/** What else a setting of a role could bring into its sessions. */
const loading = { session_preload_libraries: '', local_preload_libraries: '', role: 'none' }

/** Managed services give some roles memberships. Attributes reach beyond the rights to tables. */
const BEYOND = `
  with own as (select * from pg_roles where rolname = current_user)
  select own.rolname as role, found.* from own cross join lateral (
    select 'is a member of ' || target.rolname
        || case when target.rolbypassrls or target.rolsuper
          then ', which may bypass row-level security' else '' end as what,
      case when target.rolbypassrls or target.rolsuper
        then 'with \`set role\`, its sessions see the records of every customer'
        else 'its sessions have the rights of that role too' end as why,
      format('run \`revoke %I from %I\`', target.rolname, own.rolname) as fix
    from pg_roles as target
    where target.oid <> own.oid and pg_has_role(own.oid, target.oid, 'member')
    union all
    select 'may ' || may, 'its password would give an attacker more than the program needs',
      'take that away with \`alter role\`, or \`revoke\` for a right'
    from (values (own.rolcreaterole, 'create roles'), (own.rolcreatedb, 'create databases'),
      (own.rolreplication, 'copy the whole database by replication'),
      (has_database_privilege(own.oid, current_database(), 'create'), 'create schemas in the database')
    ) as attribute (is_set, may)
    where is_set
    union all
    select 'has the setting ' || setting, 'its sessions could find other objects than they name',
      format('run \`alter role %I reset %s\`, with \`in database\` if it is one of a database',
        own.rolname, split_part(setting, '=', 1))
    from pg_db_role_setting cross join unnest(setconfig) as setting
    where setrole = own.oid and setdatabase in (0, (
        select oid from pg_database where datname = current_database()))
      and exists (select from unnest($1::text[], $2::text[]) as needed (name, value)
        where starts_with(setting, needed.name || '=') and setting <> needed.name || '=' || needed.value)
  ) as found
  order by what`
