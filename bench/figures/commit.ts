import { randomUUID } from "node:crypto";
import { until } from "../../test/system/deployment";
import type { StagedExperiment } from "../experiment";
import { resourceId, specOf } from "../fleet";
import { inTurns, median } from "../measure";
import { referenceQueue, withReferenceWorker } from "../reference/reference-worker";
import { endUpgrades } from "../running-upgrades";
import type { Stage } from "../stage";

/** From the commit of a draft to the first call that remediates a host, against a Signal that leads to one Activity. */
export const commit: StagedExperiment = {
  name: "commit",
  needs: () => ({ clusters: 20, hosts: 64 }),
  run: async (stage, { quick }) => {
    await endUpgrades(stage);
    // So short that no other task of the component manager is waited for: that would be its time, not ours.
    await stage.simulator.makeHostsSlow(2);
    const least: number[] = [];
    const { ours, reference } = await withReferenceWorker(stage, () =>
      inTurns(
        quick ? 8 : 16,
        async (round) => {
          least.push(await untilActivity(stage, "signalledParent"));
          return untilRemediation(stage, round);
        },
        () => untilActivity(stage, "signalled"),
      ),
    );
    await endUpgrades(stage);
    return [
      {
        id: "commit-to-remediation",
        figure: "Commit Signal to first remediation call, p50",
        value: median(ours),
        reference: median(reference),
        unit: "ms",
        judged: "ratio",
        target: { atMost: 2 },
        steady: true,
      },
      {
        id: "commit-bare-child",
        figure: "The same of a bare Workflow whose child runs the Activity, p50",
        value: median(least),
        reference: median(reference),
        unit: "ms",
        judged: "ratio",
      },
    ];
  },
};

async function untilRemediation(stage: Stage, index: number): Promise<number> {
  const { service, temporal } = stage;
  const { id } = await service.startUpgrade(specOf(index, 1, true));
  await service.taskWhen(id, "checked", (task) => task.subTasks?.[0]?.status === "SUCCESSFUL");
  await stage.untilIdle();
  const began = Date.now();
  await temporal.workflow.getHandle(id).signal("commit");
  let first: number | undefined;
  const cluster = `domain-c${1001 + index}`;
  await until(`${resourceId(index)} is being remediated`, async () => {
    const requested = (await stage.simulator.ledger("APPLY_REQUESTED")).find((entry) => entry.cluster === cluster);
    if (requested) first = Date.parse(requested.at);
    return first !== undefined;
  });
  return (first ?? NaN) - began;
}

async function untilActivity(stage: Stage, workflow: "signalled" | "signalledParent"): Promise<number> {
  const handle = await stage.temporal.workflow.start<() => Promise<number>>(workflow, {
    workflowId: randomUUID(),
    taskQueue: referenceQueue,
  });
  await stage.untilIdle();
  const began = Date.now();
  await handle.signal("go");
  return (await handle.result()) - began;
}
