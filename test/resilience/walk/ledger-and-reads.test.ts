import { expect } from "chai";
import type { SubTask, Task, TaskStatus } from "../../../src/domain/spec/task";
import { wentBack } from "../crash/onlookers";
import { overlapping } from "../crash/oracle";
import { answered, type AnsweredError } from "./answered";
import { deal, draws } from "./deck";
import { Disturbances } from "./disturbances";
import { atWorkTogether, begunTooOften, begunWithin, doneAgain } from "./expect-whole";
import { Transcript } from "./transcript";
import { Slot, WalkedUpgrade } from "./walked-upgrade";

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

  it("a host that begins while its cluster is held", () => {
    const at = (second: number) => `2026-12-01T09:30:0${second}.000Z`;
    const began = { ...entry("APPLY_STARTED", "v1"), cluster: "domain-c101", at: at(4) };
    const times = (from: number, to: number) => [[Date.parse(at(from)), Date.parse(at(to))]] as const;
    expect(begunWithin([began], "domain-c101", times(2, 5))).to.deep.equal([began]);
    expect(begunWithin([began], "domain-c101", times(5, 6))).to.deep.equal([]);
    expect(begunWithin([began], "domain-c102", times(2, 5))).to.deep.equal([]);
  });

  it("two upgrades at work in one cluster at the same time, beside prechecks", () => {
    const at = (second: number) => `2026-12-01T09:30:${String(second).padStart(2, "0")}.000Z`;
    const part = (type: string, from: number, to: number): SubTask => ({
      ...{ type, name: type, description: "", status: "SUCCESSFUL", creationTimestamp },
      stages: [
        {
          ...{ type: "REMEDIATE", name: "Remediate", description: "", status: "SUCCESSFUL" },
          ...{ creationTimestamp: at(from), completionTimestamp: at(to) },
        },
      ],
    });
    const upgrade = (id: string, from: number, to: number) => {
      const host = part("HOST_UPGRADE", from, to);
      return { id, subTasks: [part("PRECHECKS", 1, 30), { ...part("HOSTOS_UPGRADE", from, to), subTasks: [host] }] };
    };
    const one = upgrade("one", 10, 20);
    expect(atWorkTogether([one, upgrade("other", 20, 30)])).to.deep.equal([]);
    const together = atWorkTogether([upgrade("other", 19, 30), one]);
    expect(together[0]).to.equal("one REMEDIATE, other REMEDIATE");
  });

  it("a failure for something that has not happened", () => {
    const slot = new Slot({ resourceId: "cluster", simulated: "domain-c101", domain: "walk-1" });
    const accepted = (id: string, version: number) => {
      const upgrade = new WalkedUpgrade(id, slot, version, { draft: false, due: "NOW", attempts: 2 });
      slot.upgrades.push(upgrade);
      return upgrade;
    };
    const one = accepted("one", 1);
    const error = (errorCode: string, upgradeId?: string) => ({
      ...{ errorCode, message: "It failed." },
      ...(upgradeId !== undefined && { context: { upgradeId } }),
    });
    const host = error("HOST_REMEDIATION_FAILED");
    one.hostFailures = 1;
    expect(one.explains(host), "one failure of two that are allowed").to.equal(false);
    one.hostFailures = 2;
    expect(one.explains(host)).to.equal(true);
    expect(one.explains(error("PRECHECKS_FAILED"))).to.equal(false);
    expect(one.explains(error("UNFORESEEN"))).to.equal(false);

    expect(one.explains(error("RESOURCE_LOCKED", "other")), "nobody else wants the cluster").to.equal(false);
    accepted("other", 2);
    slot.noteRivals();
    expect(one.explains(error("RESOURCE_LOCKED", "other"))).to.equal(true);
    for (const holder of [undefined, "one", "somebody"])
      expect(one.explains(error("RESOURCE_LOCKED", holder)), `held by ${holder}`).to.equal(false);
    expect(one.explains(error("HOST_INCOMPATIBLE")), "a newer version has come").to.equal(true);
  });

  it("shows a read only where it tells something else than before", () => {
    const transcript = new Transcript();
    for (const told of ["200 Pending", "200 Pending", "200 Failed", "200 Failed"])
      for (const task of ["one", "other"]) transcript.sayRead("operator", `GET ${task}`, told);
    expect(transcript.lastSteps.split("\n").map((step) => step.replace(/^.* s {2}/, ""))).to.deep.equal([
      ...["operator: GET one -> 200 Pending", "operator: GET other -> 200 Pending"],
      ...["operator: GET one -> 200 Failed", "operator: GET other -> 200 Failed"],
    ]);
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
