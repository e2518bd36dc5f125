-- What PostgreSQL adds to the tables of guaranteed fees.

-- The database's clock judges quotes, so that a process with a wrong clock harms no other.
-- Microseconds since 1970, UTC.
create function bursar.clock_microseconds() returns bigint
language sql volatile parallel safe
as $$ select (extract(epoch from clock_timestamp()) * 1000000)::bigint $$;

-- Stores a batch of quotes in one round trip and one commit, with the rights of the caller. Each
-- quote is inserted while the setting of row-level security names its customer, and lives as long
-- as `lives` says. Returns one row for each quote, by its place in the arrays (from 1): 'stored',
-- 'id-taken', or 'too-many-open' with the time at which the client's first open quote expires.
-- `decided_at` is when the quote was created or counted. A quote that expires more than `life_max`
-- from now was issued while the clock was ahead. It does not count as open, because it would lock
-- its client out.
create function bursar.issue_fee_quotes(
  customer_ids text[], client_ids text[], ids uuid[], assets text[], networks text[],
  addresses text[], canonical_addresses text[], amounts text[], fees text[], totals text[],
  lives bigint[], open_maxima bigint[], life_max bigint
) returns table (place bigint, outcome text, decided_at bigint, next_expiry_at bigint)
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

  -- Whole seconds, as answers print them.
  decided_at := bursar.clock_microseconds() / 1000000 * 1000000;

  for quote in
    select * from unnest(customer_ids, client_ids, ids, assets, networks, addresses,
      canonical_addresses, amounts, fees, totals, lives, open_maxima)
      with ordinality as batch (customer_id, client_id, id, asset, network, address,
      canonical_address, amount, fee, total, life, open_max, place)
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
        and stored.consumed_at is null and stored.expires_at > decided_at
        and stored.expires_at <= decided_at + life_max;
    end if;

    place := quote.place;
    next_expiry_at := null;
    if open_count >= quote.open_max then
      outcome := 'too-many-open';
      select min(stored.expires_at) into next_expiry_at
      from bursar.fee_quote as stored
      where stored.customer_id = quote.customer_id and stored.client_id = quote.client_id
        and stored.consumed_at is null and stored.expires_at > decided_at
        and stored.expires_at <= decided_at + life_max;
      next_expiry_at := coalesce(next_expiry_at, decided_at);
    else
      insert into bursar.fee_quote values (quote.id, quote.customer_id, quote.client_id,
        quote.asset, quote.network, quote.address, quote.canonical_address, quote.amount,
        quote.fee, quote.total, decided_at, decided_at + quote.life, null, null)
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

-- A guaranteed fee keeps its figures and its address. An erasure empties all of them, for ever.
create function bursar.keep_or_erase() returns trigger language plpgsql
set search_path = pg_catalog as $keep$
begin
  if (new.address, new.canonical_address, new.amount, new.fee, new.total) <> ('', '', '', '', '') then
    raise exception 'a guaranteed fee cannot be changed' using errcode = '42501';
  end if;
  return new;
end
$keep$;
create trigger kept before update of address, canonical_address, amount, fee, total
  on bursar.fee_quote for each row execute function bursar.keep_or_erase();
