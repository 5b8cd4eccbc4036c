import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { type ClientConnectConfig, loadClientConnectConfig } from "@temporalio/envconfig";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import type { LoadLimits } from "./api/load-control";
import type { TlsFiles } from "./api/tls-files";
import { type Name, type Values, variables } from "./configuration-variables";
import type { ActivityWaits, TimeLimits } from "./domain/time-limits";
import { isTypoOf } from "./domain/unknown-fields";
import { isLoopback } from "./loopback";
import { oneLine, StartupError } from "./startup-error";
import type { WatchLimits } from "./upgrades/watch-task";

/** Who may call the API. What a mode needs is checked where it is used, because only the API needs it. */
export interface AuthenticationConfig {
  readonly mode: Values["AUTH_MODE"];
  readonly usersFile: string | undefined;
  readonly signingKeyFile: string | undefined;
  /** Never logged. */
  readonly signingKey: string | undefined;
  readonly revokedDir: string;
  readonly accessTokenMinutes: number;
  readonly refreshTokenHours: number;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly roleClaim: string;
  readonly keysUrl: string | undefined;
  /** Of the console, at the issuer. */
  readonly clientId: string | undefined;
  readonly scope: string;
}

/** Everything that the environment decides. All paths are absolute. */
export interface Config {
  readonly api: {
    readonly host: string;
    readonly port: number;
    readonly trustedProxies: readonly string[];
    /** Absent: plain HTTP. */
    readonly tls?: TlsFiles;
  };
  /** How long a start may take, in milliseconds. */
  readonly startMilliseconds: number;
  /** How much one API process takes on. */
  readonly load: LoadLimits;
  readonly authentication: AuthenticationConfig;
  readonly dataDir: string;
  readonly inventoryFile: string;
  readonly catalogFile: string;
  /** Days that a failed upgrade stays open. */
  readonly resolutionDays: number;
  /** Minutes by which a scheduled upgrade may begin late by itself. */
  readonly lateStartMinutes: number;
  /** Minutes before its time from which on a scheduled upgrade holds its resources. */
  readonly lockLeadMinutes: number;
  /** Minutes after which receivers of notifications are told of a wait. */
  readonly longWaitMinutes: number;
  /** Where people open the console; undefined where nobody has said so. */
  readonly publicUrl: string | undefined;
  readonly logLevel: Values["LOG_LEVEL"];
  /** `host:port` where metrics are served without credentials; undefined where they are not. */
  readonly metrics: { readonly api: string | undefined; readonly worker: string | undefined };
  /** `host:port` where health is told in plain HTTP; undefined where it is not. */
  readonly health: { readonly api: string | undefined; readonly worker: string | undefined };
  /** How many Workflows a worker keeps in memory. */
  readonly cachedWorkflows: number;
  /** Whether spans are sent, and so made at all. Where to, and how, OpenTelemetry reads from `OTEL_*` itself. */
  readonly tracing: boolean;
  readonly temporal: {
    /** True without an address: `start` then runs a Temporal server itself. */
    readonly embedded: boolean;
    readonly address: string;
    readonly namespace: string;
    /** For `Connection.connect` and `NativeConnection.connect`; holds the address, and keys and certificates if any. */
    readonly connection: ClientConnectConfig["connectionOptions"];
    readonly port: number;
    readonly uiPort: number;
    /** Where browsers reach the Web UI; undefined where nobody has said so of a server that is not ours. */
    readonly uiUrl: string | undefined;
    readonly cliPath: string | undefined;
  };
  /** Undefined: what Temporal stores is not encrypted. */
  readonly payloadKeysFile: string | undefined;
  /** Origins of web pages that may ask for payloads to be decrypted. */
  readonly codecOrigins: readonly string[];
  readonly simulator: {
    readonly host: string;
    readonly port: number;
    readonly hostSeconds: number;
    readonly configFile: string;
  };
  readonly timeLimits: TimeLimits;
  readonly activityWaits: ActivityWaits;
  /** Of those who follow tasks by their events; times in milliseconds. */
  readonly watchLimits: WatchLimits;
  /** Where downloaded and built tools are kept, shared by all checkouts. */
  readonly cacheDir: string;
  /** The environment as it was read, for the tools that the service starts. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
}

/** The folder that holds package.json: the same for `src/` under tsx and for the build in `dist/src/`. */
export const projectRoot = findProjectRoot(__dirname);

function findProjectRoot(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : findProjectRoot(dirname(folder));
}

/**
 * Reads the whole configuration. The one place that looks at the environment.
 * On the left: every problem that there is, each a line that names its variable.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): E.Either<readonly string[], Config> {
  const codec = t.type(Object.fromEntries(Object.entries(variables).map(([name, variable]) => [name, variable.codec])));
  const given = Object.fromEntries(
    Object.entries(variables).map(([name, { fallback }]) => [name, environment[name]?.trim() || fallback]),
  );
  const decoded = codec.decode(given);
  if (E.isLeft(decoded)) {
    const wrong = new Set(decoded.left.map((error) => error.context[1]?.key as Name));
    const temporal = readTemporal(environment, 0);
    return E.left([
      ...misspelt(environment),
      ...[...wrong].map((name) => `${name}=${JSON.stringify(given[name])}: expected ${variables[name].expected}.`),
      ...(E.isLeft(temporal) ? [temporal.left] : []),
    ]);
  }
  const values = decoded.right as Values;
  const temporal = readTemporal(environment, values.TEMPORAL_PORT);
  const problems = [
    ...misspelt(environment),
    ...contradictions(values, E.isRight(temporal) && temporal.right.embedded),
    ...(E.isLeft(temporal) ? [temporal.left] : []),
  ];
  if (E.isLeft(temporal) || problems.length > 0) return E.left(problems);
  return E.right(toConfig(values, temporal.right, environment));
}

/**
 * Variables that differ from one of ours in case or by one edit. Others are not looked at: the environment belongs to many
 * programs.
 */
function misspelt(environment: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(variables);
  return Object.keys(environment).flatMap((name) => {
    if (names.includes(name)) return [];
    const meant = names.find((known) => isTypoOf(name, known));
    return meant === undefined ? [] : [`${name} is not a variable of the service. Did you mean ${meant}?`];
  });
}

function contradictions(values: Values, embedded: boolean): string[] {
  const listening = [
    "API_PORT",
    "SIMULATOR_PORT",
    ...(embedded ? (["TEMPORAL_PORT", "TEMPORAL_UI_PORT"] as const) : []),
  ] as const;
  const ports = listening.map((name) => [name, values[name]] as const);
  const repeated = ports.flatMap(([name, value], i) =>
    ports.slice(i + 1).flatMap(([other, same]) => (value === same ? [`${name} and ${other} are both ${value}.`] : [])),
  );
  return [
    ...repeated,
    ...(values.AUTH_MODE !== "dev" || isLoopback(values.API_HOST)
      ? []
      : [
          `API_HOST=${JSON.stringify(values.API_HOST)}: AUTH_MODE=dev accepts anyone, so only a loopback address is allowed.`,
        ]),
    ...((values.API_TLS_CERT_FILE === undefined) === (values.API_TLS_KEY_FILE === undefined)
      ? []
      : ["API_TLS_CERT_FILE and API_TLS_KEY_FILE belong together: set both or neither."]),
    ...(values.API_TLS_CLIENT_CA_FILE !== undefined && values.API_TLS_CERT_FILE === undefined
      ? ["API_TLS_CLIENT_CA_FILE needs API_TLS_CERT_FILE and API_TLS_KEY_FILE: client certificates need TLS."]
      : []),
    ...(values.POLL_MIN_MILLISECONDS > values.POLL_MAX_MILLISECONDS
      ? ["POLL_MIN_MILLISECONDS is more than POLL_MAX_MILLISECONDS."]
      : []),
  ];
}

type TemporalConnection = Pick<Config["temporal"], "embedded" | "address" | "namespace" | "connection">;

function readTemporal(environment: NodeJS.ProcessEnv, embeddedPort: number): E.Either<string, TemporalConnection> {
  return E.tryCatch(
    () => {
      const set = Object.entries(environment).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
      const { connectionOptions, namespace } = loadClientConnectConfig({
        overrideEnvVars: Object.fromEntries(set),
        // A file that the operator wrote for the CLI must not send upgrades elsewhere unless it is named.
        disableFile: !environment["TEMPORAL_CONFIG_FILE"] && !environment["TEMPORAL_PROFILE"],
      });
      if (
        connectionOptions.address !== undefined &&
        !/^([\w.-]+|\[[\da-f:.]+\]):\d{1,5}$/i.test(connectionOptions.address)
      )
        throw new StartupError(`TEMPORAL_ADDRESS=${JSON.stringify(connectionOptions.address)}: expected host:port.`);
      const address = connectionOptions.address ?? `127.0.0.1:${embeddedPort}`;
      return {
        embedded: connectionOptions.address === undefined,
        address,
        namespace: namespace ?? "default",
        // Keys and certificates belong to the named server; the embedded one has none.
        connection: connectionOptions.address === undefined ? { address } : connectionOptions,
      };
    },
    (thrown) => (thrown instanceof StartupError ? thrown.message : `TEMPORAL_*: ${oneLine(thrown)}`),
  );
}

/** By the standard variables of OpenTelemetry: sent where an endpoint is named, unless that is switched off. */
function isTraced(environment: NodeJS.ProcessEnv): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = environment;
  if (OTEL_SDK_DISABLED?.toLowerCase() === "true" || OTEL_TRACES_EXPORTER === "none") return false;
  return Boolean(environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || environment["OTEL_EXPORTER_OTLP_ENDPOINT"]);
}

