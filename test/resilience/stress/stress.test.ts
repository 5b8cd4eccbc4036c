import type { Client } from "@temporalio/client";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import pLimit from "p-limit";
import { commandsDropped } from "../../../workflows/end-guard";
import { unsoundHistories } from "../../support/sound-histories";
import { startDevServer } from "../../support/workflow-environment";
import { draws } from "../walk/deck";
import { startStressedUpgrade, type StressedUpgrade } from "./stressed-upgrade";
import { WorkerProcesses } from "./worker-processes";

const seed = Number(process.env["STRESS_SEED"] ?? 1);
/** Upgrades in all, shared among the sizes of the workers' caches. */
const upgrades = Number(process.env["STRESS_UPGRADES"] ?? 60);
const atOnce = 20;
/** Workflows that a worker keeps in memory: with fewer than there are it replays. */
const cacheSizes = [0, 1, 5];
const minute = 60_000;
/** So many are started before the workers run undisturbed for a while, so that those that are slow do not pile up. */
const roundSize = 100;
/** Most upgrades take seconds. One whose workers are killed again and again may take longer: then it is put aside. */
const disturbed = 3 * minute;
/** An upgrade hangs if none of those put aside ends within this time on undisturbed workers. */
const undisturbed = 10 * minute;

/**
 * Workflows on workers that replay all the time, are killed and stand still: none hangs, and each history replays
 * (docs/decisions/0036). Hosts take no time, so that ends, timers and Signals meet often.
 */
describe(`${upgrades} upgrades, ${atOnce} at once, with the seed ${seed}`, function () {
  this.timeout(disturbed + 2 * undisturbed + minute + upgrades * 15_000);
  let env: TestWorkflowEnvironment;
  let workers: WorkerProcesses | undefined;

  beforeEach(async () => {
    env = await startDevServer();
  });
  afterEach(async () => {
    try {
      await workers?.stop();
    } finally {
      await env.teardown();
    }
  });

  for (const cached of cacheSizes)
    it(`all end and leave sound histories, where workers keep ${cached} Workflows in memory`, async () => {
      workers = new WorkerProcesses(env.address, cached);
      await workers.start(2);
      const random = draws(seed, `faults ${cached}`);
      const number = Math.ceil(upgrades / cacheSizes.length);
      const problems: string[] = [];
      for (let first = 0; first < number; first += roundSize) {
        const some = Array.from({ length: Math.min(roundSize, number - first) }, (_, n) => `${cached}/${first + n}`);
        workers.beginFaults(random);
        const { failed, slow } = await startAll(env.client, some);
        await workers.endFaults();
        problems.push(...failed, ...(await hangingAmong(slow)).map(({ id }) => `Upgrade ${id} hangs`));
        process.stdout.write(`${first + some.length} of ${number} upgrades, ${slow.length} of them put aside\n`);
      }
      problems.push(...workers.lost);
      const { count } = await env.client.workflow.count('WorkflowType = "upgradeWorkflow"');
      expect(count, "upgrades whose histories are looked at").to.equal(number);
      expect([...problems, ...(await unsoundHistories(env.client, { tasksFail: true }))]).to.deep.equal([]);
      expect(workers.faults, "faults").to.be.greaterThan(0);
      expect(workers.printed).to.not.include(commandsDropped);
    });
});

/** Starts upgrades, some at once; gives those that have not ended while the workers are disturbed. */
async function startAll(client: Client, names: readonly string[]) {
  const limited = pLimit(atOnce);
  const slow: StressedUpgrade[] = [];
  const run = async (name: string) => {
    const upgrade = await startStressedUpgrade(client, draws(seed, `upgrade ${name}`));
    if (!(await upgrade.ends(disturbed))) slow.push(upgrade);
  };
  const ends = await Promise.allSettled(names.map((name) => limited(run, name)));
  return { slow, failed: ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : [])) };
}

/** Those of which none has ended for so long. */
async function hangingAmong(slow: readonly StressedUpgrade[]): Promise<readonly StressedUpgrade[]> {
  let open = slow;
  for (;;) {
    const ended = await Promise.all(open.map((upgrade) => upgrade.ends(undisturbed)));
    const still = open.filter((_, place) => !ended[place]);
    if (still.length === open.length || still.length === 0) return still;
    open = still;
  }
}
