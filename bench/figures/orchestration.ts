import { randomUUID } from "node:crypto";
import type { StagedExperiment } from "../experiment";
import type { Measured } from "../figure";
import { finishedUpgrade } from "../finished-upgrade";
import { inTurns, median, timed } from "../measure";
import { processorSeconds } from "../process-usage";
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
      await finishedUpgrade(stage, 1);
      await reference(stage, 1, 1);
      const measured: Measured[] = [];
      for (const size of quick ? [clusters] : [1, clusters / 4, clusters]) {
        const last = size === clusters;
        measured.push(...(await measure(stage, { size, hosts, rounds: 3, last })));
      }
      return measured;
    }),
};

async function measure(
  stage: Stage,
  { size, hosts, rounds, last }: { size: number; hosts: number; rounds: number; last: boolean },
): Promise<Measured[]> {
  const total = size * hosts;
  const histories: History[] = [];
  const used = { service: [] as number[], temporal: [] as number[], calls: [] as number[] };
  const { ours, reference: bare } = await inTurns(
    rounds,
    async () => {
      await stage.simulator.reset();
      const before = {
        service: processorSeconds(serviceOf(stage)),
        temporal: processorSeconds(temporalOf(stage)),
        calls: await stage.managerRequests(),
      };
      const { milliseconds, result } = await timed(() => finishedUpgrade(stage, size));
      used.service.push(processorSeconds(serviceOf(stage)) - before.service);
      used.temporal.push(processorSeconds(temporalOf(stage)) - before.temporal);
      used.calls.push((await stage.managerRequests()) - before.calls);
      histories.push(await historyOf(stage, result));
      return milliseconds;
    },
    async () => (await timed(() => reference(stage, size, hosts))).milliseconds,
  );
  const wall: Measured = {
    id: last ? "orchestration" : `orchestration-${total}`,
    figure: `Orchestrating ${total} hosts of zero duration (${size} x ${hosts})`,
    value: median(ours),
    reference: median(bare),
    unit: "ms",
    judged: "ratio",
    target: { atMost: 1.3 },
    plotted: { hosts: total },
    ...(last && { steady: true }),
  };
  if (!last) return [wall];
  const perHost = (numbers: readonly number[]) => median(numbers) / total;
  const told = (id: string, figure: string, value: number, unit: string): Measured => ({
    id: `${id}-per-host`,
    figure: `${figure} per host (${size} x ${hosts})`,
    value,
    unit,
    judged: "value",
  });
  const events = perHost(histories.map(({ events }) => events));
  const bytes = perHost(histories.map(({ bytes }) => bytes));
  return [
    wall,
    { ...told("events", "History events", events, "events"), target: { atMost: 12 }, steady: true },
    told("history", "History", bytes / 1024, "KB"),
    told("manager-calls", "Calls to the component manager", perHost(used.calls), "calls"),
    told("service-processor", "Processor of worker and API", perHost(used.service) * 1000, "ms"),
    told("temporal-processor", "Processor of Temporal and its database", perHost(used.temporal) * 1000, "ms"),
  ];
}

const serviceOf = (stage: Stage) => stage.pids("worker", "api");
const temporalOf = (stage: Stage) => stage.pids("temporal", "temporalServer", "postgresql");

function reference({ temporal }: Stage, clusters: number, hosts: number): Promise<unknown> {
  return temporal.workflow.execute("parent", {
    workflowId: randomUUID(),
    taskQueue: referenceQueue,
    args: [clusters, hosts],
  });
}

interface History {
  readonly events: number;
  readonly bytes: number;
}

/** The histories of an upgrade and of all its resources together. */
async function historyOf({ temporal }: Stage, id: string): Promise<History> {
  let [events, bytes] = [0, 0];
  for await (const { historyLength, historySize } of temporal.workflow.list({ query: `RootWorkflowId = '${id}'` })) {
    events += historyLength;
    bytes += historySize ?? 0;
  }
  return { events, bytes };
}
