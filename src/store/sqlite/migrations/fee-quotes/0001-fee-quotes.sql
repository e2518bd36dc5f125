-- Instants are microseconds since 1970, UTC. Ids are UUIDs of version 7, which rise with time: new quotes fill the last
-- pages of the table, and a sweep takes its first.

create table fee_quote (
  id text primary key,
  customer_id text not null,
  client_id text not null,
  asset text not null,
  network text not null,
  address text not null,           -- as sent
  canonical_address text not null,
  amount text not null,
  fee text not null,
  total text not null,
  created_at integer not null,
  expires_at integer not null,
  withdrawal text,
  consumed_at integer,
  check ((withdrawal is null) = (consumed_at is null))
) strict, without rowid;
-- What a client's count of open quotes is brought up to date by.
create index fee_quote_unconsumed on fee_quote (client_id, expires_at) where consumed_at is null;

-- How many quotes a client holds open, counted as they come and go, so that no request counts them all. Those that
-- expired after counted_to are still in the number.
create table fee_client (
  client_id text primary key,
  open integer not null,
  counted_to integer not null,
  open_until integer not null      -- when the last of them expires
) strict, without rowid;
