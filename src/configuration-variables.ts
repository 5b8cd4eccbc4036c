import * as t from "io-ts";
import { isAddressOrNetwork } from "./authentication/client-address";
import { isLoopback } from "./loopback";

/** One environment variable: how it is read, and what docs/configuration.md says of it. */
interface Variable<A> {
  readonly codec: t.Type<A, unknown, unknown>;
  /** What a value must be, in words. */
  readonly expected: string;
  /** The value of an unset or empty variable, as it would be written; undefined where there is none. */
  readonly fallback: string | undefined;
  readonly about: string;
}

function textual<A>(
  expected: string,
  fallback: string | undefined,
  about: string,
  read: (text: string) => A | undefined,
) {
  const codec = new t.Type<A, A, unknown>(
    expected,
    (u): u is A => u !== undefined,
    (u, context) => {
      const value = typeof u === "string" ? read(u) : undefined;
      return value === undefined ? t.failure(u, context) : t.success(value);
    },
    t.identity,
  );
  return { codec, expected, fallback, about } satisfies Variable<A>;
}

function optional<A>(variable: Variable<A>): Variable<A | undefined> {
  return { ...variable, codec: t.union([variable.codec, t.undefined]) };
}

const wholeNumber = (min: number, max: number, unit: string, fallback: number, about: string) =>
  textual(`a whole number${unit && ` of ${unit}`} from ${min} to ${max}`, String(fallback), about, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? value : undefined;
  });

const port = (fallback: number, about: string) => wholeNumber(1, 65535, "", fallback, about);

const listenAddress = (about: string) =>
  textual("an address and port such as 127.0.0.1:9464", undefined, about, (text) =>
    /^([\w.-]+|\[[\da-f:.]+\]):([1-9]\d{0,4})$/i.test(text) ? text : undefined,
  );

const oneOf = <const S extends readonly string[]>(spellings: S, fallback: S[number], about: string) =>
  textual(`one of ${spellings.join(", ")}`, fallback, about, (text): S[number] | undefined =>
    spellings.find((spelling) => spelling === text),
  );

const path = (fallback: string | undefined, about: string) => textual("a path", fallback, about, (text) => text);

/** Whoever could change what an issuer answers on its way could make tokens, so plain HTTP is for this machine only. */
const issuerUrl = (about: string) =>
  textual("an https:// URL, or http:// on a loopback address", undefined, about, (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const safe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
    return safe && url.search === "" && url.hash === "" ? text : undefined;
  });

/** A slash at the end says nothing. */
const pageUrl = (about: string) =>
  textual("an http:// or https:// URL", undefined, about, (text) => {
    const { protocol, search, hash } = URL.canParse(text) ? new URL(text) : { protocol: "", search: "", hash: "" };
    return /^https?:$/.test(protocol) && search === "" && hash === "" ? text.replace(/\/+$/, "") : undefined;
  });

