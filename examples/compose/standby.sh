#!/usr/bin/env bash
# The standby copies the primary's files once, and follows it under the name that the primary's
# synchronous_standby_names knows.
set -euo pipefail

export PGPASSWORD="$DATABASE_PASSWORD"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  pg_basebackup --host primary --username replicator --pgdata "$PGDATA" --wal-method stream --checkpoint fast
  touch "$PGDATA/standby.signal"
fi
unset PGPASSWORD

exec postgres \
  -c "primary_conninfo=host=primary user=replicator password=$DATABASE_PASSWORD application_name=standby"
