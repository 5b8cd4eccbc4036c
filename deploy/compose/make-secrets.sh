#!/bin/sh
# Makes what docker-compose.yml reads from secrets/: passwords, keys, a certificate of its own and a first user. What is
# there already is left as it is, so this can be run again. No secret is printed.
#   sh deploy/compose/make-secrets.sh [NAME…]     NAME: host names of the API, for the certificate
# What the containers read of this checkout is made readable to all: a clone with umask 077 is not.
# SECRETS (secrets) is the folder. HASH_PASSWORD is the command that hashes a password; by itself, that of the image.
set -eu
umask 077
secrets=${SECRETS:-secrets}
: "${HASH_PASSWORD:=docker run --rm -i --network none upgrade-management-service:0.1.0 hash-password}"

chmod -R a+rX config deploy/postgresql

# Only its owner comes through the folder; within a container any user may read what is mounted there.
mkdir -p "$secrets/api" "$secrets/operator"
chmod 700 "$secrets"
chmod 755 "$secrets/api" "$secrets/operator"

# keep FILE: the standard input becomes the file, complete or not at all.
keep() {
  cat >"$secrets/.new"
  [ -s "$secrets/.new" ] || { echo "$1 could not be made" >&2; exit 1; }
  chmod 444 "$secrets/.new"
  mv "$secrets/.new" "$secrets/$1"
  echo "made $secrets/$1"
}
missing() { [ ! -e "$secrets/$1" ]; }

if missing postgres-password; then openssl rand -hex 24 | tr -d '\n' | keep postgres-password; fi
if missing payload-keys.yaml; then
  printf 'keys:\n  - id: "%s"\n    key: %s\n' "$(date -u +%Y-%m)" "$(openssl rand -base64 32)" | keep payload-keys.yaml
fi
if missing api/signing-key; then openssl rand -base64 48 | keep api/signing-key; fi

if missing api/tls.crt || missing api/tls.key; then
  names=DNS:localhost,IP:127.0.0.1
  for name in "$@"; do names=$names,DNS:$name; done
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj "/CN=${1:-localhost}" \
    -addext "subjectAltName=$names" -keyout "$secrets/.key" -out "$secrets/.crt" 2>/dev/null
  keep api/tls.key <"$secrets/.key"
  keep api/tls.crt <"$secrets/.crt"
  rm "$secrets/.key" "$secrets/.crt"
fi

if missing api/users.yaml; then
  missing admin-password && openssl rand -hex 16 | keep admin-password
  hash=$($HASH_PASSWORD <"$secrets/admin-password")
  printf 'users:\n  - username: admin\n    role: ADMIN\n    password: %s\n' "$hash" | keep api/users.yaml
  echo "The first user is admin; the password is in $secrets/admin-password: keep it elsewhere and remove the file."
fi
