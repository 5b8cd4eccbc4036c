#!/bin/sh
# Makes the namespace of the upgrades with its retention and search attributes. Can be run again at any time.
# TEMPORAL_ADDRESS (127.0.0.1:7233) and TEMPORAL_NAMESPACE (default) say where; TEMPORAL_CLI_PATH says where the CLI is
# that is not on PATH.
set -eu
: "${TEMPORAL_ADDRESS:=127.0.0.1:7233}" "${TEMPORAL_NAMESPACE:=default}" "${TEMPORAL_CLI_PATH:=temporal}"
export TEMPORAL_ADDRESS TEMPORAL_NAMESPACE

if ! cli=$(command -v "$TEMPORAL_CLI_PATH"); then
  echo "There is no $TEMPORAL_CLI_PATH: install the Temporal CLI or set TEMPORAL_CLI_PATH to it" >&2
  exit 1
fi
temporal() {
  "$cli" "$@"
}

# Runs a command again until it succeeds, for about a minute; then says why it did not. Without a limit of its own the CLI
# waits for ever where the name of the server is not answered by a DNS.
retry() {
  attempts=0
  until error=$(temporal "$@" --command-timeout 10s 2>&1 >/dev/null); do
    attempts=$((attempts + 1))
    if [ "$attempts" -ge 30 ]; then
      echo "Temporal at $TEMPORAL_ADDRESS does not answer \`temporal $*\`: $error" >&2
      exit 1
    fi
    sleep 2
  done
}

# A port that is open does not yet answer for the whole cluster.
retry operator cluster health

retention=90d
if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"
else
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"
fi

# A new namespace takes a moment to be known to every part of the server.
retry operator search-attribute list --namespace "$TEMPORAL_NAMESPACE"

# Each name takes a type of its own; one that is there already is left as it is.
temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
  --name UpgradeStatus --type Keyword \
  --name TaskStatus --type Keyword \
  --name BundleId --type Keyword \
  --name BundleType --type Keyword \
  --name ResourceIds --type KeywordList \
  --name UpgradePhase --type Keyword \
  --name SearchTerms --type KeywordList \
  --name ChangeId --type Keyword \
  --name Labels --type KeywordList \
  --name CreatedAt --type Datetime \
  --name ClusterNames --type Text \
  --name TargetVersion --type Keyword \
  --name RequestedBy --type Keyword \
  --name StartsAt --type Datetime
