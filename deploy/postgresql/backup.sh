#!/bin/sh
# Dumps both databases of the Temporal server into a folder, each as it is at one moment; the server may run meanwhile.
#   sh deploy/postgresql/backup.sh FOLDER
# PGHOST, PGPORT (5432) and PGUSER (temporal) say where, POSTGRES_PASSWORD_FILE holds the password. Needs pg_dump of the
# database's own major version.
set -eu
umask 077
folder=${1:?Give the folder of the dumps}
: "${PGUSER:=temporal}"
PGPASSWORD=$(cat "${POSTGRES_PASSWORD_FILE:?is not set}")
export PGUSER PGPASSWORD
mkdir -p "$folder"
# The list of upgrades second: it may then know of more than there is, and never of less.
for database in temporal temporal_visibility; do
  pg_dump --format=custom --file "$folder/$database.dump.part" "$database"
  mv "$folder/$database.dump.part" "$folder/$database.dump"
done
