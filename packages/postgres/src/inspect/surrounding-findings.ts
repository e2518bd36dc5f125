import type { Finding } from '@bursar/base'
import { optionalText, text } from '@bursar/records'
import type { Connection } from '../driver/connection.ts'

/** What a database has beside the schemas of the program, and what reaches into them. */
export async function surroundingFindings(session: Connection): Promise<readonly Finding[]> {
  const rows = await session.rows({ text: SURROUNDINGS })
  return rows.map((row) => ({
    what: text(row, 'what'),
    why: text(row, 'why'),
    fix:
      optionalText(row, 'fix') ??
      'drop it as the owner of the database, or take the tables of Bursar out of it',
  }))
}

/** None of it is made by `migrate`. Event triggers of extensions come with the extension. */
const SURROUNDINGS = `
  with recursive own (oid) as (
    select class.oid from pg_class as class join pg_namespace as of on of.oid = class.relnamespace
    where of.nspname in ('bursar', 'bursar_audit') and relkind in ('r', 'p', 'v', 'm', 'f')
  ), derived (oid) as (
    select oid from own
    union
    select ev_class from derived
    join pg_depend as used on used.refclassid = 'pg_class'::regclass and used.refobjid = derived.oid
    join pg_rewrite as rule on used.classid = 'pg_rewrite'::regclass and used.objid = rule.oid
  )
  select 'the view ' || derived.oid::regclass || ' shows tables of Bursar' as what,
    'who may read it sees them with the rights of its owner' as why, null as fix
  from derived join pg_class as class on class.oid = derived.oid
  where derived.oid not in (select oid from own)
    and not coalesce(array_to_string(reloptions, ' ') ~* 'security_invoker=(true|on|yes|1)', false)
  union all
  select 'the function ' || pg_proc.oid::regprocedure || ' runs with the rights of role '
      || rolname || ', which may read or change tables of Bursar',
    'whoever calls it has these rights', 'drop it, or revoke its execution from everybody else'
  from pg_proc join pg_namespace as of on of.oid = pronamespace join pg_roles on pg_roles.oid = proowner
  where prosecdef and nspname not in ('pg_catalog', 'information_schema', 'bursar', 'bursar_audit')
    and (proacl is null or exists (select from aclexplode(proacl)
      where grantee <> proowner and privilege_type = 'EXECUTE'))
    and not exists (select from pg_depend
      where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
    and exists (select from own where has_table_privilege(proowner, own.oid, 'select, insert, update'))
  union all
  select 'the event trigger ' || evtname || ' runs ' || evtfoid::regproc || ' at ' || evtevent,
    'it runs with the rights of whoever changes the schema or signs in, and may change what they do',
    null
  from pg_event_trigger
  where evtenabled <> 'D' and not exists (select from pg_depend
    where classid = 'pg_event_trigger'::regclass and objid = pg_event_trigger.oid and deptype = 'e')
  union all
  select 'the default privileges of role ' || pg_get_userbyid(defaclrole)
      || coalesce(' in schema ' || nspname, '') || ' change the rights on new '
      || case defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions'
        when 'T' then 'types' else 'schemas' end,
    'what the next migration makes has other rights than the program gives', null
  from pg_default_acl left join pg_namespace on pg_namespace.oid = defaclnamespace
  where case when defaclnamespace = 0
    then defaclrole in (select nspowner from pg_namespace where nspname in ('bursar', 'bursar_audit'))
    else nspname in ('bursar', 'bursar_audit') end
  union all
  select 'the publication ' || pubname || ' has ' || case count(*)
      when 1 then 'table ' || min(schemaname || '.' || tablename) else count(*) || ' tables of Bursar' end,
    'its subscribers copy records of every customer', null
  from pg_publication_tables where schemaname in ('bursar', 'bursar_audit') group by pubname
  union all
  select 'the subscription ' || subname || ' writes ' || case count(*)
      when 1 then 'table ' || min(srrelid::regclass::text) else count(*) || ' tables of Bursar' end,
    'it changes records past the program', null
  from pg_subscription_rel join pg_subscription on pg_subscription.oid = srsubid
  join pg_class on pg_class.oid = srrelid join pg_namespace on pg_namespace.oid = relnamespace
  where nspname in ('bursar', 'bursar_audit') group by subname
  union all
  select 'the server writes values of statements to its log ('
      || string_agg(name || ' = ' || setting, ', ' order by name) || ')',
    'account numbers and addresses stay in files that others read',
    'set log_parameter_max_length = 0 as an administrator'
  from pg_settings
  where current_setting('log_parameter_max_length') <> '0' and (name = 'log_statement' and setting in ('mod', 'all')
    or name in ('log_min_duration_statement', 'log_min_duration_sample') and setting <> '-1'
    or name = 'log_transaction_sample_rate' and setting <> '0')
  having count(*) > 0
  order by 1`
