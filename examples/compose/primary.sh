#!/usr/bin/env bash
# Runs once, as the primary's files are made: the roles, who may replicate, and that a commit waits
# for the standby from the next start on. The standby copies these settings with the files.
set -euo pipefail

psql --username postgres --dbname bursar --set ON_ERROR_STOP=1 --set password="$DATABASE_PASSWORD" <<'SQL'
create role owner login password :'password';
create role bursar login password :'password';
create role bursar_operator login password :'password';
create role replicator login replication password :'password';
alter database bursar owner to owner;
alter system set synchronous_standby_names = 'standby';
alter system set wal_keep_size = '256MB';
SQL

echo 'host replication replicator all scram-sha-256' >> "$PGDATA/pg_hba.conf"
