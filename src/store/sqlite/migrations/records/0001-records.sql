-- Records, one table a kind. The primary key is the order of a page, so that a page is one walk along the table:
-- customer, then live before deleted, then position (time and id, see keyset.ts). Only fiat accounts are ever deleted;
-- the other tables keep the column so that one shape of statement serves all five.
-- body is what lists answer. Every index that serves a customer starts with the customer; `_identity` guards
-- what is unique over all of them.

create table fiat_account (
  customer_id text not null,
  deleted integer not null,
  position blob not null,
  id text not null,
  ref_id text,
  body text not null,
  deleted_at integer,
  updated_at integer,
  source_version integer,
  stored_at integer not null,
  primary key (customer_id, deleted, position)
) strict, without rowid;
create unique index fiat_account_identity on fiat_account (id);
create unique index fiat_account_by_id on fiat_account (customer_id, id);
create unique index fiat_account_by_ref_id on fiat_account (customer_id, ref_id) where ref_id is not null;

create table fiat_deposit_instructions (
  customer_id text not null,
  deleted integer not null,
  position blob not null,
  id text not null,
  ref_id text,
  memo_id text not null,
  account_id text,
  identity_id text,
  profile_id text not null,
  body text not null,
  deleted_at integer,
  updated_at integer,
  source_version integer,
  stored_at integer not null,
  primary key (customer_id, deleted, position)
) strict, without rowid;
create unique index fiat_deposit_instructions_identity on fiat_deposit_instructions (id);
create unique index fiat_deposit_instructions_by_id on fiat_deposit_instructions (customer_id, id);
create unique index fiat_deposit_instructions_by_ref_id on fiat_deposit_instructions (customer_id, ref_id) where ref_id is not null;
create index fiat_deposit_instructions_by_memo_id on fiat_deposit_instructions (customer_id, memo_id, deleted, position);
create index fiat_deposit_instructions_by_account_id on fiat_deposit_instructions (customer_id, account_id, deleted, position) where account_id is not null;
create index fiat_deposit_instructions_by_identity_id on fiat_deposit_instructions (customer_id, identity_id, deleted, position) where identity_id is not null;
create index fiat_deposit_instructions_by_profile_id on fiat_deposit_instructions (customer_id, profile_id, deleted, position);
create unique index fiat_deposit_instructions_memo_id_identity on fiat_deposit_instructions (memo_id);

create table deposit_address (
  customer_id text not null,
  deleted integer not null,
  position blob not null,
  id text not null,
  ref_id text,
  address text not null,
  account_id text,
  identity_id text,
  profile_id text not null,
  crypto_network text not null,
  exclusive_key text not null, -- network and address in the network's one spelling
  body text not null,
  deleted_at integer,
  updated_at integer,
  source_version integer,
  stored_at integer not null,
  primary key (customer_id, deleted, position)
) strict, without rowid;
create unique index deposit_address_identity on deposit_address (id);
create unique index deposit_address_by_id on deposit_address (customer_id, id);
create unique index deposit_address_by_ref_id on deposit_address (customer_id, ref_id) where ref_id is not null;
create index deposit_address_by_address on deposit_address (customer_id, address, deleted, position);
create index deposit_address_by_account_id on deposit_address (customer_id, account_id, deleted, position) where account_id is not null;
create index deposit_address_by_identity_id on deposit_address (customer_id, identity_id, deleted, position) where identity_id is not null;
create index deposit_address_by_profile_id on deposit_address (customer_id, profile_id, deleted, position);
create index deposit_address_by_crypto_network on deposit_address (customer_id, crypto_network, deleted, position);
create index deposit_address_exclusive_key on deposit_address (exclusive_key);

create table statement (
  customer_id text not null,
  deleted integer not null,
  position blob not null,
  id text not null,
  ref_id text,
  status text not null,
  body text not null,
  deleted_at integer,
  updated_at integer,
  source_version integer,
  stored_at integer not null,
  primary key (customer_id, deleted, position)
) strict, without rowid;
create unique index statement_identity on statement (id);
create unique index statement_by_id on statement (customer_id, id);
create unique index statement_by_ref_id on statement (customer_id, ref_id) where ref_id is not null;
create index statement_by_status on statement (customer_id, status, deleted, position);

create table issuer_quote_execution (
  customer_id text not null,
  deleted integer not null,
  position blob not null,
  id text not null,
  ref_id text,
  profile_id text not null,
  status text not null,
  body text not null,
  deleted_at integer,
  updated_at integer,
  source_version integer,
  stored_at integer not null,
  primary key (customer_id, deleted, position)
) strict, without rowid;
create unique index issuer_quote_execution_identity on issuer_quote_execution (id);
create unique index issuer_quote_execution_by_id on issuer_quote_execution (customer_id, id);
create unique index issuer_quote_execution_by_ref_id on issuer_quote_execution (customer_id, ref_id) where ref_id is not null;
create index issuer_quote_execution_by_profile_id on issuer_quote_execution (customer_id, profile_id, deleted, position);
create index issuer_quote_execution_by_status on issuer_quote_execution (customer_id, status, deleted, position);

-- The unmasked form of fiat accounts, apart from the list's table: a list cannot leak what it never reads.
create table fiat_account_full (
  customer_id text not null,
  id text not null,
  deleted integer not null,
  body text not null,
  primary key (customer_id, id)
) strict, without rowid;

-- What a record was before it was replaced, with the times (microseconds) between which it stood.
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

-- When a customer's records of a kind last changed (microseconds, rising with every import that changed one). Entity tags
-- are made of it, so a page need not be hashed to say whether it is still the same.
create table revision (
  customer_id text not null,
  kind text not null,
  changed_at integer not null,
  primary key (customer_id, kind)
) strict, without rowid;
