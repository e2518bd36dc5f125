-- The last restore of the store. Instants are microseconds since 1970, UTC.

create table recovery (
  one integer primary key check (one = 1),
  restored_to integer not null,    -- the point in time of the restored state
  restored_at integer not null,
  quotes_before integer not null,  -- quotes created before this were restored
  clients_confirmed_at integer,    -- null: no client may get a token
  reconciled_at integer            -- null: no restored quote may be consumed
) strict;
