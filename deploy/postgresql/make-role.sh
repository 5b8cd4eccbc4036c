#!/bin/sh
# Run by the image of PostgreSQL once, when it makes the database (docker-compose.yml). Makes the role of the Temporal
# server, which may make databases and is no superuser. The superuser `postgres` keeps no password: it can log in only
# from within the container.
set -eu
psql --username postgres --dbname postgres --no-psqlrc --quiet --set ON_ERROR_STOP=1 <<'SQL'
\getenv password POSTGRES_PASSWORD
CREATE ROLE temporal LOGIN CREATEDB PASSWORD :'password';
ALTER ROLE postgres PASSWORD NULL;
SQL
