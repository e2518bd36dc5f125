-- Clients, their secrets, the wrapped keys, refused tokens and used assertions. Row-level security
-- by customer does not apply here. docs/decisions/0031-row-level-security.md lists what each role
-- may do. Instants are microseconds since 1970, UTC.

-- Every change that running servers must learn of bumps this number. It locks this row first, so
-- changes run one after another, and a reader of a number sees every change up to it.
create table bursar.credential_revision (
  one boolean primary key default true check (one),
  value bigint not null
);
insert into bursar.credential_revision values (true, 1);

create table bursar.client (
  id text collate "C" primary key,
  customer_id text collate "C",  -- null: a client of the operator
  name text not null,
  scopes text not null,          -- separated by single spaces
  method text collate "C" not null check (method in ('secret', 'keys', 'issuer')),
  jwks text,
  issuer text collate "C",
  external_id text collate "C",
  created_at bigint not null,
  not_before bigint not null,    -- tokens issued before this are refused
  disabled_at bigint,
  last_used_at bigint,
  check ((method = 'keys') = (jwks is not null)),
  check ((method = 'issuer') = (issuer is not null)),
  check ((method = 'issuer') = (external_id is not null))
);
create unique index client_by_external_id on bursar.client (issuer, external_id) where issuer is not null;

create table bursar.client_secret (
  sequence bigint generated always as identity primary key,
  id text collate "C" not null unique,
  client_id text collate "C" not null references bursar.client (id),
  hash text not null,            -- hmac256:<key id>:<hex>
  created_at bigint not null,
  last_used_at bigint
);
create index client_secret_by_client on bursar.client_secret (client_id, sequence);

create table bursar.purpose_key (
  sequence bigint generated always as identity primary key,
  id text collate "C" not null unique,
  purpose text collate "C" not null,
  wrapped text not null,
  master_id text not null,
  created_at bigint not null,
  active_from bigint not null,
  revoked_at bigint
);
create index purpose_key_by_purpose on bursar.purpose_key (purpose);

-- A token that is refused twice with two expiries has two rows, so that the app needs no privilege
-- to update rows.
create table bursar.denied_token (
  jti text collate "C",
  expires_at bigint,
  primary key (jti, expires_at)
);
create index denied_token_by_expiry on bursar.denied_token (expires_at);

create table bursar.used_assertion (
  client_id text collate "C",
  jti text collate "C",
  expires_at bigint not null,
  primary key (client_id, jti)
);
create index used_assertion_by_expiry on bursar.used_assertion (expires_at);

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
