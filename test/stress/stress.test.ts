import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import pLimit from "p-limit";
import { commandsDropped } from "../../workflows/end-guard";
import { unsoundHistories } from "../support/sound-histories";
import { startDevServer } from "../support/workflow-environment";
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
/**
 * Most upgrades take seconds. One whose workers are killed again and again may take longer; it is then put aside until all
 * workers run undisturbed.
 */
const disturbed = 3 * minute;
/** Then Temporal gives each of its Workflow Tasks to a worker within a minute or so: what takes this long hangs. */
const undisturbed = 10 * minute;

/**
 * Workflows on workers that replay all the time, are killed and stand still: none hangs, and each history replays
 * (docs/decisions/0036). Hosts take no time, so that ends, timers, Signals and local Activities meet often.
 */
describe(`${upgrades} upgrades, ${atOnce} at once, with the seed ${seed}`, function () {
  this.timeout(disturbed + undisturbed + minute + upgrades * 5_000);
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
      workers.beginFaults(draws(seed, `faults ${cached}`));
      const limited = pLimit(atOnce);
      const number = Math.ceil(upgrades / cacheSizes.length);
      const aside: StressedUpgrade[] = [];
      let over = 0;
      const runs = Array.from({ length: number }, (_, n) =>
        limited(async () => {
          const upgrade = await startStressedUpgrade(env.client, draws(seed, `upgrade ${cached}/${n}`));
          if (!(await upgrade.ends(disturbed))) aside.push(upgrade);
          if (++over % 50 === 0) process.stdout.write(`${over} of ${number} upgrades, ${aside.length} put aside\n`);
        }),
      );
      const ends = await Promise.allSettled(runs);
      await workers.endFaults();
      const problems = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []));
      const hanging = async (upgrade: StressedUpgrade) =>
        (await upgrade.ends(undisturbed)) ? [] : [`Upgrade ${upgrade.id} hangs`];
      problems.push(...(await Promise.all(aside.map(hanging))).flat());
      problems.push(...workers.lost);
      const { count } = await env.client.workflow.count('WorkflowType = "upgradeWorkflow"');
      expect(count, "upgrades whose histories are looked at").to.equal(runs.length);
      expect([...problems, ...(await unsoundHistories(env.client, { tasksFail: true }))]).to.deep.equal([]);
      expect(workers.printed).to.not.include(commandsDropped);
    });
});
