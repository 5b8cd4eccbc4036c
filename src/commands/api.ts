import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PayloadCodec } from "@temporalio/common";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import type { Logger } from "pino";
import { v4, v5 } from "uuid";
import { createApi } from "../api/create-api";
import { LoadControl } from "../api/load-control";
import type { PayloadTranslator } from "../api/routes/codec";
import { startApi } from "../api/start-api";
import { type RenewedTls, renewedTls, type TlsFiles } from "../api/tls-files";
import { clientAddress } from "../authentication/client-address";
import { projectRoot } from "../config";
import { fileInventory } from "../inventory/file-inventory";
import { isLoopback } from "../loopback";
import { type ApiMetrics, createApiMetrics } from "../observability/api-metrics";
import { currentRequestId, keepRequest } from "../observability/context";
import { serveHealth, startMetricsServer } from "../observability/metrics-server";
import { observeManagerCalls } from "../observability/observe-manager-calls";
import { oneLine, StartupError } from "../startup-error";
import { BlockedWatch } from "../temporal/blocked-workflows";
import { lazyClient } from "../temporal/connection";
import { temporalFreezes } from "../temporal/freezes";
import { temporalHolds } from "../temporal/holds";
import { PayloadEncryption } from "../temporal/payload-encryption";
import { startWarning, temporalReadiness } from "../temporal/readiness";
import { temporalReadinessChecks } from "../temporal/readiness-checks";
import { readError } from "../temporal/temporal-error";
import { upgradeCounter } from "../temporal/upgrade-counter";
import { temporalUpgradeExecutions } from "../temporal/upgrade-executions";
import { createUpgradeService } from "../upgrades/create-upgrade-service";
import type { Identities, Timers } from "../upgrades/ports";
import { consoleSignIn, loadAuthentication } from "./authentication";
import { checkPorts } from "./check-ports";
import { componentManagerReads, coalescedReads } from "./component-manager-reads";
import { loadTracing } from "./load-tracing";
import { loadCatalog, loadInventory } from "./operator-files";
import { loadPayloadKeys, payloadConversionOf } from "./payload-keys";
import type { StartRole } from "./run-role";

/** The HTTP API. Serves whether or not Temporal answers, and says so in its answers where it does not. */
export const startApiRole: StartRole = async (config, log) => {
  const authentication = await loadAuthentication(config.authentication, (message) => log.warn(message));
  const inventoryFile = loadInventory(config);
  const keys = loadPayloadKeys(config.payloadKeysFile);
  const tracing = await loadTracing(config, "api");
  const metrics: ApiMetrics = createApiMetrics({
    upgrades: () => countUpgrades(),
    blockedWorkflows: () => blocked.counts(),
    freezes: () => service.readFreeze()(),
    holds: () => service.listHolds()(),
  });
  const client = lazyClient(config.temporal, payloadConversionOf(keys), {
    onCall: metrics.measureTemporalCall,
    ...(tracing && { interceptors: tracing.clientInterceptors }),
  });
  const countUpgrades = upgradeCounter(client, log);
  const blocked = new BlockedWatch(client, log, systemTimers);
  const reads = componentManagerReads(
    inventoryFile,
    observeManagerCalls({ log, measure: metrics.measureManagerCall, tracer: tracing?.tracer }),
  );
  const catalog = loadCatalog(config, log);
  const service = createUpgradeService({
    checkReady: () =>
      TE.map(() => [...catalog.problems(), ...blocked.problems()])(temporalReadiness(client, config.temporal)),
    executions: temporalUpgradeExecutions(client, log, currentRequestId),
    freezes: temporalFreezes(client),
    holds: temporalHolds(client),
    readiness: temporalReadinessChecks(client),
    catalog,
    inventory: fileInventory(inventoryFile, coalescedReads(reads, systemTimers)),
    identities: systemIdentities,
    resolutionDays: config.resolutionDays,
    lateStartMinutes: config.lateStartMinutes,
    lockLeadMinutes: config.lockLeadMinutes,
    longWaitMinutes: config.longWaitMinutes,
    publicUrl: config.publicUrl,
    temporalAddress: config.temporal.address,
    startMilliseconds: config.startMilliseconds,
    waits: config.activityWaits,
    timers: systemTimers,
    watchLimits: config.watchLimits,
  });
  const loadControl = new LoadControl({ limits: config.load, timers: systemTimers, onShed: metrics.countShed });
  metrics.showLoad(() => loadControl.counts());
  const { host, port } = config.api;
  const tls = loadTls(config.api.tls, log);
  if (authentication.mode === "dev")
    log.warn("AUTH_MODE=dev: any Authorization header is accepted and reads are open; loopback only");
  else log.info({ mode: authentication.mode }, "authentication");
  if (!tls && !isLoopback(host))
    log.warn(
      `API_HOST=${host}: the API uses plain HTTP, so tokens can be intercepted; set API_TLS_CERT_FILE and API_TLS_KEY_FILE, or put a proxy with TLS before it`,
    );
  const { namespace, uiUrl } = config.temporal;
  const app = createApi({
    service,
    authentication,
    log,
    version: serviceVersion(),
    console: {
      folder: join(projectRoot, "dist", "console"),
      temporalNamespace: namespace,
      ...(uiUrl !== undefined && { temporalUiUrl: uiUrl }),
      ...consoleSignIn(config.authentication),
    },
    documents: join(projectRoot, "dist", "docs"),
    addressOf: clientAddress(config.api.trustedProxies),
    loadControl,
    ...(keys.length > 0 && {
      codec: { translator: payloadTranslator(new PayloadEncryption(keys)), origins: config.codecOrigins },
    }),
    metrics,
    observers: [metrics.measureRequests, keepRequest, ...(tracing ? [tracing.traceRequests] : [])],
  });
  await checkPorts([{ host, port, variable: "API_PORT" }]);
  const stopMetrics = await serveMetrics(metrics, config.metrics.api);
  const api = await startApi(app, { host, port, log, limits: { close: 2000 }, ...(tls && { tls }) });
  const stopHealth = await serveHealth(service.checkReady, {
    address: config.health.api,
    variable: "API_HEALTH_ADDRESS",
  });
  blocked.start();
  const warning = await startWarning(client, config.temporal);
  if (warning !== undefined) log.warn(warning);
  return {
    url: api.url,
    stop: async () => {
      stopHealth();
      blocked.close();
      service.close();
      await api.close();
      stopMetrics();
      await Promise.allSettled([reads.close(), client.connection.close(), tracing?.stop()]);
    },
  };
};

