-- The one row is what the sweep of old quotes remembers of its last run. Times are microseconds
-- since 1970, UTC.
create table fee_quote_sweep (
  id integer primary key check (id = 1),
  last_run_at integer,             -- null before the first run
  deleted integer not null,        -- by this run
  refused_at integer,
  steady_for integer not null
) strict;
insert into fee_quote_sweep values (1, null, 0, null, 0);
