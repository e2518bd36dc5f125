-- The last restore of the store. Instants are microseconds since 1970, UTC. The app may only read
-- it, so an attacker with the login of the app cannot end a recovery.
create table bursar.recovery (
  one boolean primary key default true check (one),
  restored_to bigint not null,    -- the point in time of the restored state
  restored_at bigint not null,
  quotes_before bigint not null,  -- quotes created before this were restored
  clients_confirmed_at bigint,    -- null: no client may get a token
  reconciled_at bigint            -- null: no restored quote may be consumed
);
