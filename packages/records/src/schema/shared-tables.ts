import type { Dialect } from '../dialect.ts'
import { createCustomerTable, createNameTables } from './customers.ts'

/** Creates the tables of the records that all kinds share. Instants are microseconds, UTC. */
export function createSharedTables(dialect: Dialect): string {
  const { types, tableName, tableOptions, rowTableOptions, protect } = dialect
  return `${createCustomerTable(dialect)}
${createNameTables(dialect)}

-- What a record was before an import replaced it. It was in force from stored_at until replaced_at.
create table ${tableName('history')} (
  kind ${types.key} not null,
  customer ${types.customer} not null,
  id ${types.id} not null,
  stored_at ${types.integer} not null,
  replaced_at ${types.integer} not null,
  -- The place of the version in the order of all versions of its customer, of every kind.
  change ${types.integer} not null,
  -- What the version did to the record of its customer: see store/records/event-actions.ts.
  event ${types.small} not null,
  body text not null,
  deleted_at ${types.integer},
  source_version ${types.integer},
  checksum ${types.integer} not null,
  -- Names the version of a kind whose checksums take a key. It is random, and no renewal changes it.
  version_mark ${types.integer},
  origin ${types.integer},
  origin_line ${types.integer},
  -- What the customer's list showed of the version, for kinds with a mask.
  masked text,
  masked_checksum ${types.integer}
)${rowTableOptions};
create unique index history_by_id on ${tableName('history')} (customer, kind, id, stored_at);
create index history_by_change on ${tableName('history')} (customer, kind, change, event)
  where change > 0;
${protect('history', 'customer')}

-- When a customer's records of a kind last changed. Every import that changes one raises it. Entity
-- tags are made of it, so a page need not be hashed. live counts the records that are neither
-- deleted nor withdrawn; each transaction that changes records keeps it.
create table ${tableName('revision')} (
  customer ${types.customer} not null,
  kind ${types.key} not null,
  changed_at ${types.integer} not null,
  live ${types.integer} not null default 0,
  -- Random: a restore, or a fail-over that has lost changes, may give the same time again.
  salt ${types.integer} not null default 0,
  primary key (customer, kind)
)${tableOptions};
-- No customer's request has the condition.
create index revision_by_time on ${tableName('revision')} (changed_at) where changed_at > 0;
${protect('revision', 'customer')}

-- Who stored a version: a client over HTTP, or a command with its file.
create table ${tableName('origin')} (
  id ${types.sequence},
  command text not null,
  client_id ${types.key},
  file text,
  os_user text
)${rowTableOptions};
create unique index origin_by_client on ${tableName('origin')} (client_id, command)
  where client_id is not null;

-- The values that a record no longer has, and when it last had each.
create table ${tableName('former_value')} (
  customer ${types.customer} not null,
  kind ${types.key} not null,
  member ${types.key} not null,
  value ${types.key} not null,
  position ${types.position} not null,
  until ${types.integer} not null,
  primary key (customer, kind, member, value, position)
)${tableOptions};
${protect('former_value', 'customer')}

-- The first and the last position of a customer's records, from the time that they were reached.
create table ${tableName('extent')} (
  customer ${types.customer} not null,
  kind ${types.key} not null,
  changed_at ${types.integer} not null,
  low ${types.position} not null,
  high ${types.position} not null,
  primary key (customer, kind, changed_at)
)${tableOptions};
${protect('extent', 'customer')}

-- From when on a customer's records of a kind are known: since the first of them was stored, or
-- since the time before which versions were pruned. What was before is unknown. No version with a
-- number above pruned has been deleted.
create table ${tableName('kept_since')} (
  customer ${types.customer} not null,
  kind ${types.key} not null,
  at ${types.integer} not null,
  pruned ${types.integer} not null default 0,
  primary key (customer, kind)
)${tableOptions};
${protect('kept_since', 'customer')}

-- Fees that withdrawals have consumed, in the order of all versions of their customer.
create table ${tableName('fee_event')} (
  customer ${types.customer} not null,
  change ${types.integer} not null,
  id ${types.id} not null,
  stored_at ${types.integer} not null,
  primary key (customer, change)
)${tableOptions};
create unique index fee_event_by_id on ${tableName('fee_event')} (customer, id);
${protect('fee_event', 'customer')}

-- Which versions of a customer are in the log of changes, and whether later ones may be due. Every
-- writer notes that in its transaction; whoever reads the log adds them.
create table ${tableName('change_state')} (
  customer ${types.customer} primary key,
  listed ${types.integer} not null default 0,
  is_due ${types.boolean} not null default true
)${tableOptions};
create index change_state_due on ${tableName('change_state')} (customer) where is_due = true;
${protect('change_state', 'customer')}

-- The changes of all customers: ranges of versions, low < change <= high, in an order that is given
-- after their commits. One transaction at a time adds to it: it holds the one row of change_head.
create table ${tableName('change_log')} (
  seq ${types.integer} primary key,
  customer ${types.customer} not null,
  low ${types.integer} not null,
  high ${types.integer} not null,
  listed_at ${types.integer} not null,
  -- Random: a restore, or a fail-over that has lost changes, may give the same seq again.
  salt ${types.integer} not null default 0
)${tableOptions};
${protect('change_log', 'customer')}
create table ${tableName('change_head')} (
  id ${types.integer} primary key check (id = 1),
  seq ${types.integer} not null
)${rowTableOptions};
insert into ${tableName('change_head')} values (1, 0);

-- The keys by which bodies of a customer's records are sealed, each wrapped by the purpose key kek.
-- Of the keys of a customer one is current: new bodies are sealed with it, and names are indexed with
-- the purpose key index_key. seals_all says whether everything stored of the customer is under both.
create table ${tableName('customer_key')} (
  customer_id ${types.key} not null,
  id ${types.key} not null,
  kek ${types.key} not null,
  index_key ${types.key} not null,
  wrapped text not null,
  created_at ${types.integer} not null,
  current ${types.boolean} not null,
  seals_all ${types.boolean} not null,
  primary key (customer_id, id)
)${tableOptions};
create unique index customer_key_current on ${tableName('customer_key')} (customer_id)
  where current = true;
create index customer_key_to_seal on ${tableName('customer_key')} (customer_id)
  where current = true and seals_all = false;
${protect('customer_key', 'customer_id')}

-- How far the records of a customer were brought to its current key: the last one that was read.
create table ${tableName('reseal')} (
  customer_id ${types.key} primary key,
  key_id ${types.key} not null,            -- the current one
  needed text not null,                    -- ids of older keys of records that do not open, in JSON
  part ${types.integer} not null,          -- of the current and past records of each kind
  place text not null                      -- the last row of the part, in JSON
)${tableOptions};
${protect('reseal', 'customer_id')}

-- One row for each import. It is written when the import begins, and how it ended is written in the
-- transaction of its merge, with its records, or once the merge was rolled back. Ids are UUIDs of
-- version 7, so their order is that of the beginnings.
create table ${tableName('import')} (
  id ${types.id} primary key,
  kind ${types.key} not null,
  client_id ${types.key},                  -- null: an import by the command
  os_user text,
  sudo_user text,
  role text,                               -- the login on PostgreSQL, null on the embedded store
  file text,                               -- of several files, the first
  files ${types.integer},
  bound_to ${types.key},                   -- null: it may store records of every customer
  state ${types.key} not null check (
    state in ('running', 'stored', 'stored_in_part', 'refused', 'cancelled', 'lost')),
  records ${types.integer},                -- this and the other counts: null unless it is stored
  added ${types.integer},
  changed ${types.integer},
  unchanged ${types.integer},
  rejected ${types.integer},
  withdrawn ${types.integer},
  reason text,
  started_at ${types.integer} not null,
  ended_at ${types.integer},               -- of a stored import, the stored_at of its records
  cancel_requested_at ${types.integer},
  lock_number ${types.integer} not null,   -- of the lock that its process holds while it lives
  key_id ${types.key} not null,            -- the purpose key of what follows
  digests text,                            -- of its files, separated by blanks
  idempotency_key ${types.key},
  fingerprint text,
  answer text,                             -- sealed
  check ((client_id is null) = (os_user is not null)),
  check ((state = 'running') = (ended_at is null)),
  check ((state in ('stored', 'stored_in_part')) = (records is not null))
)${tableOptions};
create unique index import_by_key on ${tableName('import')} (client_id, idempotency_key)
  where idempotency_key is not null;
create index import_by_state on ${tableName('import')} (state, id);
create index import_by_kind on ${tableName('import')} (kind, id);
create index import_by_customer on ${tableName('import')} (bound_to, id)
  where bound_to is not null;`
}
