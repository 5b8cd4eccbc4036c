import { expect } from "chai";
import type { Task } from "../../../src/domain/spec/task";
import { initialTask } from "../../../src/domain/task/task-progress";
import { BoundedTaskReads } from "../../../src/temporal/bounded-task-reads";
import { samplePlan } from "../../support/sample-plan";

const id = "an-upgrade";
const named = (name: string): Task => ({ ...initialTask(samplePlan()), name, status: "IN_PROGRESS" });

describe("Reads of a Task while Temporal is busy", () => {
  /** Answers of the reads beneath, in the order in which they were begun. */
  let answers: { resolve: (task?: Task) => void; reject: (error: Error) => void }[];
  let reads: BoundedTaskReads;

  beforeEach(() => {
    answers = [];
    reads = new BoundedTaskReads(
      () => new Promise((resolve, reject) => answers.push({ resolve: (task) => resolve(task), reject })),
      5,
    );
  });

  async function readOnce(task: Task, of = id): Promise<void> {
    const read = reads.read(of);
    answers.at(-1)?.resolve(task);
    await read;
  }

  it("are answered by the read before, as of when that began, and by what came late at the next one", async () => {
    const begun = Date.now();
    await readOnce(named("before"));
    const shown = await reads.read(id);
    expect(shown?.name).to.equal("before");
    expect(Date.parse(shown?.asOf ?? "")).to.be.within(begun, Date.now());
    answers.at(-1)?.resolve(named("late"));
    await new Promise(setImmediate);
    expect((await reads.read(id))?.name).to.equal("late");
  });

  it("keep the time that the read before told itself", async () => {
    await readOnce({ ...named("before"), asOf: "2026-11-26T03:00:00.000Z" });
    expect((await reads.read(id))?.asOf).to.equal("2026-11-26T03:00:00.000Z");
  });

  for (const [what, before] of [
    ["it has never been read", () => Promise.resolve()],
    ["it had ended", () => readOnce({ ...named("ended"), status: "SUCCESSFUL" })],
    [
      "a request was made since",
      async () => {
        await readOnce(named("before"));
        reads.requested(id);
      },
    ],
    [
      "a request was answered after that read began",
      async () => {
        const read = reads.read(id);
        reads.requested(id);
        answers.at(-1)?.resolve(named("before"));
        await read;
      },
    ],
  ] as const)
    it(`wait for their own answer where ${what}`, async () => {
      await before();
      await readOnce(named("stands in"), "another");
      let isAnswered = false;
      const read = reads.read(id).finally(() => (isAnswered = true));
      // It waits as long, and began later.
      await reads.read("another");
      expect(isAnswered).to.equal(false);
      answers.at(-2)?.resolve(named("own"));
      const own = await read;
      expect([own?.name, own?.asOf]).to.deep.equal(["own", undefined]);
    });

  it("do not hide an error that comes in time", async () => {
    await readOnce(named("before"));
    const read = reads.read(id);
    answers.at(-1)?.reject(new Error("away"));
    expect(await read.catch((error: unknown) => (error as Error).message)).to.equal("away");
  });
});
