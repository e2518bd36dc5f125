-- Guaranteed fees. Instants are microseconds since 1970, UTC. Ids are UUIDs of version 7, which
-- rise with time: an insert writes the last pages of the table, a sweep reads the first.

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
-- Counts the open quotes of a client. With consumed_at it answers the count without the table.
create index fee_quote_unconsumed on fee_quote (client_id, expires_at, consumed_at)
  where consumed_at is null;
