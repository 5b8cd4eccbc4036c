import { expect } from "chai";
import { MemoryReports } from "../../support/memory-reports";
import { ServiceUnderTest } from "../../support/service/service-under-test";
import { Adversary, allFaults, ofComponentManager } from "./adversary";
import { ApiClient } from "./api-client";
import { Disturbances } from "./disturbances";
import { expectWhole } from "./expect-whole";
import { heldAtRest, type Held } from "./processes";
import { Readers } from "./readers";
import { SimulatedFaults } from "./simulated-faults";
import { Transcript } from "./transcript";
import { commands, WalkingOperator } from "./walking-operator";
import { writeWalkPlatform } from "./walk-platform";

/** WALK_SEED fixes the commands and faults; WALK_SECONDS is how long they go on (900 for a night). */
const { WALK_SEED = "1", WALK_SECONDS = "90", DEPLOYMENT } = process.env;
const [seed, seconds] = [Number(WALK_SEED), Number(WALK_SECONDS)];

const [operators, clustersEach] = [3, 4];
/**
 * The parts of the walk: processes are killed; then all of them live on, and those that are new are warmed up; what they
 * hold before and after the last part is compared.
 */
const shares = { wild: 0.5, warmUp: 0.2, measured: 0.3 };

/** How far memory, used and resident, and open files may have grown in the last part. */
const bounds = { usedFactor: 1.1, usedMiB: 12, memoryFactor: 1.5, memoryMiB: 48, filesFactor: 1.1, files: 6 };

describe(`a random walk of operators (seed ${seed}, ${seconds} s)`, function () {
  this.timeout((seconds * 4 + 600) * 1000);
  const platform = writeWalkPlatform(operators, clustersEach);
  const clusters = platform.clusters.flat();
  const reports = new MemoryReports();
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ ...platform.variables, ...reports.variables });
  });
  after(async () => {
    await service.discard();
    platform.remove();
    reports.remove();
  });

  it("gets no answer and sees no state that the model does not explain, and leaves all whole", async () => {
    const transcript = new Transcript();
    try {
      await walk(transcript);
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      const deployed = DEPLOYMENT === undefined ? "" : `DEPLOYMENT=${DEPLOYMENT} `;
      const again = `${deployed}WALK_SEED=${seed} WALK_SECONDS=${seconds} npm test -- resilience/walk`;
      throw new Error(`${what}\nAgain: ${again}\nThe last steps:\n${transcript.lastSteps}\n${transcript.counts}`, {
        cause: error,
      });
    }
    print(transcript.counts);
  });

  async function walk(transcript: Transcript): Promise<void> {
    const policies = new Map<string, unknown>();
    for (const { simulated } of clusters) policies.set(simulated, await service.policy(simulated));
    const around = { transcript, disturbances: new Disturbances(), faults: new SimulatedFaults(service.simulatorUrl) };
    const wentBack: string[] = [];
    const readers = new Readers(service.apiUrls, (what) => wentBack.push(what));
    const { apiUrls } = service;
    const walkers = platform.clusters.map((own, i) => {
      const name = `operator ${i + 1}`;
      const api = new ApiClient(apiUrls[i % apiUrls.length] ?? "", name.replace(" ", "-"));
      return new WalkingOperator(name, seed, api, own, { ...around, onAccepted: (id) => readers.follow(id) });
    });
    const adversary = new Adversary(service, seed, around, clusters);

    /**
     * All walk and the adversary acts; the first who fails ends it for all. A slow machine goes on for up to four times the
     * time, until everything that is `wanted` was done.
     */
    const together = async (forSeconds: number, counts: Parameters<Adversary["act"]>[0], wanted: () => string[]) => {
      const began = Date.now();
      let over = false;
      const isWithin = (factor: number) => Date.now() - began < forSeconds * factor * 1000;
      const goesOn = () => !over && (isWithin(1) || (isWithin(4) && wanted().length > 0));
      const orEnd = (work: Promise<void>) =>
        work.catch((error: unknown) => {
          over = true;
          throw error;
        });
      const all = await Promise.allSettled(
        [...walkers.map((one) => one.walk(goesOn)), adversary.act(counts, goesOn)].map(orEnd),
      );
      for (const one of all) if (one.status === "rejected") throw one.reason;
      await around.faults.clear();
      await Promise.all(walkers.map((one) => one.endAll()));
    };
    const neverDone = () => [
      ...Object.keys(commands).filter((command) => transcript.countOf("commands", command) === 0),
      ...Object.keys(allFaults).filter((fault) => transcript.countOf("faults", fault) === 0),
    ];

    try {
      await together(seconds * shares.wild, allFaults, neverDone);
      await together(seconds * shares.warmUp, ofComponentManager, () => []);
      const before = await heldAtRest(service, reports);
      await together(seconds * shares.measured, ofComponentManager, () => []);
      const after = await heldAtRest(service, reports);
      for (const end of after) {
        const start = before.find(({ pid }) => pid === end.pid);
        if (start) expectBounded(start, end);
      }
    } finally {
      for (const one of walkers) one.close();
      const reads = await readers.end();
      print(`${reads} reads beside the operators`);
    }
    // Chai cuts values short, and not what they are called.
    expect(wentBack, `what went back, of what one API process told: ${wentBack.join("; ")}`).to.be.empty;
    await expectWhole(
      service,
      walkers.flatMap(({ slots }) => slots.map(({ cluster, upgrades, still }) => ({ cluster, upgrades, still }))),
      policies,
    );
    expect(neverDone(), "commands and faults of which there was none").to.deep.equal([]);
    expect(transcript.countOf("answers", "202"), "upgrades and prechecks that were begun").to.be.at.least(seconds / 10);
  }
});

/** Beside the lines of the reporter. */
const print = (text: string) => process.stdout.write(`${text.replaceAll(/^/gm, "    ")}\n`);

function expectBounded(start: Held, end: Held): void {
  const { name } = start;
  print(`${name}: ${describeHeld(start)} before the last part, ${describeHeld(end)} at the end`);
  expect(end.used, `MiB that the ${name} uses`).to.be.at.most(start.used * bounds.usedFactor + bounds.usedMiB);
  expect(end.memory, `resident MiB of the ${name}`).to.be.at.most(
    start.memory * bounds.memoryFactor + bounds.memoryMiB,
  );
  expect(end.files, `open files of the ${name}`).to.be.at.most(start.files * bounds.filesFactor + bounds.files);
}

const describeHeld = ({ used, memory, files }: Held) =>
  `${used.toFixed(0)} MiB used of ${memory.toFixed(0)} MiB and ${files} open files`;
