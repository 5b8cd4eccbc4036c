import { createReadStream } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import {
  bundleWorkflowCode,
  DefaultLogger,
  type InjectedSinks,
  Runtime,
  Worker,
  type WorkflowBundle,
} from "@temporalio/worker";
import type { UpgradeActivities } from "../../activities/contract";
import { cachedCliPath } from "../../src/temporal/find-temporal-cli";
import { taskQueue } from "../../workflows/messages";
import { searchAttributes } from "../../workflows/search-attributes";
import type { LogWatch } from "./watched-logs";

const root = resolve(__dirname, "../..");
const workflowsPath = resolve(root, "workflows/index.ts");
const payloadConverterPath = resolve(__dirname, "../../workflows/payload-converter.ts");
const endGuard = resolve(root, "workflows/end-guard.ts");
const quickHeartbeats = resolve(__dirname, "quick-heartbeats.ts");
const cacheDir = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "upgrade-management-service");
const logger = new DefaultLogger("WARN");

let bundle: Promise<WorkflowBundle> | undefined;

/** The Workflows' bundle, made once per test run. */
export function workflowBundle(): Promise<WorkflowBundle> {
  bundle ??= bundleWith(quickHeartbeats);
  return bundle;
}

/** A bundle of the Workflows with further interceptors: the paths of their modules. */
export function bundleWith(...interceptorModules: readonly string[]): Promise<WorkflowBundle> {
  return bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath,
    workflowInterceptorModules: [endGuard, ...interceptorModules],
    logger,
  });
}

/** The same with {@link LogWatch}, and what a worker hands to it: `logged` gets what the SDK tells of the Workflow. */
export async function watchedLogs(
  logged: InjectedSinks<LogWatch>["logWatch"]["logged"]["fn"],
): Promise<Pick<WorkerBuild, "bundle" | "sinks">> {
  const bundle = await bundleWith(resolve(__dirname, "watched-logs.ts"));
  return { bundle, sinks: { logWatch: { logged: { fn: logged } } } };
}

/** The path of the Temporal CLI that tests use. */
export function temporalCli(): string {
  return process.env["TEMPORAL_CLI_PATH"] ?? cachedCliPath(cacheDir);
}

/** A Temporal server in which days pass in a moment while a test awaits a result. It knows no Visibility. */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment> {
  quiet();
  const path =
    process.env["TEMPORAL_TEST_SERVER"] ?? join(cacheDir, "temporal-test-server-1.40.0/bin/temporal-test-server");
  const env = await untilDeadline(path, () =>
    TestWorkflowEnvironment.createTimeSkipping({ server: { executable: { type: "existing-path", path } } }),
  );
  // Without them a Workflow that sets one never starts.
  await env.connection.operatorService.addSearchAttributes({
    namespace: "default",
    searchAttributes: {
      UpgradeStatus: keyword,
      TaskStatus: keyword,
      BundleId: keyword,
      BundleType: keyword,
      ResourceIds: keywordList,
      UpgradePhase: keyword,
      SearchTerms: keywordList,
      ChangeId: keyword,
      Labels: keywordList,
      CreatedAt: datetime,
      ClusterNames: text,
      TargetVersion: keyword,
      RequestedBy: keyword,
      StartsAt: datetime,
    },
  });
  return env;
}

const dynamicConfig = [
  "history.MaxBufferedQueryCount=100",
  // By default a shard reads its queues 20 times a second, and this server has one shard: a step would take 50 ms.
  ...["transfer", "timer", "visibility"].map((queue) => `history.${queue}ProcessorMaxPollRPS=1000`),
  // As in `npm start`: by default a Workflow waits for up to ten minutes after workers that were killed again and again.
  'history.workflowTaskRetryMaxInterval="1m"',
  // A worker that is stopped may take a last Workflow Task with it: no test waits the usual ten seconds for that.
  'history.defaultWorkflowTaskTimeout="3s"',
];

/** The types of the wire protocol: INDEXED_VALUE_TYPE_TEXT, KEYWORD, DATETIME and KEYWORD_LIST. */
const [text, keyword, datetime, keywordList] = [1, 2, 6, 7];

/**
 * The server that the service embeds, in memory: for what the time-skipping one does not have. `settings` are further
 * ones of its dynamic configuration, written `name=value`.
 */
export async function startDevServer(settings: readonly string[] = []): Promise<TestWorkflowEnvironment> {
  quiet();
  const path = temporalCli();
  return untilDeadline(path, () =>
    TestWorkflowEnvironment.createLocal({
      server: {
        executable: { type: "existing-path", path },
        searchAttributes,
        extraArgs: [...dynamicConfig, ...settings].flatMap((setting) => ["--dynamic-config-value", setting]),
        log: { format: "pretty", level: "error" },
      },
    }),
  );
}

/**
 * The SDK gives a server five seconds to answer. One that has yet to be read from a cold disk, or a machine that does
 * something else at that moment, may take longer: the file is read first, and there are three tries.
 */
async function untilDeadline(
  path: string,
  start: () => Promise<TestWorkflowEnvironment>,
): Promise<TestWorkflowEnvironment> {
  for await (const _chunk of createReadStream(path, { highWaterMark: 1 << 20 }));
  for (let tries = 1; ; tries += 1)
    try {
      return await start();
    } catch (error) {
      if (tries === 3) throw error;
      process.stderr.write(`${path} is started once more: ${String(error)}\n`);
    }
}

let installed = false;
/** Only errors of the SDK are logged, in the whole process: before the first server or worker. */
export function quiet(): void {
  if (!installed)
    Runtime.install({ logger: new DefaultLogger("ERROR"), telemetryOptions: { logging: { filter: "ERROR" } } });
  installed = true;
}

/** A worker while it runs. */
export interface RunningWorker {
  stop(): Promise<void>;
}

/** How a worker differs from one of this build. */
export interface WorkerBuild {
  /** The Workflows of another build. */
  readonly bundle?: WorkflowBundle;
  readonly sinks?: InjectedSinks<LogWatch>;
  /** It takes no Activities. */
  readonly workflowsOnly?: boolean;
  /** Nothing stays in memory: every Workflow Task replays its history and may go to any worker. */
  readonly forgetful?: boolean;
  /** Tells workers apart that run beside each other; one build runs once in a process. */
  readonly buildId?: string;
}

/** A worker of the real Workflows and the given Activities. */
export async function runWorker(
  env: TestWorkflowEnvironment,
  activities: UpgradeActivities,
  { bundle: other, sinks, workflowsOnly = false, forgetful = false, buildId }: WorkerBuild = {},
): Promise<RunningWorker> {
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowBundle: other ?? (await workflowBundle()),
    ...(sinks && { sinks }),
    ...(forgetful && { maxCachedWorkflows: 0 }),
    ...(buildId !== undefined && {
      workerDeploymentOptions: { version: { deploymentName: taskQueue, buildId }, useWorkerVersioning: false },
    }),
    ...(!workflowsOnly && { activities }),
    dataConverter: { payloadConverterPath },
    maxHeartbeatThrottleInterval: 50,
    defaultHeartbeatThrottleInterval: 50,
    shutdownGraceTime: 0,
  });
  const stopped = worker.run();
  return {
    async stop(): Promise<void> {
      worker.shutdown();
      await stopped;
    },
  };
}
