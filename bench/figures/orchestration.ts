import { randomUUID } from "node:crypto";
import type { Measured, StagedExperiment } from "../figure";
import { specOf } from "../fleet";
import { inTurns, median, timed } from "../measure";
import { referenceQueue, withReferenceWorker } from "../reference/reference-worker";
import type { Stage } from "../stage";

/**
 * An upgrade of hosts that take no time, against bare Workflows of the same shape with one no-op Activity per host; of one
 * cluster, of a few, and of all.
 */
export const orchestration: StagedExperiment = {
  name: "orchestration",
  needs: ({ quick }) => (quick ? { clusters: 4, hosts: 16 } : { clusters: 16, hosts: 64 }),
  run: (stage, { quick }) =>
    withReferenceWorker(stage, async () => {
      const { clusters, hosts } = stage.fleet;
      // Whoever comes first loads code and opens connections.
      await upgrade(stage, 1);
      await reference(stage, 1, 1);
      const measured: Measured[] = [];
      for (const size of quick ? [clusters] : [1, clusters / 4, clusters]) {
        const last = size === clusters;
        measured.push(...(await measure(stage, { size, hosts, rounds: quick ? 3 : last ? 3 : 5, last })));
      }
      return measured;
    }),
};

async function measure(
  stage: Stage,
  { size, hosts, rounds, last }: { size: number; hosts: number; rounds: number; last: boolean },
): Promise<Measured[]> {
  const lengths: number[] = [];
  const { ours, reference: bare } = await inTurns(
    rounds,
    async () => {
      await stage.service.resetSimulator();
      const { milliseconds, result } = await timed(() => upgrade(stage, size));
      lengths.push(await historyLength(stage, result));
      return milliseconds;
    },
    async () => (await timed(() => reference(stage, size, hosts))).milliseconds,
  );
  const total = size * hosts;
  return [
    {
      id: last ? "orchestration" : `orchestration-${total}`,
      figure: `Orchestrating ${total} hosts of zero duration (${size} x ${hosts})`,
      value: median(ours),
      reference: median(bare),
      unit: "ms",
      judged: "ratio",
      target: { atMost: 1.3 },
      ...(last && { steady: true }),
    },
    ...(last
      ? [
          {
            id: "events-per-host",
            figure: `History events per host (${size} x ${hosts})`,
            value: median(lengths) / total,
            unit: "events",
            judged: "value" as const,
            target: { atMost: 12 },
            steady: true,
          },
        ]
      : []),
  ];
}

async function upgrade({ service, temporal }: Stage, clusters: number): Promise<string> {
  const { id } = await service.startUpgrade(specOf(0, clusters));
  await temporal.workflow.getHandle(id).result();
  return id;
}

function reference({ temporal }: Stage, clusters: number, hosts: number): Promise<unknown> {
  return temporal.workflow.execute("parent", {
    workflowId: randomUUID(),
    taskQueue: referenceQueue,
    args: [clusters, hosts],
  });
}

/** Events of an upgrade and of all its resources. */
async function historyLength({ temporal }: Stage, id: string): Promise<number> {
  let sum = 0;
  for await (const { historyLength } of temporal.workflow.list({ query: `RootWorkflowId = '${id}'` })) {
    sum += historyLength;
  }
  return sum;
}
