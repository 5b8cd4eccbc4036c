import { resolve } from "node:path";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import type { Stage } from "../stage";

/** The Task Queue of the bare Workflows that the service's own are compared with. */
export const referenceQueue = "bench-reference";

/** Activities of the bare Workflows. */
export interface ReferenceActivities {
  doNothing(): Promise<void>;
  /** Epoch milliseconds at which it has begun. */
  now(): Promise<number>;
}

const activities: ReferenceActivities = {
  doNothing: () => Promise.resolve(),
  now: () => Promise.resolve(Date.now()),
};

/** What the bundler and the worker say of themselves would drown the table; and a signal is to end the benchmark, not only them. */
const logger = new DefaultLogger("WARN");
Runtime.install({ logger, shutdownSignals: [] });

/** Runs the bare Workflows, with the same limits as the service's worker, while `work` measures them. */
export async function withReferenceWorker<A>({ service, temporal }: Stage, work: () => Promise<A>): Promise<A> {
  const { address, tls } = service.temporalPlace;
  const connection = await NativeConnection.connect({ address, ...(tls && { tls }) });
  const worker = await Worker.create({
    connection,
    namespace: temporal.options.namespace,
    taskQueue: referenceQueue,
    workflowBundle: await bundleWorkflowCode({ workflowsPath: resolve(__dirname, "workflows.ts"), logger }),
    activities,
    maxConcurrentActivityTaskExecutions: 2000,
    shutdownGraceTime: 0,
  });
  try {
    return await worker.runUntil(work);
  } finally {
    await connection.close();
  }
}
