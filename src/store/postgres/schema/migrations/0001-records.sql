-- Records, one table a kind, as on the embedded store: the primary key is the order of a page (customer, then live before
-- deleted, then position: time and id, see keyset.ts), every index that serves a customer starts with the customer, and
-- `_identity` guards what is unique over all of them. Only fiat accounts are ever deleted; the other tables keep
-- the column so that one shape of statement serves all five.
--
-- Text is compared by its bytes (collation C): identifiers match or do not, and such comparisons are leakproof, so that
-- row level security leaves them to the indexes. position is bytea for the same reason.
--
-- The identities are partial, by what is true of every row: so only a statement that says it too, as those of an import
-- do, can be served by them. A customer's request never is, lest what it takes tell of a record of another customer.

create table bursar.fiat_account (
  customer_id text collate "C" not null,
  deleted boolean not null,
  position bytea not null,
  id uuid not null,
  ref_id text collate "C",
  body text not null,
  deleted_at bigint,
  updated_at bigint,
  source_version bigint,
  stored_at bigint not null check (stored_at >= 0),
  primary key (customer_id, deleted, position)
);
create unique index fiat_account_identity on bursar.fiat_account (id) where stored_at >= 0;
create unique index fiat_account_by_id on bursar.fiat_account (customer_id, id);
create unique index fiat_account_by_ref_id on bursar.fiat_account (customer_id, ref_id) where ref_id is not null;

create table bursar.fiat_deposit_instructions (
  customer_id text collate "C" not null,
  deleted boolean not null,
  position bytea not null,
  id uuid not null,
  ref_id text collate "C",
  memo_id text collate "C" not null,
  account_id text collate "C",
  identity_id text collate "C",
  profile_id text collate "C" not null,
  body text not null,
  deleted_at bigint,
  updated_at bigint,
  source_version bigint,
  stored_at bigint not null check (stored_at >= 0),
  primary key (customer_id, deleted, position)
);
create unique index fiat_deposit_instructions_identity on bursar.fiat_deposit_instructions (id) where stored_at >= 0;
create unique index fiat_deposit_instructions_by_id on bursar.fiat_deposit_instructions (customer_id, id);
create unique index fiat_deposit_instructions_by_ref_id on bursar.fiat_deposit_instructions (customer_id, ref_id) where ref_id is not null;
create index fiat_deposit_instructions_by_memo_id on bursar.fiat_deposit_instructions (customer_id, memo_id, deleted, position);
create index fiat_deposit_instructions_by_account_id on bursar.fiat_deposit_instructions (customer_id, account_id, deleted, position) where account_id is not null;
create index fiat_deposit_instructions_by_identity_id on bursar.fiat_deposit_instructions (customer_id, identity_id, deleted, position) where identity_id is not null;
create index fiat_deposit_instructions_by_profile_id on bursar.fiat_deposit_instructions (customer_id, profile_id, deleted, position);
create unique index fiat_deposit_instructions_memo_id_identity on bursar.fiat_deposit_instructions (memo_id) where stored_at >= 0;

create table bursar.deposit_address (
  customer_id text collate "C" not null,
  deleted boolean not null,
  position bytea not null,
  id uuid not null,
  ref_id text collate "C",
  address text collate "C" not null,
  account_id text collate "C",
  identity_id text collate "C",
  profile_id text collate "C" not null,
  crypto_network text collate "C" not null,
  exclusive_key text collate "C" not null, -- network and address in the network's one spelling
  body text not null,
  deleted_at bigint,
  updated_at bigint,
  source_version bigint,
  stored_at bigint not null check (stored_at >= 0),
  primary key (customer_id, deleted, position)
);
create unique index deposit_address_identity on bursar.deposit_address (id) where stored_at >= 0;
create unique index deposit_address_by_id on bursar.deposit_address (customer_id, id);
create unique index deposit_address_by_ref_id on bursar.deposit_address (customer_id, ref_id) where ref_id is not null;
create index deposit_address_by_address on bursar.deposit_address (customer_id, address, deleted, position);
create index deposit_address_by_account_id on bursar.deposit_address (customer_id, account_id, deleted, position) where account_id is not null;
create index deposit_address_by_identity_id on bursar.deposit_address (customer_id, identity_id, deleted, position) where identity_id is not null;
create index deposit_address_by_profile_id on bursar.deposit_address (customer_id, profile_id, deleted, position);
create index deposit_address_by_crypto_network on bursar.deposit_address (customer_id, crypto_network, deleted, position);
create index deposit_address_exclusive_key on bursar.deposit_address (exclusive_key);

