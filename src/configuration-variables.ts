import * as t from "io-ts";

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

const oneOf = <const S extends readonly string[]>(spellings: S, fallback: S[number], about: string) =>
  textual(spellings.join(" or "), fallback, about, (text): S[number] | undefined =>
    spellings.find((spelling) => spelling === text),
  );

const path = (fallback: string | undefined, about: string) =>
  textual("a path", fallback, `${about}; a relative path starts at the project's folder`, (text) => text);

/** Every variable that the service reads, beside those of Temporal's own clients. */
export const variables = {
  API_HOST: textual("a host name or address", "127.0.0.1", "Where the API listens", (text) =>
    /^[\w.:-]+$/.test(text) ? text : undefined,
  ),
  API_PORT: port(8080, "Port of the API"),
  AUTH_MODE: textual(
    "dev (local and oidc are not there yet)",
    "dev",
    "Who may call the API. `dev` accepts any credentials, on a loopback API_HOST only",
    (text) => (text === "dev" ? text : undefined),
  ),
  EVENTS_POLL_MILLISECONDS: wholeNumber(
    100,
    60_000,
    "milliseconds",
    1000,
    "How often a task is read for those who follow it by its events, once for all of them",
  ),
  EVENTS_QUIET_SECONDS: wholeNumber(
    1,
    60,
    "seconds",
    15,
    "After how long without an event a comment shows that a stream of events is alive",
  ),
  EVENTS_LISTENERS_MAX: wholeNumber(
    1,
    100_000,
    "",
    1000,
    "How many streams of events one API process serves at a time",
  ),
  DATA_DIR: path(".data", "State of the embedded Temporal server, logs, process ids"),
  INVENTORY_FILE: path("config/inventory.yaml", "Clusters, domains and component managers"),
  CATALOG_FILE: path("config/bundles.yaml", "Bundles that can be installed"),
  RESOLUTION_DAYS: wholeNumber(1, 365, "days", 7, "How long a failed upgrade stays open for retry and resolve"),
  LOG_LEVEL: oneOf(["trace", "debug", "info", "warn", "error", "fatal"], "info", "Least severe level that is logged"),
  TEMPORAL_PORT: port(7233, "Port of the embedded Temporal server, used without TEMPORAL_ADDRESS"),
  TEMPORAL_UI_PORT: port(8233, "Port of the embedded server's Web UI"),
  TEMPORAL_CLI_PATH: optional(path(undefined, "The Temporal CLI, which holds the embedded server")),
  SIMULATOR_PORT: port(8090, "Port of the component manager simulator"),
  SIMULATOR_HOST_SECONDS: textual(
    "a number of seconds from 0 to 3600",
    "5",
    "How long the simulator takes to upgrade a host",
    (text) => (/^\d{1,4}(\.\d{1,3})?$/.test(text) && Number(text) <= 3600 ? Number(text) : undefined),
  ),
  SIMULATOR_CONFIG: path("config/simulator.yaml", "What the simulator simulates"),
  COMPONENT_MANAGER_CALL_SECONDS: wholeNumber(1, 600, "seconds", 30, "Longest single call to a component manager"),
  COMPONENT_MANAGER_OUTAGE_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    60,
    "How long a component manager may be out of reach before the step that needs it fails",
  ),
  REMEDIATION_STALL_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    120,
    "How long a host's remediation may make no progress before it counts as failed",
  ),
  HOST_RECONNECT_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    30,
    "How long a host may take to be connected again after its remediation",
  ),
  OPERATION_BUSY_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    30,
    "How long to wait for another operation on a cluster to end before a step fails",
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
    "How long an update or migration of a management server may make no progress before it counts as failed",
  ),
  HEALTH_GATE_MINUTES: wholeNumber(
    1,
    1440,
    "minutes",
    30,
    "How long a cluster may take to be healthy again before no further host of it is begun",
  ),
  POLL_MIN_MILLISECONDS: wholeNumber(10, 60_000, "milliseconds", 250, "First pause between two looks at a remote task"),
  POLL_MAX_MILLISECONDS: wholeNumber(10, 600_000, "milliseconds", 5000, "Longest pause between two such looks"),
  XDG_CACHE_HOME: optional(path(undefined, "Parent of the cache that holds the Temporal CLI; unset is `~/.cache`")),
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
