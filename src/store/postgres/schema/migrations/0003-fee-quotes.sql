-- Guaranteed fees. Instants are microseconds since 1970, UTC. Ids are UUIDs of version 7, which rise with time: new quotes
-- fill the last pages of the index, and a sweep takes its first.

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
-- What a client's count of open quotes is brought up to date by.
create index fee_quote_unconsumed on bursar.fee_quote (customer_id, client_id, expires_at) where consumed_at is null;

-- How many quotes a client holds open, counted as they come and go, so that no request counts them all. Those that
-- expired after counted_to are still in the number. Whoever changes a client's number, or counts, holds its row.
create table bursar.fee_client (
  customer_id text collate "C",
  client_id text collate "C",
  open bigint not null,
  counted_to bigint not null,
  open_until bigint not null,    -- when the last of them expires
  primary key (customer_id, client_id)
);

do $wall$
declare
  walled text;
begin
  foreach walled in array array['fee_quote', 'fee_client'] loop
    execute format('alter table bursar.%I enable row level security', walled);
    execute format('alter table bursar.%I force row level security', walled);
    execute format(
      $policy$create policy customer on bursar.%I
        using (customer_id = nullif(current_setting('bursar.customer_id', true), ''))$policy$, walled);
  end loop;
end
$wall$;

-- Stores a batch of quotes in one round trip and one commit, each while the wall's setting names its own customer and with
-- the rights of the caller. Clients are taken in one order, so that no two batches wait for each other. One row for
-- each quote, by its place in the arrays (from 1): 'stored'; 'too-many-open', with the time when the first open one
-- expires; or 'id-taken'.
create function bursar.issue_fee_quotes(
  customer_ids text[], client_ids text[], ids uuid[], assets text[], networks text[], addresses text[],
  canonical_addresses text[], amounts text[], fees text[], totals text[], created_ats bigint[], expires_ats bigint[],
  open_maxima bigint[]
) returns table (place bigint, outcome text, next_expiry_at bigint)
language plpgsql
set search_path = pg_catalog
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $issue$
declare
  asked record;
  counted bursar.fee_client;
  is_changed boolean := false;
begin
  -- What is answered as guaranteed is on disk, whatever the session was told of its commits.
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  for asked in
    select * from unnest(customer_ids, client_ids, ids, assets, networks, addresses, canonical_addresses, amounts, fees,
      totals, created_ats, expires_ats, open_maxima) with ordinality
      as quote (customer_id, client_id, id, asset, network, address, canonical_address, amount, fee,
        total, created_at, expires_at, open_max, place)
    order by quote.customer_id collate "C", quote.client_id collate "C", quote.place
  loop
    if (asked.customer_id, asked.client_id) is distinct from (counted.customer_id, counted.client_id) then
      if is_changed then
        update bursar.fee_client as client
        set open = counted.open, counted_to = counted.counted_to, open_until = counted.open_until
        where client.customer_id = counted.customer_id and client.client_id = counted.client_id;
        is_changed := false;
      end if;
      perform set_config('bursar.customer_id', asked.customer_id, true);
      select * into counted from bursar.fee_client as client
      where client.customer_id = asked.customer_id and client.client_id = asked.client_id for update;
      if not found then
        insert into bursar.fee_client values (asked.customer_id, asked.client_id, 0, asked.created_at, 0)
        on conflict do nothing;
        select * into counted from bursar.fee_client as client
        where client.customer_id = asked.customer_id and client.client_id = asked.client_id for update;
      end if;
    end if;

    -- Another process's clock may be ahead of the caller's; what it has taken off is not taken off twice.
    if asked.created_at > counted.counted_to then
      if counted.open_until <= asked.created_at then
        -- Also where a sweep has taken the rows that would have to be counted.
        counted.open := 0;
      else
        counted.open := counted.open - (
          select count(*) from bursar.fee_quote as quote
          where quote.customer_id = asked.customer_id and quote.client_id = asked.client_id
            and quote.consumed_at is null
            and quote.expires_at > counted.counted_to and quote.expires_at <= asked.created_at);
      end if;
      counted.counted_to := asked.created_at;
    end if;

    place := asked.place;
    next_expiry_at := null;
    if counted.open >= asked.open_max then
      outcome := 'too-many-open';
      select quote.expires_at into next_expiry_at from bursar.fee_quote as quote
      where quote.customer_id = asked.customer_id and quote.client_id = asked.client_id
        and quote.consumed_at is null and quote.expires_at > counted.counted_to
      order by quote.expires_at limit 1;
      next_expiry_at := coalesce(next_expiry_at, counted.open_until);
    else
      insert into bursar.fee_quote values (asked.id, asked.customer_id, asked.client_id, asked.asset, asked.network,
        asked.address, asked.canonical_address, asked.amount, asked.fee, asked.total, asked.created_at,
        asked.expires_at, null, null)
      on conflict do nothing;
      if found then
        outcome := 'stored';
        counted.open := counted.open + 1;
        counted.open_until := greatest(counted.open_until, asked.expires_at);
        is_changed := true;
      else
        outcome := 'id-taken';
      end if;
    end if;
    return next;
  end loop;
  if is_changed then
    update bursar.fee_client as client
    set open = counted.open, counted_to = counted.counted_to, open_until = counted.open_until
    where client.customer_id = counted.customer_id and client.client_id = counted.client_id;
  end if;
end
$issue$;
