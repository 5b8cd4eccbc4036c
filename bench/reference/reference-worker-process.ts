import { resolve } from "node:path";
import type { TLSConfig } from "@temporalio/client";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { createReferenceActivities } from "./activities";

/** What the process is told by the one that forked it, before anything else. */
export interface ReferenceWorkerSettings {
  readonly address: string;
  readonly namespace: string;
  readonly tls?: TLSConfig;
  readonly taskQueue: string;
  readonly managerUrl: string;
}

/** The worker of the bare Workflows: a process of its own, so that its processor time can be measured like the service's. */
async function main(): Promise<void> {
  const { address, namespace, tls, taskQueue, managerUrl } = await new Promise<ReferenceWorkerSettings>((resume) =>
    process.once("message", (message) => resume(message as ReferenceWorkerSettings)),
  );
  // What the bundler and the worker log would bury the table.
  const logger = new DefaultLogger("WARN");
  Runtime.install({ logger, shutdownSignals: [] });
  const connection = await NativeConnection.connect({ address, ...(tls && { tls }) });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: await bundleWorkflowCode({ workflowsPath: resolve(__dirname, "workflows.ts"), logger }),
    activities: createReferenceActivities(managerUrl),
    // As many as the service's worker has.
    maxConcurrentActivityTaskExecutions: 2000,
    shutdownGraceTime: 0,
  });
  await worker.runUntil(async () => {
    const stopped = new Promise((resume) => process.once("disconnect", resume));
    process.send?.("ready");
    await stopped;
  });
  await connection.close();
  process.exit();
}

void main();
