-- Every object of the schemas, and every right to them, one a row. `remove` is the statement that
-- removes it, and `form` then the one that makes it. An empty `remove` has nothing to remove. What
-- has none is mended by hand. How PostgreSQL prints a form depends on settings of the session.
with own_schema as (
  select oid, quote_ident(nspname) as name, nspowner as owner, nspacl as acl
  from pg_namespace where nspname in ('bursar', 'bursar_audit')
), relation as (
  select class.*, own_schema.name || '.' || quote_ident(relname) as name,
    case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view'
      when 'f' then 'foreign table' else 'table' end as kind
  from pg_class as class join own_schema on own_schema.oid = relnamespace
  where relkind in ('r', 'p', 'v', 'm', 'f', 'S')
), routine as (
  select pg_proc.*, own_schema.name || '.' || quote_ident(proname)
    || '(' || pg_get_function_identity_arguments(pg_proc.oid) || ')' as name
  from pg_proc join own_schema on own_schema.oid = pronamespace
), granted (target, columns, owner, acl) as (
  select 'schema ' || name, '', owner, coalesce(acl, acldefault('n', owner)) from own_schema
  union all
  select case relkind when 'S' then 'sequence ' else 'table ' end || name, '', relowner,
    coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))
  from relation
  union all
  select 'table ' || name, ' (' || quote_ident(attname) || ')', relowner, attacl
  from relation join pg_attribute on attrelid = relation.oid
  where attnum > 0 and not attisdropped and attacl is not null
  union all
  select 'routine ' || name, '', proowner, coalesce(proacl, acldefault('f', proowner)) from routine
)
select 'schema ' || name as object, 'of ' || quote_ident(pg_get_userbyid(owner)) as form, null as remove
from own_schema
union all
select kind || ' ' || name, concat_ws(' ', pg_get_userbyid(relowner), relpersistence,
    relreplident, array_to_string(reloptions, ','),
    case when relkind in ('v', 'm') then pg_get_viewdef(relation.oid) end,
    (select string_agg(concat_ws(' ', quote_ident(attname), format_type(atttypid, atttypmod),
        attnotnull, nullif(attidentity, ''), nullif(attgenerated, ''), attcollation,
        pg_get_expr(adbin, adrelid)), ', ' order by attnum)
      from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid = relation.oid and attnum > 0 and not attisdropped),
    (select string_agg(inhrelid::regclass::text, ', ' order by inhrelid::regclass::text)
      from pg_inherits where inhparent = relation.oid)),
  null
from relation
union all
select 'row-level security of ' || name, format('alter table %s %s row level security, %s row level security',
    name, case when relrowsecurity then 'enable' else 'disable' end,
    case when relforcerowsecurity then 'force' else 'no force' end),
  ''
from relation where relkind in ('r', 'p')
union all
select 'index ' || indexrelid::regclass, pg_get_indexdef(indexrelid), null
from relation join pg_index on indrelid = relation.oid
union all
select format('constraint %I of %s', conname, name), pg_get_constraintdef(pg_constraint.oid), null
from relation join pg_constraint on conrelid = relation.oid
union all
select 'type ' || own_schema.name || '.' || quote_ident(typname), typtype::text, null
from pg_type join own_schema on own_schema.oid = typnamespace
where typrelid = 0 and typcategory <> 'A'
union all
select format('policy %I of %s', polname, name),
  format('create policy %I on %s as %s for %s to %s', polname, name,
      case when polpermissive then 'permissive' else 'restrictive' end,
      case polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update'
        when 'd' then 'delete' else 'all' end,
      (select string_agg(admitted.name, ', ' order by admitted.name) from (
        select case role when 0 then 'public' else quote_ident(pg_get_userbyid(role)) end
        from unnest(polroles) as role) as admitted (name)))
    || coalesce(' using (' || pg_get_expr(polqual, polrelid) || ')', '')
    || coalesce(' with check (' || pg_get_expr(polwithcheck, polrelid) || ')', ''),
  format('drop policy %I on %s', polname, name)
from relation join pg_policy on polrelid = relation.oid
union all
select format('trigger %I of %s', tgname, name),
  case tgenabled when 'O' then '' else 'disabled, or fires differently: ' end || pg_get_triggerdef(pg_trigger.oid),
  format('drop trigger %I on %s', tgname, name)
from relation join pg_trigger on tgrelid = relation.oid where not tgisinternal
union all
select format('rule %I of %s', rulename, name), pg_get_ruledef(pg_rewrite.oid),
  format('drop rule %I on %s', rulename, name)
from relation join pg_rewrite on ev_class = relation.oid where relkind not in ('v', 'm')
union all
select 'function ' || name,
  case when prokind = 'a' then 'an aggregate' else pg_get_functiondef(oid) end, 'drop routine ' || name
from routine
union all
select 'owner of function ' || name, format('alter routine %s owner to %I', name, pg_get_userbyid(proowner)), ''
from routine
union all
select format('right of %s to %s%s on %s', grantee.name, lower(privilege_type), columns, target),
  format('grant %s%s on %s to %s', privilege_type, columns, target, grantee.name)
    || case when is_grantable then ' with grant option' else '' end,
  format('revoke %s%s on %s from %s', privilege_type, columns, target, grantee.name)
from granted cross join lateral aclexplode(acl) as held
cross join lateral (select case held.grantee when 0 then 'public'
  else quote_ident(pg_get_userbyid(held.grantee)) end) as grantee (name)
where held.grantee <> granted.owner
