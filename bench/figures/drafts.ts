import { until } from "../../test/system/deployment";
import type { StagedExperiment } from "../experiment";
import { specOf } from "../fleet";
import { inFlight } from "../measure";
import { residentMegabytes } from "../process-usage";
import { endUpgrades } from "../running-upgrades";
import type { Stage } from "../stage";

/** As many clusters take turns: prechecks of one cluster wait for each other. */
const clusters = 64;

/** Few enough at a time that none is refused (docs/decisions/0023). */
const atOnce = 8;

/** V8 collects what is left within so many milliseconds of having nothing to do. */
const rest = 30_000;

/** What the API and the worker hold of drafts that wait for their commit. */
export const drafts: StagedExperiment = {
  name: "drafts",
  slow: true,
  alone: true,
  needs: () => ({ clusters, hosts: 2 }),
  run: async (stage, { quick }) => {
    const count = quick ? 500 : 10_000;
    await endUpgrades(stage);
    // What the first of them load is not what each of them costs.
    await start(stage, 50);
    const before = await memoryAtRest(stage);
    const most = await mostMemoryDuring(stage, () => start(stage, count));
    const after = await memoryAtRest(stage);
    return [
      {
        id: "drafts-most-memory",
        figure: `Most memory of API and worker while ${count} drafts are made`,
        value: most,
        unit: "MB",
        judged: "value",
      },
      {
        id: "drafts-memory",
        figure: `Memory of API and worker with ${count} drafts more`,
        value: after,
        reference: before,
        unit: "MB",
        judged: "difference",
        target: { atMost: 150 },
      },
    ];
  },
};

/** The most megabytes that there were while something was done, by a look every second. */
async function mostMemoryDuring(stage: Stage, work: () => Promise<void>): Promise<number> {
  const look = () => residentMegabytes(stage.pids("api", "worker"));
  let most = look();
  const looks = setInterval(() => (most = Math.max(most, look())), 1000);
  await work().finally(() => clearInterval(looks));
  return most;
}

/** Megabytes when they have not become less for a while: what V8 has not collected yet comes and goes by a hundred. */
async function memoryAtRest(stage: Stage): Promise<number> {
  let [least, since] = [Infinity, 0];
  await until(
    "memory is at rest",
    () => {
      const now = residentMegabytes(stage.pids("api", "worker"));
      if (now < least - 1) [least, since] = [now, performance.now()];
      return performance.now() - since > rest;
    },
    300,
  );
  return residentMegabytes(stage.pids("api", "worker"));
}

async function start(stage: Stage, count: number): Promise<void> {
  const { service, temporal } = stage;
  const accepted = new Set<string>();
  await inFlight(count, atOnce, async (index) =>
    accepted.add((await service.startUpgrade(specOf(index % clusters, 1, true))).id),
  );
  await stage.untilIdle();
  const [last = ""] = [...accepted].slice(-1);
  await service.taskWhen(last, "checked", (task) => task.subTasks?.[0]?.status === "SUCCESSFUL");
  await until("all drafts are listed", async () => {
    const { count: waiting } = await temporal.workflow.count("UpgradeStatus = 'DRAFT' AND ExecutionStatus = 'Running'");
    return waiting >= count;
  });
}
