import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pauseFor } from "node:timers/promises";
import { expect } from "chai";
import { catalogWithServers } from "../../support/catalog-with-servers";
import type { ProcessName } from "../../support/service/deployment";
import { ServiceUnderTest } from "../../support/service/service-under-test";
import { Onlookers } from "./onlookers";
import { Operator } from "./operator";
import { countUpgrades, expectConsistentEnd } from "./oracle";
import { seeded } from "./seeded";
import { stages, type Stage } from "./stages";

/** What is killed, all of it at the same moment. */
const victims: Readonly<Record<string, readonly ProcessName[]>> = {
  api: ["api"],
  worker: ["worker"],
  temporal: ["temporalServer"],
  postgresql: ["postgresql"],
  "api and worker": ["api", "worker"],
  all: ["api", "worker", "temporalServer", "postgresql"],
  simulator: ["simulator"],
};

/** CRASH_SEED: the first seed. CRASH_SEEDS: how many. CRASH_CELLS: `all`, or names with commas between. */
const { CRASH_SEED = "1", CRASH_SEEDS = "1", CRASH_CELLS } = process.env;

/** One of five cells, so that every victim and every stage is among them. */
const inEveryRun = (stage: number, victim: number) => (3 * stage + victim) % 5 === 0;

const cells = stages.flatMap((stage, i) =>
  Object.entries(victims).map(([victim, names], j) => {
    const name = `${victim} while ${stage.name}`;
    const asked =
      CRASH_CELLS === undefined ? inEveryRun(i, j) : CRASH_CELLS === "all" || CRASH_CELLS.split(",").includes(name);
    return { name, stage, names, asked };
  }),
);

describe("kill -9 of", function () {
  this.timeout(180_000);
  const folder = mkdtempSync(join(tmpdir(), "ums-crash-"));
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({
      CATALOG_FILE: catalogWithServers(folder),
      SIMULATOR_HOST_SECONDS: "0.8",
      POLL_MIN_MILLISECONDS: "50",
    });
  });
  after(async () => {
    await service.discard();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => service.resetSimulator());

  async function crash(stage: Stage, names: readonly ProcessName[], seed: number, name: string): Promise<void> {
    const random = seeded(seed, name);
    const operator = new Operator(service);
    const policy = await service.policy("domain-c34");
    const upgradesBefore = await countUpgrades(service);
    const reached = await stage.reach(operator, `${seed}-${name.replaceAll(" ", "-")}`);
    await pauseFor(Math.floor(random() * stage.within));
    await service.killAndAwaitSuccessor(...names);

    const id = await reached.goOn();
    const onlookers = new Onlookers(service.apiUrls, id);
    await service.taskWhen(id, `is ${reached.ends}`, ({ status }) => status === reached.ends, 120);
    const wentBack = await onlookers.end();
    expect(wentBack, `what went back, of what one API process told: ${wentBack.join("; ")}`).to.be.empty;
    await expectConsistentEnd(service, { id, task: reached.ends, starts: reached.starts, policy });
    expect((await countUpgrades(service)) - upgradesBefore, "upgrades that were started").to.equal(1);
  }

  for (let seed = Number(CRASH_SEED); seed < Number(CRASH_SEED) + Number(CRASH_SEEDS); seed++)
    for (const { name, stage, names, asked } of cells)
      if (asked)
        it(`${name} (seed ${seed})`, async () => {
          await crash(stage, names, seed, name).catch((error: unknown) => {
            const again = `CRASH_SEED=${seed} CRASH_CELLS='${name}' npm test -- resilience/crash`;
            throw new Error(`${error instanceof Error ? error.message : String(error)}\nAgain: ${again}`, {
              cause: error,
            });
          });
        });

  it("anything leaves histories that replay, all of them", async () => {
    expect(await service.unsoundHistories()).to.deep.equal([]);
  });
});
