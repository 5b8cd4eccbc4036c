import { randomUUID } from "node:crypto";
import type { UpgradePlan } from "../../src/domain/upgrade-plan";
import { startWorkflow } from "../../src/temporal/start-workflow";
import type { Experiment } from "../figure";
import { specOf } from "../fleet";
import { inFlight, percentile } from "../measure";
import type { Stage } from "../stage";

const atOnce = 32;

/** POSTs of drafts against starts of the same Workflow with the same input, memo and search attributes. */
export const starts: Experiment = {
  name: "starts",
  needs: () => ({ clusters: 1, hosts: 1 }),
  run: async (stage, quick) => {
    const [rounds, each] = quick ? [3, 100] : [6, 300];
    const plan = await planOf(stage);
    const posts = { each: [] as number[], all: 0 };
    const bare = { each: [] as number[], all: 0 };
    for (let round = 0; round < rounds; round += 1) {
      for (const [into, start] of [
        [posts, () => stage.service.startUpgrade(specOf(0, 1, true))],
        [bare, () => startWorkflow(stage.temporal, { ...plan, id: randomUUID() }, { requestedBy: "bench" })],
      ] as const) {
        const round = await inFlight(each, atOnce, start);
        into.each.push(...round.each);
        into.all += round.all;
      }
    }
    const throughput = ({ each, all }: typeof posts) => (each.length / all) * 1000;
    return [
      {
        figure: "POST throughput, 32 in flight",
        value: throughput(posts),
        reference: throughput(bare),
        unit: "starts/s",
        target: { atLeast: 0.85 },
      },
      {
        figure: "POST p99",
        value: percentile(posts.each, 0.99),
        reference: percentile(bare.each, 0.99),
        unit: "ms",
        target: { atMost: 1.25 },
      },
    ];
  },
};

/** What the service starts an upgrade with. */
async function planOf({ service, temporal }: Stage): Promise<UpgradePlan> {
  const { id } = await service.startUpgrade(specOf(0, 1, true));
  const { history } = await temporal.workflowService.getWorkflowExecutionHistory({
    namespace: temporal.options.namespace,
    execution: { workflowId: id },
    maximumPageSize: 1,
  });
  const payload = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  return JSON.parse(Buffer.from(payload?.data ?? []).toString()) as UpgradePlan;
}
