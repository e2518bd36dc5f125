-- What PostgreSQL adds to the tables of clients and keys.

-- A row carries the revision of its last change, so that servers read only what has changed. When a
-- client was last used is no change.
create function bursar.stamp_revision() returns trigger language plpgsql
set search_path = pg_catalog as $stamp$
begin
  select value into strict new.revision from bursar.credential_revision;
  return new;
end
$stamp$;
create trigger stamped before insert or update of customer_id, name, scopes, method, jwks, issuer,
  external_id, created_at, not_before, disabled_at, bound_to, seal on bursar.client
  for each row execute function bursar.stamp_revision();
create trigger stamped before insert on bursar.denied_token
  for each row execute function bursar.stamp_revision();
create trigger stamped before insert or update on bursar.purpose_key
  for each row execute function bursar.stamp_revision();

-- An attacker with the login of the app could otherwise set the revision back. Then servers would
-- take an old state for the current one and accept a disabled client.
create function bursar.require_next_revision() returns trigger language plpgsql
set search_path = pg_catalog as $next$
begin
  if new.value <> old.value + 1 then
    raise exception 'the revision of credentials only counts up, by one' using errcode = '23514';
  end if;
  return new;
end
$next$;
create trigger counts_up before update on bursar.credential_revision
  for each row execute function bursar.require_next_revision();

-- A key of a purpose that no version knows serves nobody but an attacker. A later version adds its
-- purposes here.
alter table bursar.purpose_key add constraint purpose_key_purpose_is_known
  check (purpose in (
    'cursor', 'client-secret', 'client-row', 'token-signing', 'audit', 'customer-key',
    'name-index', 'customer-number', 'import'));

-- An attacker with the login of the app must not be able to undo a refusal. The app can delete a
-- refused token or a used assertion only after it has expired by the database's clock. It can add
-- a key only for a purpose that has none.
do $rules$
declare
  refusal text;
begin
  foreach refusal in array array['denied_token', 'used_assertion'] loop
    execute format('alter table bursar.%I enable row level security', refusal);
    execute format('create policy reading on bursar.%I for select using (true)', refusal);
    execute format('create policy adding on bursar.%I for insert with check (true)', refusal);
    execute format(
      $policy$create policy forgetting on bursar.%I for delete
        using (expires_at <= (extract(epoch from statement_timestamp()) * 1000000)::bigint)$policy$, refusal);
  end loop;
end
$rules$;

alter table bursar.purpose_key enable row level security;
create policy reading on bursar.purpose_key for select using (true);
create policy first_of_its_purpose on bursar.purpose_key for insert
  with check (not exists (select from bursar.purpose_key as held where held.purpose = purpose_key.purpose));

-- Lines that say who saw records in full are found by record. It runs as the owner: the roles that
-- add lines have no right to the table.
create function bursar_audit.note_seen() returns trigger language plpgsql security definer
set search_path = pg_catalog as $seen$
declare
  entry json := new.body::json;
begin
  insert into bursar_audit.seen (customer, kind, id, at, chain, sequence, entry)
  select entry ->> 'customer', entry ->> 'kind', coalesce(record.id, ''), new.at, new.chain, new.sequence,
    json_build_object('action', entry -> 'action', 'actor', entry -> 'actor',
      'reason', entry -> 'reason', 'rows', entry -> 'rows')::text
  from (select 1) as one left join json_array_elements_text(entry -> 'ids') as record (id) on true
  where entry ->> 'customer' is not null and entry ->> 'kind' is not null
    and entry -> 'actor' is not null;
  return null;
end
$seen$;
revoke all on function bursar_audit.note_seen() from public;
create trigger seen after insert on bursar_audit.line
  for each row when (strpos(new.body, '"view":"full"') > 0) execute function bursar_audit.note_seen();
