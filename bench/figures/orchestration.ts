import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { bundleWorkflowCode, NativeConnection, Worker } from "@temporalio/worker";
import type { Experiment } from "../figure";
import { specOf } from "../fleet";
import { median, timed } from "../measure";
import type { Stage } from "../stage";

const taskQueue = "bench-reference";

/** An upgrade of hosts that take no time, against bare Workflows of the same shape with one no-op Activity per host. */
export const orchestration: Experiment = {
  name: "orchestration",
  needs: (quick) => ({ clusters: quick ? 4 : 16, hosts: quick ? 16 : 64 }),
  run: async (stage, quick) => {
    const { clusters, hosts } = stage.fleet;
    const rounds = quick ? 2 : 3;
    const [ours, bare]: [number[], number[]] = [[], []];
    const worker = await referenceWorker(stage);
    const running = worker.run();
    let events = NaN;
    try {
      for (let round = 0; round < rounds; round += 1) {
        await stage.service.resetSimulator();
        const { milliseconds, result } = await timed(() => upgrade(stage));
        ours.push(milliseconds);
        events = (await historyLength(stage, result)) / (clusters * hosts);
        bare.push((await timed(() => reference(stage, clusters, hosts))).milliseconds);
      }
    } finally {
      worker.shutdown();
      await running;
    }
    return [
      {
        figure: `orchestrating ${clusters * hosts} hosts (${clusters} x ${hosts})`,
        value: median(ours),
        reference: median(bare),
        unit: "ms",
        target: { atMost: 1.3 },
      },
      { figure: "history events per host", value: events, unit: "events", target: { atMost: 12 } },
    ];
  },
};

async function upgrade({ service, temporal, fleet }: Stage): Promise<string> {
  const { id } = await service.startUpgrade(specOf(0, fleet.clusters));
  await temporal.workflow.getHandle(id).result();
  return id;
}

function reference({ temporal }: Stage, clusters: number, hosts: number): Promise<unknown> {
  return temporal.workflow.execute("parent", { workflowId: randomUUID(), taskQueue, args: [clusters, hosts] });
}

/** Events of an upgrade and of all its resources. */
async function historyLength({ temporal }: Stage, id: string): Promise<number> {
  let sum = 0;
  for await (const { historyLength } of temporal.workflow.list({ query: `RootWorkflowId = '${id}'` })) sum += historyLength;
  return sum;
}

async function referenceWorker({ service, temporal }: Stage): Promise<Worker> {
  const { address, tls } = service.temporalPlace;
  const { namespace } = temporal.options;
  return Worker.create({
    connection: await NativeConnection.connect({ address, ...(tls && { tls }) }),
    namespace,
    taskQueue,
    workflowBundle: await bundleWorkflowCode({ workflowsPath: resolve(__dirname, "../reference/workflows.ts") }),
    activities: { doNothing: () => Promise.resolve() },
  });
}
