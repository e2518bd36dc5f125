-- Instants are microseconds since 1970, UTC.

-- Every change that running servers must learn of bumps this number. The servers poll it.
create table credential_revision (
  one integer primary key check (one = 1),
  value integer not null
) strict;
insert into credential_revision values (1, 1);

create table client (
  id text primary key,
  customer_id text,            -- null: a client of the operator
  name text not null,
  scopes text not null,        -- separated by single spaces
  method text not null check (method in ('secret', 'keys', 'issuer')),
  jwks text,
  issuer text,
  external_id text,
  created_at integer not null,
  not_before integer not null, -- tokens issued before this are refused
  disabled_at integer,
  last_used_at integer,
  bound_to text,               -- the one customer of a client of the operator
  revision integer not null default 0,
  check ((method = 'keys') = (jwks is not null)),
  check ((method = 'issuer') = (issuer is not null)),
  check ((method = 'issuer') = (external_id is not null))
) strict, without rowid;
create unique index client_by_external_id on client (issuer, external_id) where issuer is not null;
create index client_by_revision on client (revision);

create table client_secret (
  sequence integer primary key,
  id text not null unique,
  client_id text not null references client (id),
  hash text not null,          -- hmac256:<key id>:<hex>
  created_at integer not null,
  last_used_at integer,
  expires_at integer           -- null: the secret does not expire
) strict;
create index client_secret_by_client on client_secret (client_id, sequence);

create table purpose_key (
  sequence integer primary key,
  id text not null unique,
  purpose text not null,
  wrapped text not null,
  master_id text not null,
  created_at integer not null,
  active_from integer not null,
  revoked_at integer,
  revision integer not null default 0
) strict;

-- A token that is refused twice with two expiries has two rows.
create table denied_token (
  jti text not null,
  expires_at integer not null,
  revision integer not null default 0,
  primary key (jti, expires_at)
) strict, without rowid;
create index denied_token_by_expiry on denied_token (expires_at);
create index denied_token_by_revision on denied_token (revision);

create table used_assertion (
  client_id text not null,
  jti text not null,
  expires_at integer not null,
  primary key (client_id, jti)
) strict, without rowid;
create index used_assertion_by_expiry on used_assertion (expires_at);

-- A row carries the revision of its last change, so that servers read only what has changed. When
-- a client was last used is no change.
create trigger client_added after insert on client begin
  update client set revision = (select value from credential_revision) where id = new.id;
end;
create trigger client_changed after update of customer_id, name, scopes, method, jwks, issuer,
  external_id, created_at, not_before, disabled_at, bound_to on client begin
  update client set revision = (select value from credential_revision) where id = new.id;
end;
create trigger key_added after insert on purpose_key begin
  update purpose_key set revision = (select value from credential_revision) where id = new.id;
end;
create trigger key_changed after update of wrapped, master_id, revoked_at on purpose_key begin
  update purpose_key set revision = (select value from credential_revision) where id = new.id;
end;
create trigger token_denied after insert on denied_token begin
  update denied_token set revision = (select value from credential_revision)
  where jti = new.jti and expires_at = new.expires_at;
end;
