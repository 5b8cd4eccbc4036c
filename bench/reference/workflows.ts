import { executeChild, proxyActivities } from "@temporalio/workflow";

const { doNothing } = proxyActivities<{ doNothing: () => Promise<void> }>({ startToCloseTimeout: "1 minute" });

/** As many children at once as an upgrade has clusters. */
export async function parent(clusters: number, hosts: number): Promise<void> {
  await Promise.all(Array.from({ length: clusters }, () => executeChild(child, { args: [hosts] })));
}

/** One Activity after another, as hosts of a cluster are. */
export async function child(hosts: number): Promise<void> {
  for (let host = 0; host < hosts; host += 1) await doNothing();
}
