-- The tables of each kind come from the catalogue (src/store/sql/record-schema.ts).

-- What a record was before an import replaced it. It was in force from stored_at until replaced_at,
-- both in microseconds.
create table superseded (
  kind text not null,
  customer_id text not null,
  id text not null,
  stored_at integer not null,
  replaced_at integer not null,
  body text not null,
  deleted_at integer,
  source_version integer
) strict;
create index superseded_by_id on superseded (customer_id, kind, id, stored_at);

-- When a customer's records of a kind last changed, in microseconds. Every import that changes one
-- raises it. Entity tags are made of it, so a page need not be hashed.
create table revision (
  customer_id text not null,
  kind text not null,
  changed_at integer not null,
  primary key (customer_id, kind)
) strict, without rowid;
