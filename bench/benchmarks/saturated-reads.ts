import type { FixtureBenchmark } from "../benchmark";
import type { Fixture } from "../fixture";
import { upgradeRequest } from "../fleet";
import { getTask } from "../get-task";
import { median, percentile, timed } from "../measure";
import { terminateUpgrades, untilSucceeded } from "../upgrades";

/** Upgrades at the same time, and the clusters and hosts of each. */
const [upgrades, clusters, hosts] = [8, 10, 10];
/** Between two reads of one Task. */
const pauseMilliseconds = 500;

/** What readers of a round have seen. */
interface Reads {
  readonly milliseconds: number[];
  readonly errors: unknown[];
}

/** Tasks read while their upgrades keep the workers as busy as they can be: all hosts take no time. */
export const saturatedReads: FixtureBenchmark = {
  name: "saturated-reads",
  slow: true,
  fleet: () => ({ clusters: upgrades * clusters, hosts }),
  measure: async (fixture, { quick }) => {
    const reads: Reads = { milliseconds: [], errors: [] };
    // The first round opens connections and loads code.
    await runRound(fixture, { milliseconds: [], errors: [] });
    for (let round = 0; round < (quick ? 1 : 4); round += 1) await runRound(fixture, reads);
    await terminateUpgrades(fixture);
    const title = `GET Task, ${upgrades} upgrades of ${clusters} x ${hosts} hosts of 0 s at once`;
    return [
      {
        id: "saturated-reads-p99",
        title: `${title}, p99`,
        value: percentile(reads.milliseconds, 0.99),
        unit: "ms",
        judged: "value",
        target: { atMost: 500 },
      },
      {
        id: "saturated-reads-p50",
        title: "- p50",
        value: median(reads.milliseconds),
        unit: "ms",
        judged: "value",
      },
      {
        id: "saturated-reads-count",
        title: "- reads",
        value: reads.milliseconds.length,
        unit: "",
        judged: "value",
      },
      {
        id: "saturated-reads-errors",
        title: "- reads that failed",
        value: reads.errors.length,
        unit: "",
        judged: "value",
        target: { atMost: 0 },
      },
    ];
  },
};

async function runRound(fixture: Fixture, reads: Reads): Promise<void> {
  await fixture.simulator.reset();
  await fixture.untilIdle();
  const started = Array.from({ length: upgrades }, (_, index) =>
    fixture.service.startUpgrade(upgradeRequest(index * clusters, clusters)),
  );
  const ids = (await Promise.all(started)).map(({ id }) => id);
  await Promise.all(ids.map((id) => readUntilEnd(fixture, id, reads)));
}

/** Reads a Task again and again until its upgrade has succeeded. */
async function readUntilEnd(fixture: Fixture, id: string, { milliseconds, errors }: Reads): Promise<void> {
  const upgrade = { ended: false };
  const end = untilSucceeded(fixture, id).finally(() => (upgrade.ended = true));
  const readAll = async () => {
    while (!upgrade.ended) {
      await timed(() => getTask(fixture.service.apiUrl, id)).then(
        (read) => milliseconds.push(read.milliseconds),
        (error: unknown) => errors.push(error),
      );
      await new Promise((resume) => setTimeout(resume, pauseMilliseconds));
    }
  };
  await Promise.all([end, readAll()]);
}
