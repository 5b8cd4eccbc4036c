import { until } from "../../test/support/service/deployment";
import type { FixtureBenchmark } from "../benchmark";
import { upgradeRequest } from "../fleet";
import { runConcurrently } from "../measure";
import { residentMegabytes } from "../process-usage";
import { terminateUpgrades } from "../upgrades";
import type { Fixture } from "../fixture";

/** Drafts are spread over so many clusters: prechecks of one cluster wait for each other. */
const clusters = 64;

/** So few at a time that none is refused. */
const atOnce = 8;

/** V8 collects what is left within so many milliseconds of having nothing to do. */
const rest = 30_000;

/** What the API and the worker hold of drafts that wait for their commit. */
export const drafts: FixtureBenchmark = {
  name: "drafts",
  slow: true,
  alone: true,
  fleet: () => ({ clusters, hosts: 2 }),
  measure: async (fixture, { quick }) => {
    const count = quick ? 500 : 10_000;
    await terminateUpgrades(fixture);
    // What the first of them load is not what each of them costs.
    await start(fixture, 50);
    const before = await memoryAtRest(fixture);
    const most = await mostMemoryDuring(fixture, () => start(fixture, count));
    const after = await memoryAtRest(fixture);
    return [
      {
        id: "drafts-most-memory",
        title: `Most memory of API and worker while ${count} drafts are made`,
        value: most,
        unit: "MB",
        judged: "value",
      },
      {
        id: "drafts-memory",
        title: `Memory of API and worker with ${count} drafts more`,
        value: after,
        reference: before,
        unit: "MB",
        judged: "difference",
        target: { atMost: 300 },
      },
    ];
  },
};

/** The most megabytes that there were while something was done, by a look every second. */
async function mostMemoryDuring(fixture: Fixture, work: () => Promise<void>): Promise<number> {
  const look = () => residentMegabytes(fixture.pids("api", "worker"));
  let most = look();
  const looks = setInterval(() => (most = Math.max(most, look())), 1000);
  await work().finally(() => clearInterval(looks));
  return most;
}

/** Megabytes when they have not become less for a while: what V8 has not collected yet comes and goes by a hundred. */
async function memoryAtRest(fixture: Fixture): Promise<number> {
  let [least, since] = [Infinity, 0];
  await until(
    "memory is at rest",
    () => {
      const now = residentMegabytes(fixture.pids("api", "worker"));
      if (now < least - 1) [least, since] = [now, performance.now()];
      return performance.now() - since > rest;
    },
    300,
  );
  return residentMegabytes(fixture.pids("api", "worker"));
}

async function start(fixture: Fixture, count: number): Promise<void> {
  const { service, temporal } = fixture;
  const accepted = new Set<string>();
  await runConcurrently(count, atOnce, async (index) =>
    accepted.add((await service.startUpgrade(upgradeRequest(index % clusters, 1, true))).id),
  );
  await fixture.untilIdle();
  const [last = ""] = [...accepted].slice(-1);
  await service.taskWhen(last, "checked", (task) => task.subTasks?.[0]?.status === "SUCCESSFUL");
  await until("all drafts are listed", async () => {
    const { count: waiting } = await temporal.workflow.count("UpgradeStatus = 'DRAFT' AND ExecutionStatus = 'Running'");
    return waiting >= count;
  });
}
