-- The tables of each kind come from the catalogue (src/store/sql/record-schema.ts).

-- What a record was before an import replaced it. It was in force from stored_at until replaced_at,
-- both in microseconds.
create table bursar.superseded (
  kind text collate "C" not null,
  customer_id text collate "C" not null,
  id uuid not null,
  stored_at bigint not null,
  replaced_at bigint not null,
  body text not null,
  deleted_at bigint,
  source_version bigint
);
create index superseded_by_id on bursar.superseded (customer_id, kind, id, stored_at);

-- When a customer's records of a kind last changed, in microseconds. Every import that changes one
-- raises it. Entity tags are made of it.
create table bursar.revision (
  customer_id text collate "C" not null,
  kind text collate "C" not null,
  changed_at bigint not null,
  primary key (customer_id, kind)
);

-- The timeline of the log. The process that finds a new primary writes it here. A standby that has
-- replayed this row follows the new primary, not the old one.
create table bursar.lineage (
  one boolean primary key default true check (one),
  timeline bigint not null
);
insert into bursar.lineage values (true, 0);
