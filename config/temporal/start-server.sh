#!/bin/sh
# Starts the Temporal server with the password of its database from the file POSTGRES_PASSWORD_FILE.
# BIND_ON_IP (0.0.0.0) is where it listens; its parts find each other at TEMPORAL_BROADCAST_ADDRESS, by default this
# machine's own address.
set -eu
POSTGRES_PWD=$(cat "${POSTGRES_PASSWORD_FILE:?is not set}")
export POSTGRES_PWD
export BIND_ON_IP="${BIND_ON_IP:-0.0.0.0}"
if [ "$BIND_ON_IP" = 0.0.0.0 ] && [ -z "${TEMPORAL_BROADCAST_ADDRESS:-}" ]; then
  TEMPORAL_BROADCAST_ADDRESS=$(getent hosts "$(hostname)" | awk '{ print $1; exit }')
  export TEMPORAL_BROADCAST_ADDRESS
fi
exec temporal-server start
