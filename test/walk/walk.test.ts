import { expect } from "chai";
import { ServiceUnderTest } from "../system/service-under-test";
import { Adversary, allFaults, ofComponentManager } from "./adversary";
import { ApiClient } from "./api-client";
import { Disturbances } from "./disturbances";
import { expectWhole } from "./expect-whole";
import { heldAtRest } from "./processes";
import { Readers } from "./readers";
import { SimulatedFaults } from "./simulated-faults";
import { Transcript } from "./transcript";
import { commands, WalkingOperator } from "./walking-operator";
import { writeWalkPlatform } from "./walk-platform";

/** WALK_SEED fixes the commands and faults; WALK_SECONDS is how long they go on (900 for a night). */
const { WALK_SEED = "1", WALK_SECONDS = "90" } = process.env;
const [seed, seconds] = [Number(WALK_SEED), Number(WALK_SECONDS)];

const [operators, clustersEach] = [3, 4];
/** The part of the walk in which processes are killed; in the rest, all of them live on and are measured. */
const wildShare = 0.65;

/** How far resident memory and open files may be above those after the first part, which has warmed all of it up. */
const bounds = { memoryFactor: 1.25, memoryMiB: 24, filesFactor: 1.1, files: 6 };

describe(`a random walk of operators (seed ${seed}, ${seconds} s)`, function () {
  this.timeout((seconds * 2 + 600) * 1000);
  const platform = writeWalkPlatform(operators, clustersEach);
  const clusters = platform.clusters.flat();
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start(platform.variables);
  });
  after(async () => {
    await service.discard();
    platform.remove();
  });

  it("gets no answer and sees no state that the model does not explain, and leaves all whole", async () => {
    const transcript = new Transcript();
    try {
      await walk(transcript);
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      const again = `WALK_SEED=${seed} WALK_SECONDS=${seconds} npm run test:walk`;
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
    const adversary = new Adversary(service, seed, around);

    /**
     * All walk and the adversary acts; the first who fails ends it for all. A slow machine goes on for up to twice the
     * time, until everything that is `wanted` was done.
     */
    const together = async (forSeconds: number, counts: Parameters<Adversary["act"]>[0], wanted: () => string[]) => {
      const began = Date.now();
      let over = false;
      const isWithin = (factor: number) => Date.now() - began < forSeconds * factor * 1000;
      const goesOn = () => !over && (isWithin(1) || (isWithin(2) && wanted().length > 0));
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
      await together(seconds * wildShare, allFaults, neverDone);
      const before = await heldAtRest(service);
      await together(seconds * (1 - wildShare), ofComponentManager, () => []);
      const after = await heldAtRest(service);
      for (const { name, pid, memory, files } of after) {
        const start = before.find((one) => one.pid === pid);
        if (!start) continue;
        transcript.say("processes", `${name} ${pid}: ${describeHeld(start)}, then ${describeHeld({ memory, files })}`);
        print(`${name}: ${describeHeld(start)} after the first part, ${describeHeld({ memory, files })} at the end`);
        expect(memory, `MiB of the ${name}`).to.be.at.most(start.memory * bounds.memoryFactor + bounds.memoryMiB);
        expect(files, `open files of the ${name}`).to.be.at.most(start.files * bounds.filesFactor + bounds.files);
      }
    } finally {
      for (const one of walkers) one.close();
      const reads = await readers.end();
      print(`${reads} reads beside the operators`);
    }
    expect(wentBack.join("; "), "what one API process told").to.equal("");
    await expectWhole(
      service,
      walkers.flatMap(({ slots }) =>
        slots.map(({ cluster, upgrades }) => ({ cluster, ids: upgrades.map(({ id }) => id) })),
      ),
      policies,
    );
    expect(neverDone(), "commands and faults of which there was none").to.deep.equal([]);
    expect(transcript.countOf("answers", "202"), "upgrades and prechecks that were begun").to.be.at.least(seconds / 5);
  }
});

/** Beside the lines of the reporter. */
const print = (text: string) => process.stdout.write(`${text.replaceAll(/^/gm, "    ")}\n`);

const describeHeld = ({ memory, files }: { readonly memory: number; readonly files: number }) =>
  `${memory.toFixed(0)} MiB and ${files} open files`;