/** Every variable that the service reads, beside those of Temporal's own clients. */
export const variables = {
  API_HOST: textual("a host name or address", "127.0.0.1", "Where the API listens", (text) =>
    /^[\w.:-]+$/.test(text) ? text : undefined,
  ),
  API_PORT: port(8080, "Port of the API"),
  API_TLS_CERT_FILE: optional(path(undefined, "Certificate of the API (PEM). With it the API uses HTTPS only")),
  API_TLS_KEY_FILE: optional(path(undefined, "Private key of that certificate (PEM)")),
  API_TLS_CLIENT_CA_FILE: optional(
    path(undefined, "Certificate authorities (PEM). With it only clients with one of their certificates can connect"),
  ),
  PUBLIC_URL: optional(
    pageUrl("Address of the console, for links in notifications and the Temporal Web UI. Unset: no links"),
  ),
  API_TRUSTED_PROXIES: optional(
    textual(
      "addresses or networks such as 10.0.0.0/8, separated by commas",
      undefined,
      "Proxies in front of the API whose X-Forwarded-For is trusted",
      (text) => {
        const proxies = text.split(",").map((proxy) => proxy.trim());
        return proxies.every(isAddressOrNetwork) ? proxies : undefined;
      },
    ),
  ),
  AUTH_MODE: oneOf(
    ["dev", "local", "oidc"],
    "dev",
    "Who may call the API. `dev` accepts any credentials, but only on a loopback API_HOST",
  ),
  AUTH_USERS_FILE: optional(path(undefined, "The users of `local`")),
  AUTH_SIGNING_KEY_FILE: optional(path(undefined, "File with the key that signs the tokens of `local`")),
  AUTH_SIGNING_KEY: optional(
    textual("a text", undefined, "The key itself; takes precedence over the file", (text) => text),
  ),
  AUTH_REVOKED_DIR: optional(
    path(undefined, "Where `local` keeps revoked refresh tokens. Unset: `revoked-tokens` in DATA_DIR"),
  ),
  AUTH_ACCESS_TOKEN_MINUTES: wholeNumber(15, 60, "minutes", 60, "Lifetime of an access token of `local`"),
  AUTH_REFRESH_TOKEN_HOURS: wholeNumber(1, 168, "hours", 24, "Lifetime of a refresh token of `local`"),
  OIDC_ISSUER: optional(issuerUrl("Issuer of the tokens of `oidc`, exactly as the tokens name it")),
  OIDC_AUDIENCE: optional(textual("a text", undefined, "Required audience of the tokens of `oidc`", (text) => text)),
  OIDC_ROLE_CLAIM: textual("a text", "role", "Claim of the tokens of `oidc` that holds the role", (text) => text),
  OIDC_CLIENT_ID: optional(
    textual("a text", undefined, "Client id of the console at the issuer. Unset: users paste a token", (text) => text),
  ),
  OIDC_SCOPE: textual(
    "a text",
    "openid",
    "Scopes that the console asks the issuer for, separated by spaces",
    (text) => text,
  ),
  OIDC_JWKS_URL: optional(issuerUrl("Where the issuer's keys are. Unset: as its metadata says")),
  EVENTS_POLL_MILLISECONDS: wholeNumber(
    100,
    60_000,
    "milliseconds",
    1000,
    "How often a task is read for its event streams",
  ),
  EVENTS_QUIET_SECONDS: wholeNumber(1, 60, "seconds", 15, "Idle time before an event stream gets a keep-alive comment"),
  EVENTS_LISTENERS_MAX: wholeNumber(1, 100_000, "", 1000, "Maximum event streams of one API process"),
  EVENTS_LISTENERS_PER_CALLER_MAX: wholeNumber(1, 100_000, "", 250, "Maximum event streams of one caller"),
  LOAD_STARTS: wholeNumber(
    1,
    10_000,
    "",
    8,
    "New upgrades that one API process handles at a time; three times as many wait, more are shed",
  ),
  LOAD_COMMANDS: wholeNumber(1, 10_000, "", 128, "The same for commands to upgrades, from commit to cancellation"),
  LOAD_READS: wholeNumber(
    1,
    10_000,
    "",
    128,
    "The same for reads of single tasks and upgrades, and for opening event streams",
  ),
  LOAD_LISTS: wholeNumber(1, 10_000, "", 32, "The same for lists, and separately for clusters and previews"),
  LOAD_WAIT_MILLISECONDS: wholeNumber(
    1,
    60_000,
    "milliseconds",
    2000,
    "Longest wait of such a request before it is shed",
  ),
  START_MILLISECONDS: wholeNumber(
    2000,
    60_000,
    "milliseconds",
    6000,
    "Timeout of a request for a new upgrade after its wait",
  ),
  RATE_LIMIT_CHANGES_PER_MINUTE: wholeNumber(
    0,
    1_000_000,
    "",
    0,
    "Changes per caller and minute, counted separately for new upgrades, commands and logins. 0: unlimited",
  ),
  RATE_LIMIT_READS_PER_MINUTE: wholeNumber(0, 1_000_000, "", 0, "Reads per caller and minute. 0: unlimited"),
  DATA_DIR: path(".data", "State of the embedded Temporal server, logs, process ids"),
  INVENTORY_FILE: path("config/inventory.yaml", "Clusters, domains and component managers"),
  CATALOG_FILE: path("config/bundles.yaml", "Bundles that can be installed"),
  RESOLUTION_DAYS: wholeNumber(1, 365, "days", 7, "How long a failed upgrade stays open for retry and resolve"),
  LATE_START_MINUTES: wholeNumber(
    1,
    10_080,
    "minutes",
    60,
    "How late a scheduled upgrade may start automatically, such as after an outage; later it waits for a commit",
  ),
  LOCK_LEAD_MINUTES: wholeNumber(
    0,
    10_080,
    "minutes",
    60,
    "How long before its time a scheduled upgrade locks its resources",
  ),
  LONG_WAIT_MINUTES: wholeNumber(
    1,
    10_080,
    "minutes",
    60,
    "How long an upgrade waits before `upgrade.wait.long` reports it",
  ),
  READ_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    60,
    "How long a read is retried before its resource fails. Below COMPONENT_MANAGER_OUTAGE_MINUTES only shorter outages are waited out",
  ),
  NETVIRT_READ_MINUTES: wholeNumber(1, 1440, "minutes", 20, "Timeout of one read of all nodes of a NETVIRT instance"),
  PRECHECK_MINUTES: wholeNumber(3, 1440, "minutes", 60, "How long the prechecks of one resource are retried"),
  RESTORE_HOURS: wholeNumber(1, 720, "hours", 24, "How long restoring settings is retried"),
  TAKE_BACK_HOURS: wholeNumber(1, 720, "hours", 4, "How long cancelling a management server's migration is retried"),
  HEARTBEAT_SECONDS: wholeNumber(
    5,
    600,
    "seconds",
    15,
    "Heartbeat timeout of a step, after which another worker takes it over",
  ),
  STEP_DAYS: wholeNumber(1, 365, "days", 7, "How long one run of a step may take while it makes progress"),
  LOST_RUNS: wholeNumber(1, 1000, "", 200, "How often a step is taken over before it fails"),
  LOG_LEVEL: oneOf(["trace", "debug", "info", "warn", "error", "fatal"], "info", "Lowest level that is logged"),
  API_METRICS_ADDRESS: optional(listenAddress("Where the API also answers GET /metrics, without credentials")),
  WORKER_METRICS_ADDRESS: optional(listenAddress("Where a worker answers GET /metrics, without credentials")),
  API_HEALTH_ADDRESS: optional(
    listenAddress("Where the API also answers GET /health/live and /health/ready, without TLS"),
  ),
  WORKER_HEALTH_ADDRESS: optional(listenAddress("Where a worker answers GET /health/live and /health/ready")),
  WORKER_CACHED_WORKFLOWS: wholeNumber(
    50,
    100_000,
    "",
    1_000,
    "Workflows that a worker caches, each 0.2 to 1 MB; others are replayed from their history at their next event",
  ),
  TEMPORAL_PORT: port(7233, "Port of the embedded Temporal server"),
  TEMPORAL_UI_PORT: port(8233, "Port of the embedded server's Web UI"),
  TEMPORAL_UI_URL: optional(pageUrl("Where browsers reach the Temporal Web UI. Unset: the embedded server's")),
  TEMPORAL_CLI_PATH: optional(path(undefined, "The Temporal CLI, which contains the embedded server")),
  PAYLOAD_KEYS_FILE: optional(
    path(undefined, "Keys that encrypt what Temporal stores (docs/encryption.md). Unset: no encryption"),
  ),
  CODEC_ORIGINS: optional(
    textual(
      "origins of web pages such as https://temporal.example.com, separated by commas",
      undefined,
      "Origins of Temporal Web UIs for which the API decrypts payloads. Unset: the embedded server's",
      (text) => {
        const origins = text.split(",").map((origin) => origin.trim());
        const areOrigins = origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin);
        return areOrigins ? origins : undefined;
      },
    ),
  ),
  SIMULATOR_HOST: textual(
    "a host name or address",
    "127.0.0.1",
    "Where the simulator listens, and where the shipped inventory looks for it",
    (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  ),
  SIMULATOR_PORT: port(8090, "Port of the simulator"),
  SIMULATOR_HOST_SECONDS: textual(
    "a number of seconds from 0 to 3600",
    "5",
    "How long the simulator takes to upgrade a host",
    (text) => (/^\d{1,4}(\.\d{1,3})?$/.test(text) && Number(text) <= 3600 ? Number(text) : undefined),
  ),
  SIMULATOR_CONFIG: path("config/simulator.yaml", "What the simulator simulates"),
  COMPONENT_MANAGER_CALL_SECONDS: wholeNumber(1, 600, "seconds", 30, "Longest single call to a component manager"),
  ANSWER_SECONDS: wholeNumber(
    5,
    3600,
    "seconds",
    90,
    "How long one try of a read, check or restore waits for the component manager",
  ),
  COMPONENT_MANAGER_OUTAGE_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    60,
    "Longest outage of a component manager before the step that needs it fails",
  ),
  REMEDIATION_STALL_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    120,
    "How long a host's remediation, or a NETVIRT component's upgrade, may make no progress before it fails",
  ),
  HOST_RECONNECT_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    30,
    "How long a host may take to reconnect after its remediation",
  ),
  HOST_SETTLE_SECONDS: wholeNumber(
    5,
    3600,
    "seconds",
    60,
    "How long a host of a baseline-managed cluster may take to show the result of a task",
  ),
  OPERATION_BUSY_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    30,
    "How long a step waits for another operation on a cluster before it fails",
  ),
  MGMT_ABSENCE_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    120,
    "How long a management server may be away while it is upgraded itself",
  ),
  MGMT_STALL_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    120,
    "How long a management server's update or migration may make no progress before it fails",
  ),
  HEALTH_GATE_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    30,
    "How long a cluster may take to become healthy again before it fails",
  ),
  POLL_MIN_MILLISECONDS: wholeNumber(10, 60_000, "milliseconds", 250, "First pause between two polls of a remote task"),
  POLL_MAX_MILLISECONDS: wholeNumber(10, 600_000, "milliseconds", 5000, "Longest pause between two such polls"),
  XDG_CACHE_HOME: optional(path(undefined, "Parent of the cache that holds the Temporal CLI. Unset: `~/.cache`")),
} as const;

/** The name of a variable. */
export type Name = keyof typeof variables;
/** The decoded value of every variable. */
export type Values = { readonly [N in Name]: t.TypeOf<(typeof variables)[N]["codec"]> };

/** Every variable of the service, in the order of docs/configuration.md, which a test checks against this list. */
export const configurationVariables: readonly { name: string; expected: string; fallback?: string; about: string }[] =
  Object.entries(variables).map(([name, { expected, fallback, about }]) => ({
    name,
    expected,
    ...(fallback !== undefined && { fallback }),
    about,
  }));
