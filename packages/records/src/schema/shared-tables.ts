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

-- What was answered to a request with an idempotency key.
create table ${tableName('kept_answer')} (
  client_id ${types.key} not null,
  key ${types.key} not null,
  fingerprint text not null,
  answer text not null,
  kept_at ${types.integer} not null,
  primary key (client_id, key)
)${tableOptions};
create index kept_answer_by_time on ${tableName('kept_answer')} (kept_at);

-- One row for each file that was imported, written in the transaction of its merge. imported_at is
-- the stored_at of its records. role is the login on PostgreSQL, and null on the embedded store.
create table ${tableName('import_journal')} (
  id ${types.sequence},
  imported_at ${types.integer} not null,
  kind text not null,
  file text not null,
  sha256 text not null,
  os_user text not null,
  sudo_user text,
  role text,
  records ${types.integer} not null,
  added ${types.integer} not null,
  changed ${types.integer} not null,
  unchanged ${types.integer} not null
)${rowTableOptions};`
}
