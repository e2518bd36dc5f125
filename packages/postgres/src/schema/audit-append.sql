-- How many of these very lines are stored. It runs as the owner, because the roles that add lines
-- may not read them. Only a caller who knows all of a line learns of it. Each line is sought by its
-- place, however many there are.
create function bursar_audit.stored(
  chains text[], sequences bigint[], ats bigint[], key_ids text[], bodies text[], digests text[]
) returns bigint language sql security definer
set search_path = pg_catalog
set enable_seqscan = off as $stored$
  select count(*) from unnest(chains, sequences, ats, key_ids, bodies, digests)
    as added (chain, sequence, at, key_id, body, digest)
  cross join lateral (
    select from bursar_audit.line
    where line.chain = added.chain and line.sequence = added.sequence and line.at = added.at
      and line.key_id = added.key_id and line.body = added.body and line.digest = added.digest
    offset 0
  ) as found
$stored$;

-- Adds lines with the rights of the caller, in one round trip and one commit that is on disk.
-- Returns how many of them the commit will have. A trigger may delete a line after its insert, and
-- a deferred one does so at the commit unless it runs before.
create function bursar_audit.append(
  chains text[], sequences bigint[], ats bigint[], key_ids text[], bodies text[], digests text[]
) returns bigint language plpgsql
set search_path = pg_catalog as $append$
begin
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  insert into bursar_audit.line (chain, sequence, at, key_id, body, digest)
  select * from unnest(chains, sequences, ats, key_ids, bodies, digests);
  set constraints all immediate;
  return bursar_audit.stored(chains, sequences, ats, key_ids, bodies, digests);
end
$append$;

-- The last lines of the chains that were written to last, since a time, but not what the lines say.
-- It runs as the owner, so that a server can keep the heads of commands too.
create function bursar_audit.heads(since bigint, chains_max bigint)
returns table (chain text, sequence bigint, digest text) language sql stable security definer
set search_path = pg_catalog as $heads$
  select line.chain, line.sequence, line.digest from bursar_audit.line
  where (line.chain, line.sequence) in (
    select recent.chain, max(recent.sequence) from (
      select line.chain, line.sequence, line.at from bursar_audit.line
      where line.at >= since order by line.at desc limit 50000
    ) as recent
    group by recent.chain order by max(recent.at) desc limit chains_max
  )
$heads$;
