import { expect } from "chai";
import { knownStatus } from "../../../src/console/model/labels";
import { operationsFor, operationsOf, whoMayApprove } from "../../../src/console/model/operations";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import type { Upgrade, UpgradeStatus } from "../../../src/domain/spec/upgrade";
import { cluster, part, task } from "./console-task";

const possible = (status: UpgradeStatus, more: Partial<Task> = {}) =>
  operationsOf({ id: "u1", status }, task([], { isCancellable: true, isRetryable: false, ...more })).map(
    ({ name }) => name,
  );
const prechecks = (...statuses: ("IN_PROGRESS" | "SUCCESSFUL" | "FAILED")[]) => ({
  subTasks: statuses.map((status) => part("PRECHECKS", status)),
});

describe("the console's buttons", () => {
  it("commit a draft when its latest prechecks have passed", () => {
    expect(possible("DRAFT", prechecks("FAILED", "SUCCESSFUL"))).to.deep.equal(["commit", "prechecks", "cancel"]);
    expect(possible("DRAFT", prechecks("SUCCESSFUL", "FAILED"))).to.deep.equal(["prechecks", "cancel"]);
    expect(possible("DRAFT", prechecks("IN_PROGRESS"))).to.deep.equal(["cancel"]);
  });

  it("follow the phase", () => {
    expect(possible("SCHEDULED")).to.deep.equal(["reschedule", "cancel"]);
    expect(possible("INPROGRESS")).to.deep.equal(["pause", "cancel"]);
    expect(possible("PAUSED")).to.deep.equal(["resume", "cancel"]);
    const failed = { isRetryable: true, isCancellable: false, resolutionStatus: "UNRESOLVED" as const };
    expect(possible("COMPLETED_WITH_FAILURE", failed)).to.deep.equal(["retry", "resolve"]);
  });

  it("commit what was not begun at its time, also while the rest runs", () => {
    const missed = { waitingFor: { code: "COMMIT" as const, message: "Its time has passed." } };
    expect(possible("SCHEDULED", missed)).to.deep.equal(["commit", "reschedule", "cancel"]);
    expect(possible("INPROGRESS", missed)).to.deep.equal(["commit", "pause", "cancel"]);
  });

  it("let an ADMIN, and nobody else, have what waits for a maintenance window ignore it", () => {
    const namesFor = (role: string, code: "WINDOW" | "FROZEN") => {
      const waitingFor = { code, message: "It waits." };
      const all = operationsOf({ id: "u1", status: "INPROGRESS", waitingFor }, task([], { isCancellable: true }));
      return operationsFor({ caller: "root", role, mayApprove: true }, all).map(({ name }) => name);
    };
    expect(namesFor("ADMIN", "WINDOW")).to.deep.equal(["ignoreWindows", "pause", "cancel"]);
    expect(namesFor("APPROVER", "WINDOW")).to.deep.equal(["pause", "cancel"]);
    expect(namesFor("ADMIN", "FROZEN")).to.deep.equal(["pause", "cancel"]);
  });

  it("approve and reject, for approvers, what waits for approvals and has not begun", () => {
    const waiting = task([], { isCancellable: true, ...prechecks("SUCCESSFUL") });
    const names = (changes: Partial<Upgrade>) =>
      operationsOf({ id: "u1", status: "SCHEDULED", phase: "ACTION_REQUIRED", ...changes }, waiting)
        .filter(({ notFor }) => notFor)
        .map(({ name }) => name);
    const given = [{ by: "bob", at: "2026-11-01T12:00:00.000Z" }];
    expect(names({})).to.deep.equal([]);
    expect(names({ approvals: { required: 2, given } })).to.deep.equal(["approve", "reject"]);
    expect(names({ approvals: { required: 1, given }, phase: "SCHEDULED" })).to.deep.equal(["reject"]);
    const startedAt = "2026-11-01T12:00:00.000Z";
    expect(names({ approvals: { required: 2, given }, startedAt })).to.deep.equal(["approve"]);
    expect(names({ approvals: { required: 2, given }, phase: "CANCELLING" })).to.deep.equal([]);
  });

  it("are approval and rejection only for those whom the service lets, and say who may to the others", () => {
    const waiting = task([], { isCancellable: true, ...prechecks("SUCCESSFUL") });
    const given = [{ by: "bob", at: "2026-11-01T12:00:00.000Z" }];
    const approvals = { required: 2, given, askedBy: ["Alice"] };
    const upgrade: Upgrade = { id: "u1", status: "SCHEDULED", phase: "ACTION_REQUIRED", approvals };
    const operations = operationsOf(upgrade, waiting);
    const told = (caller: string, mayApprove = true) => {
      const who = { caller, role: mayApprove ? "APPROVER" : "OPERATOR", mayApprove };
      const names = operationsFor(who, operations).map(({ name }) => name);
      return [names.filter((name) => ["approve", "reject"].includes(name)), whoMayApprove(operations, upgrade, who)];
    };
    expect(told("carol")).to.deep.equal([["approve", "reject"], undefined]);
    expect(told("alice")).to.deep.equal([
      [],
      "You asked for this upgrade, so you cannot approve it. It needs 1 more approval, from another person with the role APPROVER.",
    ]);
    expect(told("bob")).to.deep.equal([
      ["reject"],
      "You have approved this upgrade. It needs 1 more approval, from another person with the role APPROVER.",
    ]);
    expect(told("dave", false)).to.deep.equal([
      [],
      "It needs 1 more approval, from another person with the role APPROVER, except Alice, who asked for it.",
    ]);
    expect(
      whoMayApprove([], upgrade, { caller: "alice", role: "APPROVER", mayApprove: true }),
      "not open to approvals",
    ).to.equal(undefined);
  });

  it("leave out what has not begun or has failed, and retry one cluster alone", () => {
    const host = (name: string, status: SubTask["status"], more: Partial<SubTask> = {}) => ({
      ...part("HOST_UPGRADE", status),
      ...{ name, resources: [{ resourceId: `id-${name}`, name }], ...more },
    });
    const of = (status: UpgradeStatus, clusters: SubTask[], more: Partial<Task> = {}) => {
      const all = operationsOf({ id: "u1", status }, task(clusters, { isCancellable: true, ...more }));
      const labels = (name: string) => {
        const groups = all.find((operation) => operation.name === name)?.parts?.() ?? [];
        return groups.flatMap(({ choices }) => choices.map(({ label }) => label));
      };
      return { skip: labels("skip"), retry: labels("retry") };
    };
    const running = cluster("IN_PROGRESS", [host("a1", "IN_PROGRESS"), host("a2", "PENDING")], "A");
    const skipped = { ...cluster("NOT_APPLICABLE", undefined, "D"), reasonCode: "SKIPPED_BY_OPERATOR" as const };
    expect(
      of("INPROGRESS", [running, cluster("PENDING", undefined, "B"), cluster("SUCCESSFUL", undefined, "C")]).skip,
    ).to.deep.equal(["a2", "All of B"]);
    expect(of("SCHEDULED", [cluster("PENDING", undefined, "B"), skipped]).skip, "the last cluster").to.deep.equal([]);
    const failed = cluster("FAILED", [host("e1", "FAILED"), host("e2", "SUCCESSFUL")], "E");
    const unresolved = { isCancellable: false, isRetryable: true, resolutionStatus: "UNRESOLVED" as const };
    const both = of("COMPLETED_WITH_FAILURE", [failed, cluster("FAILED", undefined, "F")], unresolved);
    expect(both.skip).to.deep.equal(["All of E", "e1", "All of F"]);
    expect(both.retry).to.deep.equal(["Everything that is not done", "Only E", "Only F"]);
    expect(of("COMPLETED_WITH_FAILURE", [failed], unresolved).retry, "no choice").to.deep.equal([]);
  });

  it("are not there when nothing can be done", () => {
    for (const status of ["COMPLETED_WITH_SUCCESS", "COMPLETED_WITH_FAILURE", "CANCELLED"] as const)
      expect(possible(status, { isCancellable: false, resolutionStatus: "RESOLVED" }), status).to.deep.equal([]);
  });
});

describe("the console's status of an upgrade", () => {
  it("is that of the task where what was read is older", () => {
    const of = (read: UpgradeStatus | undefined, more: Partial<Task>) => knownStatus(read, task([], more));
    expect(of("INPROGRESS", { status: "Failed" })).to.equal("COMPLETED_WITH_FAILURE");
    expect(of("COMPLETED_WITH_FAILURE", { status: "In Progress" })).to.equal("INPROGRESS");
    expect(of("SCHEDULED", { status: "In Progress" })).to.equal("INPROGRESS");
    expect(of("DRAFT", { status: "In Progress" })).to.equal("DRAFT");
    expect(of("SCHEDULED", { status: "Pending" })).to.equal("SCHEDULED");
    const paused = { localizableDescriptionPack: { messageKey: "upgrade.task.paused" } };
    expect(of("INPROGRESS", paused)).to.equal("PAUSED");
  });
});