const [second, minute] = [1_000, 60_000];

function toConfig(values: Values, temporal: TemporalConnection, environment: NodeJS.ProcessEnv): Config {
  const absolute = (file: string) => (isAbsolute(file) ? file : resolve(projectRoot, file));
  return {
    api: {
      host: values.API_HOST,
      port: values.API_PORT,
      trustedProxies: values.API_TRUSTED_PROXIES ?? [],
      ...(values.API_TLS_CERT_FILE !== undefined &&
        values.API_TLS_KEY_FILE !== undefined && {
          tls: {
            certFile: absolute(values.API_TLS_CERT_FILE),
            keyFile: absolute(values.API_TLS_KEY_FILE),
            clientCaFile: values.API_TLS_CLIENT_CA_FILE && absolute(values.API_TLS_CLIENT_CA_FILE),
          },
        }),
    },
    startMilliseconds: values.START_MILLISECONDS,
    load: {
      starts: values.LOAD_STARTS,
      commands: values.LOAD_COMMANDS,
      reads: values.LOAD_READS,
      lists: values.LOAD_LISTS,
      waitMilliseconds: values.LOAD_WAIT_MILLISECONDS,
      changesPerMinute: values.RATE_LIMIT_CHANGES_PER_MINUTE,
      readsPerMinute: values.RATE_LIMIT_READS_PER_MINUTE,
    },
    authentication: {
      mode: values.AUTH_MODE,
      usersFile: values.AUTH_USERS_FILE && absolute(values.AUTH_USERS_FILE),
      signingKeyFile: values.AUTH_SIGNING_KEY_FILE && absolute(values.AUTH_SIGNING_KEY_FILE),
      signingKey: values.AUTH_SIGNING_KEY,
      revokedDir: absolute(values.AUTH_REVOKED_DIR ?? join(values.DATA_DIR, "revoked-tokens")),
      accessTokenMinutes: values.AUTH_ACCESS_TOKEN_MINUTES,
      refreshTokenHours: values.AUTH_REFRESH_TOKEN_HOURS,
      issuer: values.OIDC_ISSUER,
      audience: values.OIDC_AUDIENCE,
      roleClaim: values.OIDC_ROLE_CLAIM,
      keysUrl: values.OIDC_JWKS_URL,
      clientId: values.OIDC_CLIENT_ID,
      scope: values.OIDC_SCOPE,
    },
    dataDir: absolute(values.DATA_DIR),
    inventoryFile: absolute(values.INVENTORY_FILE),
    catalogFile: absolute(values.CATALOG_FILE),
    resolutionDays: values.RESOLUTION_DAYS,
    lateStartMinutes: values.LATE_START_MINUTES,
    lockLeadMinutes: values.LOCK_LEAD_MINUTES,
    longWaitMinutes: values.LONG_WAIT_MINUTES,
    publicUrl: values.PUBLIC_URL,
    logLevel: values.LOG_LEVEL,
    metrics: { api: values.API_METRICS_ADDRESS, worker: values.WORKER_METRICS_ADDRESS },
    health: { api: values.API_HEALTH_ADDRESS, worker: values.WORKER_HEALTH_ADDRESS },
    cachedWorkflows: values.WORKER_CACHED_WORKFLOWS,
    tracing: isTraced(environment),
    temporal: {
      ...temporal,
      port: values.TEMPORAL_PORT,
      uiPort: values.TEMPORAL_UI_PORT,
      uiUrl: values.TEMPORAL_UI_URL ?? (temporal.embedded ? `http://127.0.0.1:${values.TEMPORAL_UI_PORT}` : undefined),
      cliPath: values.TEMPORAL_CLI_PATH && absolute(values.TEMPORAL_CLI_PATH),
    },
    payloadKeysFile: values.PAYLOAD_KEYS_FILE && absolute(values.PAYLOAD_KEYS_FILE),
    codecOrigins:
      values.CODEC_ORIGINS ?? ["127.0.0.1", "localhost"].map((host) => `http://${host}:${values.TEMPORAL_UI_PORT}`),
    simulator: {
      host: values.SIMULATOR_HOST,
      port: values.SIMULATOR_PORT,
      hostSeconds: values.SIMULATOR_HOST_SECONDS,
      configFile: absolute(values.SIMULATOR_CONFIG),
    },
    timeLimits: {
      callTimeout: values.COMPONENT_MANAGER_CALL_SECONDS * second,
      outage: values.COMPONENT_MANAGER_OUTAGE_MINUTES * minute,
      answer: values.ANSWER_SECONDS * second,
      stall: values.REMEDIATION_STALL_MINUTES * minute,
      reconnect: values.HOST_RECONNECT_MINUTES * minute,
      settle: values.HOST_SETTLE_SECONDS * second,
      operationBusy: values.OPERATION_BUSY_MINUTES * minute,
      mgmtAbsence: values.MGMT_ABSENCE_MINUTES * minute,
      mgmtStall: values.MGMT_STALL_MINUTES * minute,
      healthGate: values.HEALTH_GATE_MINUTES * minute,
      poll: { min: values.POLL_MIN_MILLISECONDS, max: values.POLL_MAX_MILLISECONDS },
    },
    activityWaits: {
      readMinutes: values.READ_MINUTES,
      // The last call begins before the worker stops retrying, and where it changes something, it may arrive a call's time later.
      readRunSeconds: values.ANSWER_SECONDS + 2 * values.COMPONENT_MANAGER_CALL_SECONDS,
      netvirtReadMinutes: values.NETVIRT_READ_MINUTES,
      precheckMinutes: values.PRECHECK_MINUTES,
      restoreHours: values.RESTORE_HOURS,
      takeBackHours: values.TAKE_BACK_HOURS,
      heartbeatSeconds: values.HEARTBEAT_SECONDS,
      callSeconds: values.COMPONENT_MANAGER_CALL_SECONDS,
      stepDays: values.STEP_DAYS,
      lostRuns: values.LOST_RUNS,
    },
    watchLimits: {
      poll: values.EVENTS_POLL_MILLISECONDS,
      quiet: values.EVENTS_QUIET_SECONDS * 1000,
      listeners: values.EVENTS_LISTENERS_MAX,
      listenersPerCaller: values.EVENTS_LISTENERS_PER_CALLER_MAX,
    },
    cacheDir: join(values.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "upgrade-management-service"),
    environment,
  };
}
