#!/bin/sh
# Puts both databases of the Temporal server back to what backup.sh has dumped. Whatever is in them now is lost. The
# Temporal server must be stopped.
#   sh deploy/postgresql/restore.sh FOLDER
# PGHOST, PGPORT (5432) and PGUSER (temporal) say where, POSTGRES_PASSWORD_FILE holds the password.
set -eu
folder=${1:?Give the folder of the dumps}
: "${PGUSER:=temporal}"
PGPASSWORD=$(cat "${POSTGRES_PASSWORD_FILE:?is not set}")
export PGUSER PGPASSWORD
# Neither is touched before both are known to be readable.
for database in temporal temporal_visibility; do pg_restore --list "$folder/$database.dump" >/dev/null; done
open=$(psql -d postgres -Atc "select count(*) from pg_stat_activity where datname in ('temporal', 'temporal_visibility')")
if [ "$open" -ne 0 ]; then
  echo "Somebody uses the databases ($open connections): stop the Temporal server first" >&2
  exit 1
fi
for database in temporal temporal_visibility; do
  dropdb --if-exists "$database"
  createdb "$database"
  pg_restore --exit-on-error --dbname "$database" "$folder/$database.dump"
done
