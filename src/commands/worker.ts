import { join } from "node:path";
import { DefaultLogger, type LogEntry, Runtime } from "@temporalio/worker";
import * as TE from "fp-ts/TaskEither";
import { createActivities } from "../../activities/create-activities";
import { monotonicClock } from "../clock";
import { projectRoot } from "../config";
import { serveHealth } from "../observability/metrics-server";
import { observeActivities } from "../observability/observe-activities";
import { observeManagerCalls } from "../observability/observe-manager-calls";
import { createWorkerMetrics, exporterAt } from "../observability/worker-metrics";
import { oneLine, StartupError } from "../startup-error";
import { lazyClient } from "../temporal/connection";
import { readUpgradeEnd } from "../temporal/describe-workflow";
import { readFreezes } from "../temporal/freezes";
import { listHolds, readHolds } from "../temporal/holds";
import { readHolder } from "../temporal/lock-holder";
import { startWarning, temporalReadiness } from "../temporal/readiness";
import { readWaits } from "../temporal/upgrade-waits";
import { connectProblem, connectWorker, createWorker } from "../temporal/worker";
import { createSdkLog, type ForeignLog } from "./foreign-log";
import { loadTracing } from "./load-tracing";
import { loadInventory, readBundleNow } from "./operator-files";
import { loadPayloadKeys, payloadConversionOf } from "./payload-keys";
import type { StartRole } from "./run-role";

/** How long a worker waits for Temporal when it starts, in milliseconds. */
const connectTimeout = 30_000;

/** The Temporal Worker: runs the Workflows and the Activities of every upgrade. */
export const startWorkerRole: StartRole = async (config, log) => {
  const sdkLog = createSdkLog(log);
  installRuntime(config.metrics.worker, sdkLog);
  const tracing = await loadTracing(config, "worker");
  const metrics = createWorkerMetrics(Runtime.instance().metricMeter);
  const { componentManagers, serverSettings, checks, patches, calendar, notificationReceivers } = loadInventory(config);
  const { temporal } = config;
  const doesNotAnswer = (error: unknown) =>
    `Temporal at ${temporal.address} does not answer (${connectProblem(error)}): start it or set TEMPORAL_ADDRESS`;
  const keys = loadPayloadKeys(config.payloadKeysFile);
  const conversion = payloadConversionOf(keys);
  const connection = await connectWorker(temporal, connectTimeout, (error) => {
    log.warn(`${doesNotAnswer(error)}; trying for ${connectTimeout / 1000} s`);
  }).catch((error: unknown) => {
    throw new StartupError(`${doesNotAnswer(error)}.`);
  });
  const client = lazyClient(temporal, conversion);
  const warning = await startWarning(client, temporal);
  if (warning !== undefined) log.warn(warning);
  const worker = await createWorker({
    connection,
    namespace: temporal.namespace,
    activities: createActivities({
      componentManager: (id) => componentManagers.get(id),
      // Depots are the same whichever component manager the hosts belong to.
      patchFor: (_componentManager, query) => patches.find(query),
      readBundle: (bundleId) => readBundleNow(config, bundleId),
      findCheck: (id) => checks.get(id)?.definition,
      managementServer: (resourceId) => serverSettings.get(resourceId),
      notifications: {
        receiver: (id) => notificationReceivers.get(id),
        readUpgradeEnd: (upgradeId) => readUpgradeEnd(client, upgradeId),
        readWaits: (upgradeId) => readWaits(client, upgradeId),
      },
      readFreezes: (domains) => readFreezes(client, domains),
      readHolds: (targets) => readHolds(client, targets),
      listHolds: () => listHolds(client),
      openingOf: (places) => calendar.at(places, Date.now()),
      readLockHolder: (workflowId) => readHolder(client, workflowId),
      limits: { ...config.timeLimits, clock: monotonicClock },
      observe: observeManagerCalls({ log, measure: metrics.measureManagerCall, tracer: tracing?.tracer }),
    }),
    cachedWorkflows: config.cachedWorkflows,
    workflowBundle: workflowBundle(keys.length > 0),
    activityInterceptors: [...(tracing ? [tracing.activityInterceptors] : []), observeActivities(log, metrics)],
    payloadConverter: join(projectRoot, "dist/workflows/payload-converter.js"),
    conversion,
  }).catch((error: unknown) => {
    throw warning === undefined ? error : new StartupError(`${warning}.`);
  });
  const stopHealth = await serveHealth(() => TE.map(() => [])(temporalReadiness(client, temporal)), {
    address: config.health.worker,
    variable: "WORKER_HEALTH_ADDRESS",
  });
  const run = worker.run();
  return {
    failed: run.then(
      () => new Promise<string>(() => undefined),
      (error: unknown) => `The worker ended: ${oneLine(error)}`,
    ),
    stop: async () => {
      stopHealth();
      if (worker.getState() === "RUNNING") worker.shutdown();
      await run;
      await Promise.allSettled([connection.close(), client.connection.close(), tracing?.stop()]);
      sdkLog.end();
    },
  };
};

/** The SDK with its engine, which log into ours, and, where there is an address for it, its exporter of metrics. */
function installRuntime(metricsAddress: string | undefined, sdkLog: ForeignLog<LogEntry>): void {
  try {
    const runtime = Runtime.install({
      logger: new DefaultLogger("INFO", (entry) => sdkLog.write(entry)),
      // The role decides when to stop, and in what order.
      shutdownSignals: [],
      telemetryOptions: {
        // The engine would write to stdout itself, in a form of its own.
        logging: { forward: {}, filter: { core: "WARN", other: "ERROR" } },
        ...(metricsAddress !== undefined && exporterAt(metricsAddress)),
      },
    });
    // The SDK keeps entries for a tenth of a second, to bring those of all its parts into their order.
    process.on("exit", () => runtime.flushLogs());
  } catch (error) {
    if (metricsAddress === undefined) throw error;
    throw new StartupError(
      `WORKER_METRICS_ADDRESS=${metricsAddress}: metrics cannot be served there (${connectProblem(error)}). Choose another port.`,
    );
  }
}

/** The bundle of the Workflows; scripts/bundle-workflows.mjs makes them. */
function workflowBundle(encrypted: boolean): string {
  return join(projectRoot, "dist", `workflow-bundle${encrypted ? "-encrypted" : ""}.js`);
}
