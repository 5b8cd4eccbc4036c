import { fork } from "node:child_process";
import { join } from "node:path";
import type { Fixture } from "../fixture";
import type { ReferenceWorkerSettings } from "./reference-worker-process";

/** The Task Queue of the bare Workflows that the service's own are compared with. */
export const referenceQueue = "bench-reference";

/** Runs the worker of the bare Workflows while `work`, which gets its process id, measures them. */
export async function withReferenceWorker<A>(
  { service, temporal, simulator }: Fixture,
  work: (pid: number) => Promise<A>,
): Promise<A> {
  const { address, tls } = service.temporalPlace;
  const settings: ReferenceWorkerSettings = {
    address,
    namespace: temporal.options.namespace,
    ...(tls && { tls }),
    taskQueue: referenceQueue,
    managerUrl: simulator.url,
  };
  const program = join(__dirname, "reference-worker-process.ts");
  const child = fork(program, { execArgv: ["--import", "tsx"], serialization: "advanced" });
  const ended = new Promise<void>((resume) => child.once("exit", () => resume()));
  child.send(settings);
  try {
    await new Promise<void>((resume, reject) => {
      child.once("message", () => resume());
      void ended.then(() => reject(new Error("The reference worker ended at its start")));
    });
    return await work(child.pid ?? NaN);
  } finally {
    if (child.connected) child.disconnect();
    await ended;
  }
}
