import { expect } from "chai";
import * as E from "fp-ts/Either";
import type { ActivityEntry } from "../../../src/domain/activity/upgrade-activity";
import type { ErrorBody } from "../../../src/domain/errors";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import type { RequestOutcome } from "../../../src/domain/requests/upgrade-request";
import type { StageStatus, SubTask, Task } from "../../../src/domain/spec/task";
import { applyProgress } from "../../../src/domain/task/task-progress";
import { createUpgradeService } from "../../../src/upgrades/create-upgrade-service";
import type { EndedAnswer, RequestAnswer } from "../../../src/upgrades/ports";
import { notFound, type ServiceError, temporalUnreachable } from "../../../src/upgrades/service-error";
import type { UpgradeService } from "../../../src/upgrades/upgrade-service";
import { samplePlan } from "../../support/sample-plan";
import { FakePorts, now } from "./fake-ports";
import { type FakeRunningUpgrades, upgradeId } from "./fake-running-upgrades";

const at = new Date(now).toISOString();
const unknownId = "99999999-2222-4333-8444-555555555555";

const subTask = (type: string): SubTask => ({
  name: "",
  type,
  description: "",
  status: "IN_PROGRESS",
  creationTimestamp: at,
});

const judged = (outcome: Partial<RequestOutcome>): RequestAnswer => ({
  _tag: "Judged",
  outcome: { request: "commit", accepted: true, at, ...outcome },
});

function left(result: E.Either<ServiceError, unknown>): ServiceError {
  if (E.isRight(result)) throw new Error(`Not refused: ${JSON.stringify(result.right)}`);
  return result.left;
}

/** Status-independent parts of a refusal. */
function reasonOf(result: E.Either<ServiceError, unknown>): ErrorBody & { tag: string } {
  const error = left(result);
  if (error._tag === "Conflict") return { tag: error._tag, ...error.reason };
  const [problem] = "problems" in error ? error.problems : error._tag === "Unanswered" ? [error.problem] : [];
  return {
    tag: error._tag,
    message: problem?.message ?? "",
    errorCode: problem?.code ?? "",
    remediationMessage: problem?.remediation ?? "",
    ...(problem?.path !== undefined && { context: { path: problem.path } }),
  };
}

