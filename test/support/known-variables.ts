import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { configurationVariables } from "../../src/configuration-variables";

/** Variables that Node itself and OpenTelemetry's exporter read. */
const ofLibraries = [
  "NODE_OPTIONS",
  "NODE_EXTRA_CA_CERTS",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
];

/** Every variable that a role of the service reads: its own, those of Temporal's clients, and those of libraries. */
export function knownVariables(): ReadonlySet<string> {
  const guide = readFileSync(join(resolve(__dirname, "../.."), "docs/configuration.md"), "utf8");
  const connection = guide.slice(guide.indexOf("## Connection to Temporal"), guide.indexOf("### A Temporal server of"));
  const ofTemporal = [...connection.matchAll(/`(TEMPORAL_\w+)`/g)].flatMap(([, name]) => name ?? []);
  return new Set([...configurationVariables.map(({ name }) => name), ...ofTemporal, ...ofLibraries]);
}

/** What somebody who runs the service for others must be able to set, for each role that reads it. */
export const settingsOfOperators = {
  both: [
    "LOG_LEVEL",
    "TEMPORAL_ADDRESS",
    "TEMPORAL_NAMESPACE",
    "TEMPORAL_API_KEY",
    "TEMPORAL_TLS",
    "TEMPORAL_TLS_CLIENT_CERT_PATH",
    "TEMPORAL_TLS_CLIENT_KEY_PATH",
    "TEMPORAL_TLS_SERVER_CA_CERT_PATH",
    "TEMPORAL_TLS_SERVER_NAME",
    "PAYLOAD_KEYS_FILE",
    "INVENTORY_FILE",
    "NODE_EXTRA_CA_CERTS",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
  ],
  api: [
    "API_HOST",
    "API_PORT",
    "API_TLS_CERT_FILE",
    "API_TLS_KEY_FILE",
    "API_TLS_CLIENT_CA_FILE",
    "API_TRUSTED_PROXIES",
    "PUBLIC_URL",
    "API_METRICS_ADDRESS",
    "API_HEALTH_ADDRESS",
    "AUTH_MODE",
    "AUTH_USERS_FILE",
    "AUTH_SIGNING_KEY_FILE",
    "AUTH_REVOKED_DIR",
    "OIDC_ISSUER",
    "OIDC_AUDIENCE",
    "OIDC_ROLE_CLAIM",
    "OIDC_JWKS_URL",
    "OIDC_CLIENT_ID",
    "OIDC_SCOPE",
    "CATALOG_FILE",
    "CODEC_ORIGINS",
    "TEMPORAL_UI_URL",
  ],
  worker: ["WORKER_METRICS_ADDRESS", "WORKER_HEALTH_ADDRESS", "WORKER_CACHED_WORKFLOWS"],
} as const;
