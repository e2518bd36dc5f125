-- What PostgreSQL adds to the tables of records.

-- The timeline of the log. The process that finds a new primary writes it here. A standby that has
-- replayed this row follows the new primary, not the old one.
create table bursar.lineage (
  one boolean primary key default true check (one),
  timeline bigint not null
);
insert into bursar.lineage values (true, 0);

-- The timeline is the high part of the revision, so only the timeline of the server is stored.
create function bursar.require_current_timeline() returns trigger language plpgsql
set search_path = pg_catalog as $timeline$
begin
  if new.timeline <> ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint
  then
    raise exception 'the timeline must be that of this server' using errcode = '23514';
  end if;
  return new;
end
$timeline$;
create trigger is_current before update on bursar.lineage
  for each row execute function bursar.require_current_timeline();

-- Digests of values that merges are storing and that are unique over all customers, such as ids and
-- addresses. A merge deletes its rows before it commits, so the table is empty for everybody else.
create unlogged table bursar.claim (digest bigint primary key);

-- Every merge raises the count of its customers. With room in its page, the new row needs no entry
-- in an index.
alter table bursar.customer set (fillfactor = 70);

-- The operator's role has no right to write this column, so a row names the login that made it.
alter table bursar.import alter column role set default session_user,
  alter column role set not null;

-- A publication of all tables refuses to delete or change rows that nothing identifies.
alter table bursar.history replica identity using index history_by_id;

-- A digest of each object and right that `migrate` has made. Only the owner can write it.
create table bursar.made_object (
  object text collate "C" primary key,
  digest text not null
);