describe("Steering an upgrade", () => {
  let ports: FakePorts;
  let running: FakeRunningUpgrades;
  let service: UpgradeService;
  beforeEach(() => {
    ports = new FakePorts();
    running = ports.running;
    service = createUpgradeService(ports.dependencies);
  });

  const ended = (status: "SUCCESSFUL" | "CANCELLED" | "FAILED", sent: boolean): EndedAnswer => {
    const upgradeStatus = {
      SUCCESSFUL: "COMPLETED_WITH_SUCCESS",
      CANCELLED: "CANCELLED",
      FAILED: "COMPLETED_WITH_FAILURE",
    } as const;
    return {
      _tag: "Ended",
      sent,
      upgrade: { ...running.upgrade, status: upgradeStatus[status] },
      task: applyProgress(running.task, { type: "PhaseEntered", phase: status, at }),
    };
  };

  /** Every request, as the use case that sends it. */
  const requests: Record<RequestOutcome["request"], (id: string) => Promise<E.Either<ServiceError, unknown>>> = {
    commit: (id) => service.updateUpgrade(id, {}, "alice")(),
    pause: (id) => service.controlUpgrade(id, "pause", "alice")(),
    resume: (id) => service.controlUpgrade(id, "resume", "alice")(),
    resolve: (id) => service.controlUpgrade(id, "resolve", "alice")(),
    prechecks: (id) => service.runPrechecks(id, "alice")(),
    retry: (id) => service.retryTask(id, "alice")(),
    approve: (id) => service.decideApproval(id, { name: "approve" }, "alice")(),
    reject: (id) => service.decideApproval(id, rejection, "alice")(),
    acknowledge: (id) => service.acknowledgeFinding(id, `${id}-prechecks-1`, finding, "alice")(),
    skip: (id) => service.skipPart(id, { resourceId: "cl-1", reason: skip.reason }, "alice")(),
  };
  const skip = { name: "skip" as const, resourceId: "cl-1", reason: "It is being repaired." };
  const rejection = { name: "reject" as const, comment: "Not in the week of the fair." };
  const finding = { code: "CLUSTER_BUSY", resourceId: "c-1", reason: "That task is ours." };
  const said: Readonly<Record<string, object>> = {
    reject: rejection,
    skip,
    acknowledge: { name: "acknowledge", precheckId: `${upgradeId}-prechecks-1`, ...finding },
  };

  for (const [name, send] of Object.entries(requests)) {
    describe(name, () => {
      it("goes out once under a new id, with who asks, and answers what holds afterwards", async () => {
        running.answer = judged({ run: 1 });
        const answer = await send(upgradeId);
        expect(E.isRight(answer)).to.equal(true);
        expect(running.requests).to.deep.equal([
          {
            request: said[name] ?? { name },
            origin: { requestId: "random-1", requestedBy: "alice" },
          },
        ]);
        expect(running.calls.indexOf("request")).to.be.lessThan(running.calls.length - 1);
        expect(running.calls.at(-1)).to.be.oneOf(["readUpgrade", "readTask"]);
      });

      it("gives the upgrade's own reason where it refuses", async () => {
        const nestedErrors = [{ errorCode: "HOST_NOT_CONNECTED", message: "Host esx-1 is away." }];
        const reason = { errorCode: "PRECHECKS_FAILED", errorType: "CONFLICT", message: "No.", nestedErrors };
        running.answer = judged({ accepted: false, reason });
        expect(left(await send(upgradeId))).to.deep.equal({ _tag: "Conflict", reason });
      });

      it("is a bad request where the upgrade finds the payload wrong", async () => {
        const reason = { errorCode: "SIGNAL_PAYLOAD_INVALID", errorType: "INVALID_INPUT", message: "No." };
        running.answer = judged({ accepted: false, reason });
        expect(reasonOf(await send(upgradeId))).to.include({ tag: "BadRequest", errorCode: "SIGNAL_PAYLOAD_INVALID" });
      });

      it("is a conflict where the upgrade gave no reason", async () => {
        running.answer = judged({ accepted: false });
        expect(reasonOf(await send(upgradeId))).to.include({ tag: "Conflict", errorCode: "REQUEST_NOT_POSSIBLE" });
      });

      it("does not find an unknown upgrade", async () => {
        const resource = name === "retry" ? "task" : "upgrade";
        expect(left(await send(unknownId))).to.deep.equal(notFound(resource, unknownId));
      });

      it("says that it is recorded where no worker answers, and not to repeat it", async () => {
        running.answer = { _tag: "Unanswered" };
        const reason = reasonOf(await send(upgradeId));
        expect(reason).to.include({ tag: "FailedDependency", errorCode: "REQUEST_NOT_YET_APPLIED" });
        expect(reason.message).to.contain(name).and.contain(upgradeId).and.contain("recorded, but not yet applied");
        expect(reason.remediationMessage).to.contain("Do not send it again");
      });

      it("says that it waits for a blocked Workflow, and what to do about that", async () => {
        const blocked = { errorCode: "WORKFLOW_BLOCKED", message: "It has a bug.", remediationMessage: "Mend it." };
        running.answer = { _tag: "Unanswered", blocked };
        const reason = reasonOf(await send(upgradeId));
        expect(reason).to.include({ tag: "FailedDependency", errorCode: "REQUEST_NOT_YET_APPLIED" });
        expect(reason.message).to.contain("recorded, but not yet applied. It has a bug.");
        expect(reason.remediationMessage).to.contain("Do not send it again").and.contain("Mend it.");
      });

      it("is a conflict on an upgrade that had ended, naming how", async () => {
        for (const status of ["SUCCESSFUL", "CANCELLED", "FAILED"] as const) {
          running.answer = ended(status, false);
          const reason = reasonOf(await send(upgradeId));
          expect(reason).to.include({ tag: "Conflict", errorCode: "REQUEST_NOT_POSSIBLE" });
          expect(reason.message).to.contain(name).and.contain(running.answer.upgrade.status);
          expect(reason.context).to.deep.equal({ status: running.answer.upgrade.status });
        }
      });

      it("fails as Temporal does", async () => {
        const lost = temporalUnreachable(new Error("down"));
        running.failing = { request: lost };
        expect(left(await send(upgradeId))).to.deep.equal(lost);
      });
    });
  }

  it("takes a request for accepted where the upgrade has ended as it asked before it could be asked", async () => {
    const outcomes: string[] = [];
    for (const name of ["commit", "resume", "retry", "pause", "resolve"] as const) {
      for (const status of ["SUCCESSFUL", "CANCELLED", "FAILED"] as const) {
        running.answer = ended(status, true);
        if (E.isRight(await requests[name](upgradeId))) outcomes.push(`${name} ${status}`);
      }
    }
    expect(outcomes).to.deep.equal(["commit SUCCESSFUL", "resume SUCCESSFUL", "retry SUCCESSFUL"]);
    const failed = ended("FAILED", true);
    running.answer = { ...failed, task: { ...failed.task, resolutionStatus: "RESOLVED" } };
    expect(E.isRight(await requests.resolve(upgradeId))).to.equal(true);
  });

  it("cuts a caller's name, which the upgrade keeps", async () => {
    await service.controlUpgrade(upgradeId, "pause", "x".repeat(2000))();
    expect(running.requests[0]?.origin.requestedBy).to.equal("x".repeat(255));
  });

  describe("updateUpgrade", () => {
    const update = (body: Parameters<UpgradeService["updateUpgrade"]>[1]) =>
      service.updateUpgrade(upgradeId, body, "alice")();

    it("commits with a time, now, or without a word of either", async () => {
      const scheduledTimestamp = "2026-11-02T00:00:00.000Z";
      for (const body of [{ scheduledTimestamp }, { upgradeNow: true }, {}, { markForCancellation: false }])
        await update(body);
      expect(running.requests.map(({ request }) => request)).to.deep.equal([
        { name: "commit", scheduledTimestamp },
        { name: "commit", upgradeNow: true },
        { name: "commit" },
        { name: "commit" },
      ]);
    });

    it("refuses a time that has passed, before anybody is asked", async () => {
      expect(reasonOf(await update({ scheduledTimestamp: "2026-11-01T11:58:59.000Z" }))).to.deep.include({
        tag: "BadRequest",
        errorCode: "SCHEDULE_IN_THE_PAST",
        context: { path: "scheduledTimestamp" },
      });
      expect(running.calls).to.deep.equal([]);
      expect(E.isRight(await update({ scheduledTimestamp: "2026-11-01T11:59:30.000Z" }))).to.equal(true);
      expect(E.isRight(await update({ scheduledTimestamp: "2020-01-01T00:00:00.000Z", upgradeNow: true }))).to.equal(
        true,
      );
    });

    it("refuses to begin where upgradeNow is false and no time is given", async () => {
      expect(reasonOf(await update({ upgradeNow: false }))).to.deep.include({
        tag: "BadRequest",
        errorCode: "SCHEDULE_MISSING",
        context: { path: "upgradeNow" },
      });
      expect(running.calls).to.deep.equal([]);
      const timed = { upgradeNow: false, scheduledTimestamp: "2026-11-02T00:00:00.000Z" };
      expect(E.isRight(await update(timed))).to.equal(true);
    });

    it("names the field where the upgrade itself finds that the time has passed", async () => {
      const errorCode = "SCHEDULE_IN_THE_PAST";
      const context = { path: "scheduledTimestamp" };
      const reason = { errorCode, errorType: "INVALID_INPUT", message: "Passed.", context };
      running.answer = judged({ accepted: false, reason });
      expect(reasonOf(await update({}))).to.deep.include({
        tag: "BadRequest",
        context: { path: "scheduledTimestamp" },
      });
    });

    it("commits no draft of which another upgrade visibly holds a resource, and names it", async () => {
      ports.lockHolders.set("cluster/c1", "the-other");
      const reason = reasonOf(await update({}));
      expect(reason).to.deep.include({ tag: "Conflict", errorCode: "RESOURCE_LOCKED", arguments: ["the-other"] });
      expect(reason.message).to.equal(
        "Cluster fra1-prod (c1) is held by upgrade fra1-prod to 9.0.2 (the-other), so the upgrade cannot be committed now.",
      );
      expect(running.requests).to.deep.equal([]);
    });

    it("has the upgrade keep what was refused without asking it, with who asked and why", async () => {
      const past = "2026-11-01T11:58:59.000Z";
      await update({ scheduledTimestamp: past });
      ports.lockHolders.set("cluster/c1", "the-other");
      await update({});
      expect(running.refused.map(({ reason, ...asked }) => ({ ...asked, reason: reason.errorCode }))).to.deep.equal([
        { request: "commit", scheduledTimestamp: past, requestedBy: "alice", reason: "SCHEDULE_IN_THE_PAST" },
        { request: "commit", requestedBy: "alice", reason: "RESOURCE_LOCKED" },
      ]);
      running.answer = judged({ accepted: false });
      ports.lockHolders.clear();
      await update({});
      expect(running.refused, "one that the upgrade knows itself").to.have.length(2);
    });

    it("leaves the decision to the locks where the upgrade holds them itself, or Temporal cannot tell", async () => {
      ports.lockHolders.set("cluster/c1", upgradeId);
      expect(E.isRight(await update({}))).to.equal(true);
      ports.failing = { lockHolders: temporalUnreachable(new Error("no Visibility")) };
      expect(E.isRight(await createUpgradeService(ports.dependencies).updateUpgrade(upgradeId, {}, "a")())).to.equal(
        true,
      );
    });

    it("asks nobody about locks when a scheduled upgrade gets another time", async () => {
      ports.lockHolders.set("cluster/c1", "the-other");
      running.upgrade = { ...running.upgrade, status: "SCHEDULED" };
      const scheduledTimestamp = "2036-12-01T00:00:00.000Z";
      expect(E.isRight(await update({ scheduledTimestamp }))).to.equal(true);
      expect(running.calls).to.deep.equal(["readUpgrade", "request", "readUpgrade"]);
    });

    it("has no scheduled upgrade begin now whose resource another upgrade visibly holds", async () => {
      ports.lockHolders.set("cluster/c1", "the-other");
      running.upgrade = { ...running.upgrade, status: "SCHEDULED" };
      expect(reasonOf(await update({ upgradeNow: true }))).to.include({ errorCode: "RESOURCE_LOCKED" });
    });

    it("commits a draft for a time at which another upgrade may have given its resources back", async () => {
      ports.lockHolders.set("cluster/c1", "the-other");
      expect(E.isRight(await update({ scheduledTimestamp: "2036-12-01T00:00:00.000Z" }))).to.equal(true);
    });

    it("cancels, and does not commit as well", async () => {
      expect(await update({ markForCancellation: true, upgradeNow: false })).to.deep.equal(E.right(running.upgrade));
      expect(running.calls).to.deep.equal(["cancel", "readUpgrade"]);
    });

    it("ignores everything else of a cancellation", async () => {
      for (const time of [{ upgradeNow: true }, { scheduledTimestamp: "2020-11-02T00:00:00.000Z" }])
        expect(E.isRight(await update({ markForCancellation: true, ...time }))).to.equal(true);
      expect(running.calls).to.deep.equal(["cancel", "readUpgrade", "cancel", "readUpgrade"]);
    });

    describe("of a switchover", () => {
      const mgmtUpgradePatchSpecs = [{ resourceId: "vc-1", startSwitchoverTimestamp: "2026-12-01T00:00:00.000Z" }];
      /** The Task of an upgrade whose management server is at this stage. */
      const taskAt = (status: StageStatus, ended = false): Task => ({
        ...running.task,
        subTasks: [
          {
            ...subTask("PRODUCT_UPGRADE"),
            subTasks: [
              {
                ...subTask("MGMT_SERVER_UPGRADE"),
                resources: [{ resourceId: "vc-1" }],
                stages: [{ name: "", type: "SWITCH_OVER", description: "", status, creationTimestamp: at }],
                ...(ended && { completionTimestamp: at }),
              },
            ],
          },
        ],
      });

      it("commits no draft, and asks nobody about its locks", async () => {
        ports.lockHolders.set("cluster/c1", "the-other");
        expect(E.isRight(await update({ mgmtUpgradePatchSpecs }))).to.equal(true);
        expect(running.requests[0]?.request).to.deep.equal({ name: "commit", mgmtUpgradePatchSpecs });
      });

      it("is possible while the upgrade runs, until that switchover begins", async () => {
        running.upgrade = { ...running.upgrade, status: "INPROGRESS" };
        running.task = taskAt("PENDING");
        expect(E.isRight(await update({ mgmtUpgradePatchSpecs }))).to.equal(true);
        for (const task of [taskAt("IN_PROGRESS"), taskAt("SUCCESSFUL"), taskAt("FAILED"), taskAt("PENDING", true)]) {
          running.task = task;
          const reason = reasonOf(await update({ mgmtUpgradePatchSpecs }));
          expect(reason).to.include({ tag: "Conflict", errorCode: "REQUEST_NOT_POSSIBLE" });
        }
        expect(running.requests).to.have.length(1);
      });
    });
  });

  describe("cancelTask", () => {
    it("answers the Task as it is then, also while the cancellation is on its way", async () => {
      running.task = applyProgress(running.task, { type: "PhaseEntered", phase: "RUNNING", at });
      expect(await service.cancelTask(upgradeId, "alice")()).to.deep.equal(E.right(running.task));
      running.cancelAnswer = ended("CANCELLED", true);
      running.task = running.cancelAnswer.task;
      expect(await service.cancelTask(upgradeId, "alice")()).to.deep.equal(E.right(running.task));
      expect(running.calls).to.deep.equal(["cancel", "readTask", "cancel", "readTask"]);
    });

    it("is a conflict where it has ended, in whatever way and whenever", async () => {
      for (const answer of [ended("CANCELLED", false), ended("SUCCESSFUL", false), ended("FAILED", true)]) {
        running.cancelAnswer = answer;
        expect(reasonOf(await service.cancelTask(upgradeId, "alice")())).to.include({
          errorCode: "REQUEST_NOT_POSSIBLE",
        });
      }
    });

    it("is a conflict where it succeeded before the cancellation reached it", async () => {
      for (const phase of ["SUCCESSFUL", "FAILED"] as const) {
        const { task, upgrade } = ended(phase, true);
        running.task = task;
        running.upgrade = upgrade;
        const reason = reasonOf(await service.cancelTask(upgradeId, "alice")());
        expect(reason).to.include({ tag: "Conflict", errorCode: "REQUEST_NOT_POSSIBLE" });
        expect(reason.context).to.deep.equal({ status: upgrade.status });
        expect(reason.message).to.contain(`has ended as ${upgrade.status},`);
      }
    });

    it("gives up a failed upgrade that waits for a decision, and gives its Task as it has ended", async () => {
      running.cancelAnswer = { _tag: "NotCancellable" };
      running.answer = judged({ request: "resolve" });
      running.task = ended("FAILED", true).task;
      expect(await service.cancelTask(upgradeId, "alice")()).to.deep.equal(E.right(running.task));
      expect(running.requests.map(({ request, origin }) => [request.name, origin.requestedBy])).to.deep.equal([
        ["resolve", "alice"],
      ]);
    });

    it("is the conflict that the upgrade itself makes of it where it was retried meanwhile", async () => {
      running.cancelAnswer = { _tag: "NotCancellable" };
      const reason = { errorCode: "REQUEST_NOT_POSSIBLE", message: "It runs again." };
      running.answer = judged({ request: "resolve", accepted: false, reason });
      expect(reasonOf(await service.cancelTask(upgradeId, "alice")())).to.include({
        tag: "Conflict",
        message: "It runs again.",
      });
    });

    it("says that it is recorded where no worker answers", async () => {
      running.cancelAnswer = { _tag: "Unanswered" };
      expect(reasonOf(await service.cancelTask(upgradeId, "alice")())).to.include({
        tag: "FailedDependency",
        errorCode: "REQUEST_NOT_YET_APPLIED",
      });
    });

    it("does not find an unknown Task", async () => {
      expect(left(await service.cancelTask(unknownId, "alice")())).to.deep.equal(notFound("task", unknownId));
    });
  });

  describe("readActivity", () => {
    const entries: ActivityEntry[] = [1, 2, 3].map((sequence) => ({ sequence, time: at, kind: "STARTED" }));

    it("gives a page of the log, how many entries are gone, and as of when it is where that is not now", async () => {
      running.activity = { _tag: "Answered", record: { entries, dropped: 7 }, asOf: at };
      const page = await service.readActivity(upgradeId, { pageNumber: 1, pageSize: 2 })();
      expect(page).to.deep.equal(
        E.right({
          elements: entries.slice(2),
          pageMetadata: { pageNumber: 1, pageSize: 2, totalElements: 3, totalPages: 2 },
          dropped: 7,
          asOf: at,
        }),
      );
    });

    it("fails where no worker answers, or the Workflow is blocked, and says what to do", async () => {
      running.activity = { _tag: "Unanswered" };
      expect(reasonOf(await service.readActivity(upgradeId)())).to.include({
        tag: "Unanswered",
        errorCode: "ACTIVITY_NOT_READABLE",
      });
      const blocked = { message: "The Workflow is blocked.", remediationMessage: "Deploy the old build." };
      running.activity = { _tag: "Unanswered", blocked };
      expect(reasonOf(await service.readActivity(upgradeId)())).to.deep.include({
        message: `The activity log of upgrade ${upgradeId} cannot be read. The Workflow is blocked.`,
        remediationMessage: "Deploy the old build.",
      });
    });

    it("does not find an unknown upgrade", async () => {
      expect(await service.readActivity(unknownId)()).to.deep.equal(E.left(notFound("upgrade", unknownId)));
    });
  });

  describe("precheck runs", () => {
    const resources = resourcesOf(samplePlan({ id: upgradeId, draft: true }));
    const second = `${upgradeId}-prechecks-2`;
    beforeEach(() => {
      running.task = applyProgress(running.task, { type: "PrechecksStarted", resources, at });
      running.task = applyProgress(running.task, { type: "PrechecksEnded", at });
      running.task = applyProgress(running.task, { type: "PrechecksStarted", resources, at });
      running.answer = judged({ request: "prechecks", run: 2 });
    });

    it("are answered as the Task of the run that the upgrade has begun", async () => {
      const answer = await service.runPrechecks(upgradeId, "alice")();
      if (E.isLeft(answer)) throw new Error(JSON.stringify(answer.left));
      expect(answer.right).to.include({ id: second, status: "In Progress", type: "PRECHECKS" });
    });

    it("are read by the id of their Task, below the upgrade and as any Task", async () => {
      const below = await service.readPrechecks(upgradeId, second)();
      expect(below).to.deep.equal(await service.getTask(second)());
      expect(below).to.have.nested.property("right.id", second);
      expect(await service.readPrechecks(upgradeId, `${upgradeId}-prechecks-1`)()).to.have.nested.property(
        "right.status",
        "Failed",
      );
    });

    it("are not found where there is no such run, or it is another upgrade's", async () => {
      const third = `${upgradeId}-prechecks-3`;
      const others = `${unknownId}-prechecks-1`;
      expect(left(await service.readPrechecks(upgradeId, third)())).to.deep.equal(notFound("precheck", third));
      expect(left(await service.readPrechecks(upgradeId, others)())).to.deep.equal(notFound("precheck", others));
      expect(left(await service.readPrechecks(unknownId, others)())).to.deep.equal(notFound("upgrade", unknownId));
      expect(left(await service.getTask(third)())).to.deep.equal(notFound("task", third));
      expect(left(await service.getTask(others)())).to.deep.equal(notFound("task", others));
    });

    it("can be neither retried nor cancelled by themselves", async () => {
      for (const result of [await service.retryTask(second, "alice")(), await service.cancelTask(second, "alice")()]) {
        expect(reasonOf(result)).to.include({ tag: "Conflict", errorCode: "REQUEST_NOT_POSSIBLE" });
      }
      const none = `${upgradeId}-prechecks-9`;
      expect(left(await service.retryTask(none, "alice")())).to.deep.equal(notFound("task", none));
      expect(running.requests).to.deep.equal([]);
    });

    it("are looked for again where the Task that is read is from before them", async () => {
      running.answer = judged({ request: "prechecks", run: 3 });
      const answer = service.runPrechecks(upgradeId, "alice")();
      await ports.timers.pass(1_000);
      running.task = applyProgress(running.task, { type: "PrechecksEnded", at });
      running.task = applyProgress(running.task, { type: "PrechecksStarted", resources, at });
      await ports.timers.pass(1_000);
      expect(await answer).to.have.nested.property("right.id", `${upgradeId}-prechecks-3`);
    });

    it("are recorded, and not to be sent again, where the upgrade has accepted and shows no run yet", async () => {
      running.answer = judged({ request: "prechecks", run: 7 });
      const answer = service.runPrechecks(upgradeId, "alice")();
      await ports.timers.pass(60_000);
      expect(reasonOf(await answer)).to.include({
        tag: "FailedDependency",
        errorCode: "REQUEST_NOT_YET_APPLIED",
      });
    });
  });
});
