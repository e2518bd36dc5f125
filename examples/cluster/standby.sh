#!/usr/bin/env bash
# A standby by the name that the primary's synchronous_standby_names knows. It copies the primary's
# files once, and follows whichever of the three is the primary.
set -euo pipefail

export PGPASSWORD="$DATABASE_PASSWORD"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  pg_basebackup --host primary --username replicator --pgdata "$PGDATA" --wal-method stream --checkpoint fast
  touch "$PGDATA/standby.signal"
fi
unset PGPASSWORD

exec postgres \
  -c "primary_conninfo=host=primary,standby-one,standby-two user=replicator password=$DATABASE_PASSWORD application_name=$1 target_session_attrs=read-write"
