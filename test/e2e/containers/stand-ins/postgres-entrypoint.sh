#!/bin/sh
# What the entry point of the published image does for the settings that docker-compose.yml has: makes the database once,
# starts it for the scripts of /docker-entrypoint-initdb.d where no network reaches it, then runs the command.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  export POSTGRES_PASSWORD
  unset POSTGRES_PASSWORD_FILE
  umask 077
  printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
  # shellcheck disable=SC2086
  initdb --username postgres --pwfile /tmp/password --auth-local trust --auth-host trust ${POSTGRES_INITDB_ARGS:-}
  rm /tmp/password
  echo "unix_socket_directories = '/var/run/postgresql'" >> "$PGDATA/postgresql.conf"
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  pg_ctl -w -o "-c listen_addresses=''" start
  for script in /docker-entrypoint-initdb.d/*.sh; do
    if [ -x "$script" ]; then "$script"; else . "$script"; fi
  done
  pg_ctl -m fast -w stop
  unset POSTGRES_PASSWORD
fi
exec "$@"
