-- Guaranteed fees. Instants are microseconds since 1970, UTC. Ids are UUIDs of version 7, which
-- rise with time: an insert writes the last pages of the index, a sweep reads the first.

create table bursar.fee_quote (
  id uuid primary key,
  customer_id text collate "C" not null,
  client_id text collate "C" not null,
  asset text not null,
  network text not null,
  address text not null,         -- as sent
  canonical_address text not null,
  amount text not null,
  fee text not null,
  total text not null,
  created_at bigint not null,
  expires_at bigint not null,
  withdrawal text,
  consumed_at bigint,
  check ((withdrawal is null) = (consumed_at is null))
);
-- Counts the open quotes of a client.
create index fee_quote_unconsumed on bursar.fee_quote (customer_id, client_id, expires_at)
  where consumed_at is null;

alter table bursar.fee_quote enable row level security;
alter table bursar.fee_quote force row level security;
create policy customer on bursar.fee_quote
  using (customer_id = nullif(current_setting('bursar.customer_id', true), ''));

-- Stores a batch of quotes in one round trip and one commit, with the rights of the caller. Each
-- quote is inserted while the setting of row-level security names its customer. Returns one row
-- for each quote, by its place in the arrays (from 1): 'stored', 'id-taken', or 'too-many-open'
-- with the time at which the client's first open quote expires.
create function bursar.issue_fee_quotes(
  customer_ids text[], client_ids text[], ids uuid[], assets text[], networks text[],
  addresses text[], canonical_addresses text[], amounts text[], fees text[], totals text[],
  created_ats bigint[], expires_ats bigint[], open_maxima bigint[]
) returns table (place bigint, outcome text, next_expiry_at bigint)
language plpgsql
set search_path = pg_catalog
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $issue$
declare
  quote record;
  counted_customer text;
  counted_client text;
  open_count bigint;
begin
  -- A guaranteed fee must be on disk before it is answered, whatever the session's setting.
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;

  -- One transaction at a time issues quotes for a client, so that two cannot both take the last
  -- free place. Clients share 256 locks, because the lock table of the server is small. Every
  -- transaction takes its locks in the same order, so no two transactions can deadlock.
  perform pg_advisory_xact_lock(1178946132, bucket) from (
    select distinct hashtext(client_id) & 255 as bucket from unnest(client_ids) as client_id
    order by bucket
  ) as client_lock;

  for quote in
    select * from unnest(customer_ids, client_ids, ids, assets, networks, addresses,
      canonical_addresses, amounts, fees, totals, created_ats, expires_ats, open_maxima)
      with ordinality as batch (customer_id, client_id, id, asset, network, address,
      canonical_address, amount, fee, total, created_at, expires_at, open_max, place)
    order by batch.customer_id collate "C", batch.client_id collate "C", batch.place
  loop
    -- Counts once for each client, now that no other transaction can add to the count.
    if (quote.customer_id, quote.client_id) is distinct from (counted_customer, counted_client) then
      counted_customer := quote.customer_id;
      counted_client := quote.client_id;
      perform set_config('bursar.customer_id', quote.customer_id, true);
      select count(*) into open_count
      from bursar.fee_quote as stored
      where stored.customer_id = quote.customer_id and stored.client_id = quote.client_id
        and stored.consumed_at is null and stored.expires_at > quote.created_at;
    end if;

    place := quote.place;
    next_expiry_at := null;
    if open_count >= quote.open_max then
      outcome := 'too-many-open';
      select min(stored.expires_at) into next_expiry_at
      from bursar.fee_quote as stored
      where stored.customer_id = quote.customer_id and stored.client_id = quote.client_id
        and stored.consumed_at is null and stored.expires_at > quote.created_at;
      next_expiry_at := coalesce(next_expiry_at, quote.created_at);
    else
      insert into bursar.fee_quote values (quote.id, quote.customer_id, quote.client_id,
        quote.asset, quote.network, quote.address, quote.canonical_address, quote.amount,
        quote.fee, quote.total, quote.created_at, quote.expires_at, null, null)
      on conflict do nothing;
      if not found then
        outcome := 'id-taken';
      else
        outcome := 'stored';
        open_count := open_count + 1;
      end if;
    end if;
    return next;
  end loop;
end
$issue$;
