import { condition, defineSignal, executeChild, proxyActivities, setHandler } from "@temporalio/workflow";
import type { ReferenceActivities } from "./reference-worker";

const { doNothing, now } = proxyActivities<ReferenceActivities>({ startToCloseTimeout: "1 minute" });

/** As many children at once as an upgrade has clusters. */
export async function parent(clusters: number, hosts: number): Promise<void> {
  await Promise.all(Array.from({ length: clusters }, () => executeChild(child, { args: [hosts] })));
}

/** One Activity after another, as hosts of a cluster are. */
export async function child(hosts: number): Promise<void> {
  for (let host = 0; host < hosts; host += 1) await doNothing();
}

/** Waits for a Signal, then runs one Activity; gives the epoch milliseconds at which that has begun. */
export async function signalled(): Promise<number> {
  await untilToldToGo();
  return now();
}

/** The same where the Activity is a child's, as that of a cluster is whose Workflow is its lock. */
export async function signalledParent(): Promise<number> {
  await untilToldToGo();
  return executeChild(locked);
}

/** The child: one Activity, and its end. */
export function locked(): Promise<number> {
  return now();
}

async function untilToldToGo(): Promise<void> {
  let arrived = false;
  setHandler(defineSignal("go"), () => {
    arrived = true;
  });
  await condition(() => arrived);
}

/** Ends at once: what Visibility keeps of an upgrade, without the upgrade. */
export function upgradeWorkflow(): Promise<void> {
  return Promise.resolve();
}