function loadTls(files: TlsFiles | undefined, log: Logger): RenewedTls | undefined {
  if (!files) return undefined;
  const tls = renewedTls(files, (message) => log.warn(message));
  if (E.isLeft(tls)) throw new StartupError(`${tls.left} Correct the files or set other ones.`);
  const { validTo, requiresClientCertificate } = tls.right.material;
  log.info({ validTo, requiresClientCertificate }, "TLS");
  if (validTo.getTime() < Date.now())
    log.warn(`API_TLS_CERT_FILE=${files.certFile}: the certificate expired at ${validTo.toISOString()}; renew it`);
  return tls.right;
}

async function serveMetrics(metrics: ApiMetrics, address: string | undefined): Promise<() => void> {
  if (address === undefined) return () => undefined;
  return startMetricsServer(metrics, address).catch((error: unknown) => {
    throw new StartupError(
      `API_METRICS_ADDRESS=${address}: metrics cannot be served there (${oneLine(error)}). Choose another address.`,
    );
  });
}

function serviceVersion(): string {
  const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string };
  return version;
}

/** Namespace of the ids that are made from an Idempotency-Key; changing it would make every key new. */
const namespace = "6f1d3c52-8f7b-4a86-9d3b-3a1f7c0e5b21";

/** Time, ids and digests of this process. */
export const systemIdentities: Identities = {
  now: () => Date.now(),
  newId: () => v4(),
  // Neither part can hold a NUL, so two different pairs never read the same.
  idFor: (caller, idempotencyKey) => v5(`${caller}\u0000${idempotencyKey}`, namespace),
  digest: (value) => createHash("sha256").update(canonicalJson(value)).digest("hex"),
};

/** JSON in which the order of an object's fields says nothing. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Time as it passes for this process, which it does not keep from ending. */
const systemTimers: Timers = {
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};

/** The codec of payloads as the API offers it to Temporal's Web UI and CLI. */
export function payloadTranslator(codec: PayloadCodec): PayloadTranslator {
  return {
    encode: (payloads) => TE.tryCatch(() => codec.encode([...payloads]), readError),
    decode: (payloads) => TE.tryCatch(() => codec.decode([...payloads]), readError),
  };
}
