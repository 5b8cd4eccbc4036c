#!/bin/sh
# Makes both databases of the Temporal server, or brings them to this release's schema. Can be run again at any time.
# SQL_HOST, SQL_PORT, SQL_USER, SQL_PASSWORD and SQL_PLUGIN say which server.
set -eu

for database in temporal visibility; do
  name=temporal
  [ "$database" = visibility ] && name=temporal_visibility
  temporal-sql-tool --database "$name" create
  temporal-sql-tool --database "$name" setup-schema --version 0.0
  temporal-sql-tool --database "$name" update-schema \
    --schema-dir "/etc/temporal/schema/postgresql/v12/$database/versioned"
done
