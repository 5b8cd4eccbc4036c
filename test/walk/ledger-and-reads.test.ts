import { expect } from "chai";
import type { Task, TaskStatus } from "../../src/domain/task";
import { wentBack } from "../crash/onlookers";
import { overlapping } from "../crash/oracle";
import { draws, deal } from "./deck";
import { Disturbances } from "./disturbances";
import { begunTooOften, doneAgain } from "./expect-whole";

const creationTimestamp = "2026-12-01T09:30:00.000Z";
const task = (status: TaskStatus, ...hosts: readonly ("SUCCESSFUL" | "IN_PROGRESS" | "PENDING")[]): Task => ({
  ...{ id: "one", name: "Upgrade", type: "UPGRADE", status, creationTimestamp },
  subTasks: hosts.map((host) => ({
    ...{ name: "esx-01", type: "HOST_UPGRADE", description: "", status: host, creationTimestamp },
  })),
});
const entry = (step: string, detail?: string) => ({ step, host: "host-11", ...(detail !== undefined && { detail }) });

describe("what the walk refuses besides the model", () => {
  it("progress that goes backwards, and an end that is left", () => {
    const begun = task("In Progress", "SUCCESSFUL", "IN_PROGRESS");
    expect(wentBack(begun, task("In Progress", "PENDING", "PENDING"))).to.deep.equal(["1 hosts done, then 0"]);
    expect(wentBack(task("Cancelled"), task("In Progress"))).to.deep.equal(["Cancelled, then In Progress"]);
    expect(wentBack(begun, task("Successful", "SUCCESSFUL", "SUCCESSFUL"))).to.deep.equal([]);
  });

  it("a host that is brought to a version twice, or begun again although nothing was wrong", () => {
    const once = [entry("APPLY_STARTED", "v1"), entry("REMEDIATED", "v1"), entry("MAINTENANCE_EXITED")];
    expect(doneAgain([...once, ...once])).to.deep.equal(["host-11 v1"]);
    expect(begunTooOften([...once, ...once])).to.deep.equal(["host-11 v1"]);
    const failed = [entry("APPLY_STARTED", "v1"), entry("APPLY_FAILED", "no space")];
    expect(begunTooOften([...failed, ...once])).to.deep.equal([]);
    expect(begunTooOften([...once, entry("APPLY_STARTED", "v2")])).to.deep.equal([]);
    expect(overlapping([entry("APPLY_STARTED", "v1"), entry("APPLY_STARTED", "v1")])).to.deep.equal(["host-11"]);
  });

  it("an answer that something is away which is not", async () => {
    const disturbances = new Disturbances();
    const away = { status: 424, code: "TEMPORAL_UNREACHABLE" };
    expect(() => disturbances.saysNothing(away, Date.now())).to.throw("no disturbance of temporal");
    expect(() => disturbances.saysNothing(undefined, Date.now())).to.throw("no disturbance of api");
    await disturbances.during("temporal", () => Promise.resolve());
    expect(disturbances.saysNothing(away, Date.now())).to.equal(true);
    expect(disturbances.saysNothing({ status: 409, code: "REQUEST_NOT_POSSIBLE" }, Date.now())).to.equal(false);
  });

  it("deals the same commands for the same seed, each of them in every deck", () => {
    const counts = { commit: 2, pause: 1, cancel: 3 };
    const dealt = (seed: number) => {
      const cards = deal(counts, draws(seed, "operator"));
      return Array.from({ length: 12 }, () => cards.next().value);
    };
    expect(dealt(1)).to.deep.equal(dealt(1));
    expect(dealt(1)).to.not.deep.equal(dealt(2));
    for (const deck of [dealt(1).slice(0, 6), dealt(1).slice(6)])
      expect(deck.sort()).to.deep.equal(["cancel", "cancel", "cancel", "commit", "commit", "pause"]);
  });
});
