-- A row carries the revision of its last change, so that servers read only what has changed.
-- 0 stands for every change before this step.
alter table bursar.client add column revision bigint not null default 0;
create index client_by_revision on bursar.client (revision);
alter table bursar.denied_token add column revision bigint not null default 0;
create index denied_token_by_revision on bursar.denied_token (revision);
alter table bursar.purpose_key add column revision bigint not null default 0;

-- Triggers, and not the program, stamp a row: a server of the version before, which knows no such
-- column, may still run while others are upgraded. When a client was last used is no change.
create function bursar.stamp_revision() returns trigger language plpgsql
set search_path = pg_catalog as $stamp$
begin
  select value into strict new.revision from bursar.credential_revision;
  return new;
end
$stamp$;
create trigger stamped before insert or update of customer_id, name, scopes, method, jwks, issuer,
  external_id, created_at, not_before, disabled_at on bursar.client
  for each row execute function bursar.stamp_revision();
create trigger stamped before insert on bursar.denied_token
  for each row execute function bursar.stamp_revision();
create trigger stamped before insert or update on bursar.purpose_key
  for each row execute function bursar.stamp_revision();

-- Null: the secret does not expire.
alter table bursar.client_secret add column expires_at bigint;

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

-- The timeline is the high part of the revision, so only the timeline of the server is stored.
create function bursar.require_current_timeline() returns trigger language plpgsql
set search_path = pg_catalog as $timeline$
begin
  if new.timeline <> ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint
  then
    raise exception 'the timeline must be that of this server' using errcode = '23514';
  end if;
  return new;
end
$timeline$;
create trigger is_current before update on bursar.lineage
  for each row execute function bursar.require_current_timeline();

-- A key of a purpose that no version knows serves nobody but an attacker. A later version adds its
-- purposes here.
alter table bursar.purpose_key add constraint purpose_key_purpose_is_known
  check (purpose in ('cursor', 'client-secret', 'token-signing'));
