import { expect } from "chai";
import type { Task, TaskStatus } from "../../src/domain/task";
import { wentBack } from "../crash/onlookers";
import { overlapping } from "../crash/oracle";
import { answered, type AnsweredError } from "./answered";
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
    expect(() => disturbances.besides(away, Date.now())).to.throw("no disturbance of temporal");
    expect(() => disturbances.besides(undefined, Date.now())).to.throw("no disturbance of api");
    await disturbances.during("temporal", () => Promise.resolve());
    expect(disturbances.besides(away, Date.now())).to.equal(undefined);
    const refused = { status: 409, code: "REQUEST_NOT_POSSIBLE" };
    expect(disturbances.besides(refused, Date.now())).to.deep.equal(refused);
  });

  describe("of an answer that is composed of several problems", () => {
    const problem = (errorCode: string, errorType: string) => ({ errorCode, errorType });
    const locked = problem("RESOURCE_LOCKED", "NOT_ALLOWED");
    const silent = problem("COMPONENT_MANAGER_UNREACHABLE", "FAILED_DEPENDENCY");
    const away = problem("TEMPORAL_UNREACHABLE", "FAILED_DEPENDENCY");
    const composed = (status: number, errorCode: string, ...nestedErrors: AnsweredError[]) =>
      answered(status, { errorCode, nestedErrors });
    const withSilent = () => {
      const disturbances = new Disturbances();
      disturbances.lasting("componentManager", 60_000);
      return disturbances;
    };

    it("only the problems that say that something is away", () => {
      const both = composed(403, "OPERATION_NOT_ALLOWED", locked, silent);
      expect(withSilent().besides(both, Date.now())).to.deep.equal({ status: 403, code: "RESOURCE_LOCKED" });
      const allAway = composed(424, "FAILED_DEPENDENCY", silent, silent);
      expect(withSilent().besides(allAway, Date.now())).to.equal(undefined);
      const twice = composed(403, "OPERATION_NOT_ALLOWED", locked, locked);
      expect(withSilent().besides(twice, Date.now())).to.deep.equal(twice);
    });

    it("none where one of them says that something is away which is not", () => {
      const both = composed(403, "OPERATION_NOT_ALLOWED", locked, silent);
      expect(() => new Disturbances().besides(both, Date.now())).to.throw("no disturbance of componentManager");
      const one = composed(424, "FAILED_DEPENDENCY", silent, away);
      expect(() => withSilent().besides(one, Date.now())).to.throw("no disturbance of temporal");
    });

    it("none where its status and code are not what they make together", () => {
      const wrong = {
        "424 although one is not allowed": composed(424, "FAILED_DEPENDENCY", locked, silent),
        "403 although all are away": composed(403, "OPERATION_NOT_ALLOWED", silent, silent),
        "a single problem": composed(403, "OPERATION_NOT_ALLOWED", locked),
        "no problem": composed(424, "FAILED_DEPENDENCY"),
      };
      for (const [what, answer] of Object.entries(wrong))
        expect(() => withSilent().besides(answer, Date.now()), what).to.throw("not what its problems make together");
    });
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
