import { commandHint, type Finding } from '@bursar/base'
import { text } from '@bursar/records'
import { type Connection, textArray } from '../driver/connection.ts'
import { auditRights, neededFunctions, type Roles, tableRights } from '../schema/grants.ts'

/**
 * Compares all that a role may do in the schemas of the program with what `migrate` grants. Rights
 * count however the role has them: from PUBLIC, or from a role that it is a member of.
 */
export async function rightFindings(
  session: Connection,
  role: keyof Roles,
): Promise<readonly Finding[]> {
  const needed = neededFunctions[role]
  const rows = await session.rows({ text: RIGHTS, values: [textArray(needed)] })
  const name = text(rows[0] ?? {}, 'role')
  const held = rows.flatMap(({ right, object }) =>
    right === null ? [] : [`${right} on ${object}`],
  )
  const expected = [
    ...Object.entries({ ...tableRights, ...auditRights }).flatMap(([table, granted]) =>
      rightsOn(table, granted[role]),
    ),
    ...['schema bursar', 'schema bursar_audit'].map((schema) => `usage on ${schema}`),
    ...needed.map((called) => `execute on function ${called}`),
  ]
  const fix = `run ${commandHint('migrate')} as the owner, which grants each role its rights, and revoke what is left`
  const findings = (rights: readonly string[], verb: string, why: string) =>
    byObject(rights).map((what) => ({ what: `the role ${name} ${verb} ${what}`, why, fix }))
  return [
    ...findings(
      held.filter((right) => !expected.includes(right)),
      'may',
      'its password would give an attacker more than the program needs',
    ),
    ...findings(
      expected.filter((right) => !held.includes(right)),
      'may not',
      'requests that need it are answered 503',
    ),
  ]
}

/** `select, update (a, b)` is a right on the table and one on each of two columns. */
const rightsOn = (table: string, granted: string): readonly string[] =>
  [...granted.matchAll(/(\w+)(?:\s*\(([^)]*)\))?/g)].flatMap(([, right, columns]) =>
    columns === undefined
      ? [`${right} on ${table}`]
      : columns.split(',').map((column) => `${right} on ${table} (${column.trim()})`),
  )

/** `select on a` and `delete on a` as `select, delete on a`. */
const byObject = (rights: readonly string[]): readonly string[] =>
  [...Map.groupBy(rights, (right) => right.slice(right.indexOf(' on ')))].map(
    ([object, all]) =>
      all.map((right) => right.slice(0, right.indexOf(' on '))).join(', ') + object,
  )

/**
 * The rights of the session's role, as rows of right and object. Outside of the schemas it looks
 * for what shows or does something with the rights of another role: views of these tables, and
 * functions of who may read them. A right to a table that is missing has a row without a right.
 */
const RIGHTS = `
  with recursive relation as (
    select class.oid, class.relkind, case when schema_.nspname = 'bursar' then class.relname
      else schema_.nspname || '.' || class.relname end as name
    from pg_class as class join pg_namespace as schema_ on schema_.oid = class.relnamespace
    where schema_.nspname in ('bursar', 'bursar_audit')
  ), tabular as (
    select * from relation where relkind in ('r', 'p', 'v', 'm', 'f')
  ), derived (oid) as (
    select rule.ev_class from tabular
    join pg_depend as used on used.refclassid = 'pg_class'::regclass and used.refobjid = tabular.oid
    join pg_rewrite as rule on used.classid = 'pg_rewrite'::regclass and used.objid = rule.oid
    union
    select rule.ev_class from derived
    join pg_depend as used on used.refclassid = 'pg_class'::regclass and used.refobjid = derived.oid
    join pg_rewrite as rule on used.classid = 'pg_rewrite'::regclass and used.objid = rule.oid
  ), foreign_view as (
    select class.oid, schema_.nspname || '.' || class.relname as name
    from derived join pg_class as class on class.oid = derived.oid
    join pg_namespace as schema_ on schema_.oid = class.relnamespace
    where schema_.nspname not in ('bursar', 'bursar_audit')
      and not coalesce(array_to_string(class.reloptions, ' ') ~* 'security_invoker=(true|on|yes|1)', false)
      and not pg_has_role(current_user, class.relowner, 'usage')
      and has_schema_privilege(current_user, schema_.oid, 'usage')
  ), of_table (name) as (
    select unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']
      || case when current_setting('server_version_num')::integer >= 170000 then array['maintain']
        else array[]::text[] end)
  ), of_column (name) as (
    values ('select'), ('insert'), ('update'), ('references')
  ), held ("right", object) as (
    select of_table.name, tabular.name from tabular, of_table
    where has_table_privilege(current_user, tabular.oid, of_table.name)
    union all
    select of_column.name, tabular.name || ' (' || attname || ')' from of_column, tabular
    join pg_attribute on attrelid = tabular.oid and attnum > 0 and not attisdropped
    where has_column_privilege(current_user, tabular.oid, attnum, of_column.name)
      and not has_table_privilege(current_user, tabular.oid, of_column.name)
    union all
    select sequence_right.name, 'sequence ' || relation.name
    from relation, unnest(array['usage', 'select', 'update']) as sequence_right (name)
    where relkind = 'S' and case when relkind = 'S'
      then has_sequence_privilege(current_user, relation.oid, sequence_right.name) end
    union all
    select schema_right.name, 'schema ' || nspname
    from pg_namespace, unnest(array['usage', 'create']) as schema_right (name)
    where nspname in ('bursar', 'bursar_audit')
      and has_schema_privilege(current_user, pg_namespace.oid, schema_right.name)
    union all
    select 'create', 'database ' || current_database()
    where has_database_privilege(current_user, current_database(), 'create')
    union all
    select 'execute', 'function ' || called.name
    from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
    join pg_roles as owner on owner.oid = proowner
    cross join lateral (select case when nspname = 'bursar' then proname
      else nspname || '.' || proname end) as called (name)
    where has_function_privilege(current_user, pg_proc.oid, 'execute')
      and has_schema_privilege(current_user, pg_namespace.oid, 'usage')
      and (called.name = any($1::text[]) or prosecdef
        and not pg_has_role(current_user, proowner, 'usage')
        and nspname not in ('pg_catalog', 'information_schema')
        and not exists (select from pg_depend where classid = 'pg_proc'::regclass
          and objid = pg_proc.oid and deptype = 'e')
        and exists (select from tabular where has_table_privilege(proowner, tabular.oid, 'select')
          or has_table_privilege(proowner, tabular.oid, 'insert')))
    union all
    select of_table.name, 'view ' || foreign_view.name from foreign_view, of_table
    where has_table_privilege(current_user, foreign_view.oid, of_table.name)
      or of_table.name in (select name from of_column)
        and has_any_column_privilege(current_user, foreign_view.oid, of_table.name)
  )
  select current_user as role, "right", object
  from (select) as always left join held on true order by object, "right"`