create table bursar.statement (
  customer_id text collate "C" not null,
  deleted boolean not null,
  position bytea not null,
  id uuid not null,
  ref_id text collate "C",
  status text collate "C" not null,
  body text not null,
  deleted_at bigint,
  updated_at bigint,
  source_version bigint,
  stored_at bigint not null check (stored_at >= 0),
  primary key (customer_id, deleted, position)
);
create unique index statement_identity on bursar.statement (id) where stored_at >= 0;
create unique index statement_by_id on bursar.statement (customer_id, id);
create unique index statement_by_ref_id on bursar.statement (customer_id, ref_id) where ref_id is not null;
create index statement_by_status on bursar.statement (customer_id, status, deleted, position);

create table bursar.issuer_quote_execution (
  customer_id text collate "C" not null,
  deleted boolean not null,
  position bytea not null,
  id uuid not null,
  ref_id text collate "C",
  profile_id text collate "C" not null,
  status text collate "C" not null,
  body text not null,
  deleted_at bigint,
  updated_at bigint,
  source_version bigint,
  stored_at bigint not null check (stored_at >= 0),
  primary key (customer_id, deleted, position)
);
create unique index issuer_quote_execution_identity on bursar.issuer_quote_execution (id) where stored_at >= 0;
create unique index issuer_quote_execution_by_id on bursar.issuer_quote_execution (customer_id, id);
create unique index issuer_quote_execution_by_ref_id on bursar.issuer_quote_execution (customer_id, ref_id) where ref_id is not null;
create index issuer_quote_execution_by_profile_id on bursar.issuer_quote_execution (customer_id, profile_id, deleted, position);
create index issuer_quote_execution_by_status on bursar.issuer_quote_execution (customer_id, status, deleted, position);

-- The unmasked form of fiat accounts, apart from the list's table: a list cannot leak what it never reads.
create table bursar.fiat_account_full (
  customer_id text collate "C" not null,
  id uuid not null,
  deleted boolean not null,
  body text not null,
  primary key (customer_id, id)
);

-- What a record was before it was replaced, with the times (microseconds) between which it stood.
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

-- When a customer's records of a kind last changed (microseconds, rising with every import that changed one). Entity tags
-- are made of it.
create table bursar.revision (
  customer_id text collate "C" not null,
  kind text collate "C" not null,
  changed_at bigint not null,
  primary key (customer_id, kind)
);

-- The log's timeline, written down by whoever finds a new primary. A standby that has replayed the line follows that primary
-- and not the one before.
create table bursar.lineage (
  one boolean primary key default true check (one),
  timeline bigint not null
);
insert into bursar.lineage values (true, 0);

-- The second wall: whoever forgets the customer in a statement is answered nothing. An empty setting is no customer, for
-- that is what is left of a setting that was made for one transaction. The owner is held to it too.
do $wall$
declare
  walled text;
begin
  foreach walled in array array[
    'fiat_account', 'fiat_account_full', 'fiat_deposit_instructions', 'deposit_address', 'statement',
    'issuer_quote_execution', 'superseded', 'revision'
  ] loop
    execute format('alter table bursar.%I enable row level security', walled);
    execute format('alter table bursar.%I force row level security', walled);
    execute format(
      $policy$create policy customer on bursar.%I
        using (customer_id = nullif(current_setting('bursar.customer_id', true), ''))$policy$, walled);
  end loop;
end
$wall$;
