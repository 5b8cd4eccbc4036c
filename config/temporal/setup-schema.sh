#!/bin/sh
# Makes both databases of the Temporal server, or brings them to the schema of this release of temporal-sql-tool.
# Can be run again at any time. SQL_HOST, SQL_PORT and SQL_USER say where, POSTGRES_PASSWORD_FILE holds the password.
set -eu
SQL_PASSWORD=$(cat "${POSTGRES_PASSWORD_FILE:?is not set}")
export SQL_PASSWORD
export SQL_PLUGIN=postgres12

for schema in temporal visibility; do
  database=temporal
  [ "$schema" = visibility ] && database=temporal_visibility
  temporal-sql-tool --database "$database" create
  temporal-sql-tool --database "$database" setup-schema --version 0.0
  temporal-sql-tool --database "$database" update-schema --schema-name "postgresql/v12/$schema"
done
