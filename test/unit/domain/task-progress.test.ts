import { expect } from "chai";
import fc from "fast-check";
import * as E from "fp-ts/Either";
import type { ErrorBody } from "../../../src/domain/errors";
import { clustersOf, type UpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import { type SubTask, Task } from "../../../src/domain/spec/task";
import { clusterResultSubTask } from "../../../src/domain/task/cluster-progress";
import { hasTaskEnded, lostTask } from "../../../src/domain/task/lost-upgrade";
import { applyProgress, initialTask, type TaskProgress, withResources } from "../../../src/domain/task/task-progress";
import { clusters, sampleBundle, samplePlan } from "../../support/sample-plan";
import { arbitraryPlan, arbitraryTaskProgress, deepFreeze } from "./arbitrary-progress";
import { expectEndsAgree, expectInOrder, flat } from "./progress-checks";

/** A plan with things that happen to it. */
const story = arbitraryPlan.chain((plan) => fc.tuple(fc.constant(plan), arbitraryTaskProgress(plan)));

/** Checks every step of every story. */
function everyStep(check: (before: Task, progress: TaskProgress, after: Task, plan: UpgradePlan) => void): void {
  fc.assert(
    fc.property(story, ([plan, happenings]) => {
      happenings.reduce((before, progress) => {
        const after = applyProgress(before, progress);
        check(before, progress, after, plan);
        return after;
      }, initialTask(plan));
    }),
    { numRuns: 300 },
  );
}

/** Whether this progress tries a failed Task again, the one way out of an end. */
const isRetry = (before: Task, { type }: TaskProgress) => type === "RetryStarted" && before.isRetryable === true;

describe("initialTask", () => {
  it("holds each step of the plan once, all of them to come", () => {
    fc.assert(
      fc.property(arbitraryPlan, (plan) => {
        const { subTasks = [], ...task } = initialTask(plan);
        expect([task.id, task.status, task.isCancellable, task.isRetryable]).to.deep.equal([
          plan.id,
          "Pending",
          true,
          false,
        ]);
        const names = clustersOf(plan).map(({ resourceId }) => resourceId);
        expect(subTasks.map(({ type }) => type)).to.deep.equal([
          "PRECHECKS",
          ...plan.products.map(({ product }) => `${product}_UPGRADE`),
        ]);
        for (const part of subTasks)
          expect(part.subTasks?.map(({ resources }) => resources?.[0]?.resourceId)).to.deep.equal(names);
        expect(new Set(flat(subTasks).map(({ status }) => status))).to.deep.equal(new Set(["PENDING"]));
      }),
    );
  });
});

describe("a product that none of the clusters has", () => {
  it("does not apply from the start, says why, and takes nothing from the success of the others", () => {
    const components = [{ type: "NETVIRT", toVersion: "9.0.1" }, ...(sampleBundle.components ?? [])];
    const plan = samplePlan({ bundle: { ...sampleBundle, components } });
    const at = plan.creationTimestamp;
    const task = initialTask(plan);
    const netvirtOf = ({ subTasks = [] }: Task) => subTasks.find(({ type }) => type === "NETVIRT_UPGRADE");
    expect(netvirtOf(task)).to.deep.include({
      status: "NOT_APPLICABLE",
      description: "No cluster of the request has NETVIRT in the inventory: nothing to do.",
    });
    const ended = applyProgress(task, { type: "PhaseEntered", phase: "SUCCESSFUL", at });
    expect([ended.status, netvirtOf(ended)]).to.deep.equal(["Successful", netvirtOf(task)]);
  });
});

describe("applyProgress, whatever happens", () => {
  it("gives a Task that its codec takes and does not change", () => {
    everyStep((_before, _progress, after) => {
      expect(Task.decode(after)).to.deep.equal(E.right(after));
    });
  });

  it("changes nothing that it is given, and gives the same again", () => {
    everyStep((before, progress, after) => {
      expect(applyProgress(deepFreeze(structuredClone(before)), deepFreeze(progress))).to.deep.equal(after);
    });
  });

  it("never leaves a final status, except that a failed upgrade is retried", () => {
    everyStep((before, progress, after) => {
      if (!hasTaskEnded(before)) return;
      if (isRetry(before, progress)) expect(after.status).to.equal("Pending");
      else expect([after.status, after.subTasks]).to.deep.equal([before.status, before.subTasks]);
    });
  });

  it("leaves a Task that is not to be decided about exactly as it ended", () => {
    everyStep((before, progress, after) => {
      // One that cannot be retried can still be given up.
      const isGivenUp = progress.type === "ResolutionEnded" && before.resolutionStatus === "UNRESOLVED";
      if (hasTaskEnded(before) && before.isRetryable !== true && !isGivenUp) expect(after).to.equal(before);
    });
  });

  it("never takes back what is done: a part that has ended stays as it is until a retry", () => {
    everyStep((before, progress, after) => {
      if (isRetry(before, progress)) return;
      const now = byPath(after.subTasks);
      for (const [path, part] of byPath(before.subTasks))
        if (part.completionTimestamp !== undefined) expect(now.get(path)).to.deep.equal(part);
    });
  });

  it("takes back by a retry nothing but the clusters that it names, and only in products", () => {
    everyStep((before, progress, after) => {
      if (progress.type !== "RetryStarted" || !isRetry(before, progress)) return;
      const named = new Set(progress.resources.map(({ resourceId }) => resourceId));
      const kept = (part: SubTask) =>
        part.type !== "CLUSTER_UPGRADE" || !named.has(part.resources?.[0]?.resourceId ?? "");
      const leaves = (task: Task) => flat(task.subTasks).filter((part) => part.subTasks === undefined && kept(part));
      expect(leaves(after)).to.deep.equal(leaves(before));
      expect(after.errors).to.deep.equal(before.errors);
    });
  });

  it("keeps times in order, with an end exactly where something has ended", () => {
    everyStep((_before, progress, after) => {
      expectInOrder(after, progress.at);
      expect(after.completionTimestamp !== undefined, "Task").to.equal(hasTaskEnded(after));
      for (const part of flat(after.subTasks)) expectInOrder(part, progress.at);
      expectEndsAgree(flat(after.subTasks));
    });
  });

  it("leaves nothing to come or in progress in a Task that has ended", () => {
    everyStep((_before, _progress, after) => {
      if (!hasTaskEnded(after)) return;
      for (const part of flat(after.subTasks)) expect(part.completionTimestamp, part.name).to.be.a("string");
    });
  });

  it("calls a part successful only where each of its own parts is or needed nothing", () => {
    everyStep((_before, _progress, after) => {
      for (const { name, status, subTasks = [] } of flat(after.subTasks))
        if (status === "SUCCESSFUL")
          for (const part of subTasks) expect(part.status, name).to.be.oneOf(["SUCCESSFUL", "NOT_APPLICABLE"]);
    });
  });

  it("keeps every error that it was given, and every product with its clusters once", () => {
    everyStep((before, _progress, after, plan) => {
      expect((after.errors ?? []).slice(0, before.errors?.length ?? 0)).to.deep.equal(before.errors ?? []);
      const upgrades = flat(after.subTasks).filter(({ type }) => type === "CLUSTER_UPGRADE");
      expect(upgrades.map(({ resources }) => resources?.[0]?.resourceId)).to.deep.equal(
        clustersOf(plan).map(({ resourceId }) => resourceId),
      );
    });
  });

  it("can be cancelled until it ends, and retried only where it has failed", () => {
    everyStep((_before, _progress, after) => {
      expect(after.isCancellable).to.equal(!hasTaskEnded(after));
      if (after.isRetryable === true) expect(after.status).to.equal("Failed");
      if (after.status === "Failed") expect(after.resolutionStatus).to.be.oneOf(["UNRESOLVED", "RESOLVED"]);
    });
  });

  it("can be lost at every step: the Task is then failed, for good", () => {
    everyStep((_before, { at }, after) => {
      if (hasTaskEnded(after)) return;
      const lost = lostTask(after, "TERMINATED", at);
      expect(E.isRight(Task.decode(lost))).to.equal(true);
      expect([lost.status, lost.isRetryable, lost.isCancellable]).to.deep.equal(["Failed", false, false]);
      expect(lost.errors?.at(-1)?.errorCode).to.equal("UPGRADE_LOST");
      expect(flat(lost.subTasks).filter(({ completionTimestamp }) => completionTimestamp === undefined)).to.deep.equal(
        [],
      );
    });
  });
});

describe("applyProgress", () => {
  const plan = samplePlan({ resources: clusters(2), now: Date.parse("2026-11-01T00:00:00Z") });
  const [first, second] = clustersOf(plan);
  const at = "2026-11-01T01:00:00.000Z";
  const error: ErrorBody = { message: "It broke.", errorCode: "UNEXPECTED" };
  const hosts = { total: 3, upgraded: 3, skipped: 0, failed: 0, left: 0 };
  const after = (...happenings: TaskProgress[]) => happenings.reduce(applyProgress, initialTask(plan));
  const ended = (outcome: "SUCCESSFUL" | "FAILED", cluster = first): TaskProgress => ({
    type: "ResourceChanged",
    resourceId: cluster?.resourceId ?? "",
    subTask: clusterResultSubTask(cluster!, { outcome, hosts }, at, at),
    at,
  });
  const begun: TaskProgress[] = [
    { type: "ProductStarted", product: "HOSTOS", at },
    { type: "ResourceStarted", resourceId: first?.resourceId ?? "", at },
  ];

  it("ends a product as failed where one of its clusters never had its turn", () => {
    const task = after(...begun, ended("SUCCESSFUL"), { type: "ProductEnded", product: "HOSTOS", at });
    const product = task.subTasks?.at(-1);
    expect([product?.status, ...(product?.subTasks ?? []).map(({ status }) => status)]).to.deep.equal([
      "FAILED",
      "SUCCESSFUL",
      "NOT_APPLICABLE",
    ]);
  });

  it("ignores clusters of a product that is not under way", () => {
    const task = after(...begun.slice(1), ended("SUCCESSFUL"));
    expect(task).to.deep.equal(initialTask(plan));
  });

  it("numbers the runs of the prechecks and keeps the earlier ones", () => {
    const run = (cluster = first): TaskProgress[] => [
      { type: "PrechecksStarted", resources: [cluster!], at },
      { type: "ResourcePrechecked", resourceId: cluster?.resourceId ?? "", stages: [], at },
      { type: "PrechecksEnded", at },
    ];
    const names = after(...run(), ...run(second)).subTasks?.map(({ name, status }) => `${name}: ${status}`);
    expect(names).to.deep.equal(["Prechecks: SUCCESSFUL", "Prechecks, run 2: SUCCESSFUL", "Upgrade HOSTOS: PENDING"]);
  });

  it("says of a retried upgrade that it is resolved, once it has succeeded", () => {
    const failed = after({ type: "PhaseEntered", phase: "FAILED", errors: [error], at });
    expect([failed.resolutionStatus, failed.isRetryable]).to.deep.equal(["UNRESOLVED", true]);
    const retried = applyProgress(failed, { type: "RetryStarted", resources: clustersOf(plan), at });
    expect([retried.status, retried.resolutionStatus, retried.errors]).to.deep.equal([
      "Pending",
      "UNRESOLVED",
      [error],
    ]);
    const done = applyProgress(retried, { type: "PhaseEntered", phase: "SUCCESSFUL", at });
    expect([done.status, done.resolutionStatus, done.errors]).to.deep.equal(["Successful", "RESOLVED", [error]]);
  });

  it("marks what was under way when it was cancelled, and what had not begun", () => {
    const task = after(...begun, { type: "PhaseEntered", phase: "CANCELLED", at });
    const product = task.subTasks?.at(-1);
    expect(product?.subTasks?.map((part) => [part.status, part.errors?.[0]?.errorCode])).to.deep.equal([
      ["FAILED", "CANCELLED"],
      ["NOT_APPLICABLE", undefined],
    ]);
  });
});

describe("withResources", () => {
  const plan = samplePlan({ resources: clusters(1), now: Date.parse("2026-11-01T00:00:00Z") });
  const [cluster] = clustersOf(plan);
  const at = "2026-11-01T01:00:00.000Z";
  const hosts = { total: 1, upgraded: 0, skipped: 0, failed: 0, left: 1 };

  it("shows the hosts that the cluster's own Workflow knows, in products only", () => {
    const own: SubTask = { ...clusterResultSubTask(cluster!, { outcome: "SUCCESSFUL", hosts }, at, at), subTasks: [] };
    const task = withResources(initialTask(plan), new Map([[cluster!.resourceId, own]]));
    expect(task.subTasks?.[0]).to.deep.equal(initialTask(plan).subTasks?.[0]);
    expect(task.subTasks?.[1]?.subTasks).to.deep.equal([own]);
  });
});

/** Parts, however deep, by the names of those that they are in. */
function byPath(parts: readonly SubTask[] = [], within = ""): Map<string, SubTask> {
  return new Map(
    parts.flatMap((part) => {
      const path = `${within}/${part.name}`;
      return [[path, part] as const, ...byPath(part.subTasks, path)];
    }),
  );
}
