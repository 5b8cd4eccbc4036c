import { expect } from "chai";
import fc from "fast-check";
import * as E from "fp-ts/Either";
import { type ClusterKind, clustersOf } from "../../../src/domain/plan/upgrade-plan";
import { SubTask } from "../../../src/domain/spec/task";
import {
  applyClusterProgress,
  applyHostActivity,
  type ClusterProgress,
  clusterResultSubTask,
  clusterStages,
  countHosts,
  initialClusterSubTask,
  mergeCluster,
} from "../../../src/domain/task/cluster-progress";
import { hostStages } from "../../../src/domain/task/host-remediation";
import { stagesOf } from "../../../src/domain/task/resource-stages";
import { sampleError, sampleHosts } from "../../support/fake-activities";
import { clusters, samplePlan } from "../../support/sample-plan";
import { arbitraryClusterProgress, deepFreeze } from "./arbitrary-progress";
import { expectEndsAgree, expectInOrder, flat } from "./progress-checks";

const created = "2026-11-01T00:00:00.000Z";
const at = "2026-11-01T01:00:00.000Z";
const [cluster] = clustersOf(samplePlan({ resources: clusters(1), now: Date.parse(created) }));
const initial = initialClusterSubTask(cluster!, created);

/** Checks every step of every sequence of things that may be said of a cluster. */
function everyStep(check: (before: SubTask, progress: ClusterProgress, after: SubTask) => void): void {
  fc.assert(
    fc.property(arbitraryClusterProgress, (happenings) => {
      happenings.reduce((before, progress) => {
        const after = applyClusterProgress(before, progress);
        check(before, progress, after);
        return after;
      }, initial);
    }),
    { numRuns: 300 },
  );
}

const isOver = (part: SubTask) => part.completionTimestamp !== undefined;

describe("initialClusterSubTask", () => {
  it("says how many hosts at a time, and why no more where the rollout policy allows more", () => {
    const told = (hostsAtOnce: number, hostosUpgradeOptionsSpec = {}, kind: ClusterKind = "IMAGE") => {
      const resources = clusters(1).map((resource) => ({ ...resource, hostosUpgradeOptionsSpec }));
      const [one] = clustersOf(samplePlan({ resources, kinds: [kind], rollout: { hostsAtOnce } }));
      return initialClusterSubTask(one!, created).description.replace(/^[^,]*, /, "");
    };
    expect(told(1)).to.equal("one after another.");
    expect(told(3)).to.equal("3 at a time.");
    expect(told(3, { disableHac: true }, "BASELINE")).to.equal("3 at a time.");
    expect(told(1, { disableHac: true })).to.equal("one after another.");
    for (const options of [{ disableHac: true }, { disableDpm: true }, { preRemediationPowerAction: "SUSPEND_VMS" }])
      expect(told(3, options)).to.equal("3 at a time.");
    expect(told(3, { preRemediationPowerAction: "SUSPEND_VMS_TO_MEMORY" })).to.match(
      /^one after another \(its rollout policy allows 3 at a time, but .*to memory.*\)\.$/,
    );
  });
});

describe("applyClusterProgress, whatever happens", () => {
  it("gives a SubTask that its codec takes and does not change", () => {
    everyStep((_before, _progress, after) => {
      expect(SubTask.decode(after)).to.deep.equal(E.right(after));
    });
  });

  it("changes nothing that it is given, and gives the same again", () => {
    everyStep((before, progress, after) => {
      expect(applyClusterProgress(deepFreeze(structuredClone(before)), deepFreeze(progress))).to.deep.equal(after);
    });
  });

  it("leaves a cluster that has ended exactly as it is", () => {
    everyStep((before, _progress, after) => {
      if (isOver(before)) expect(after).to.equal(before);
    });
  });

  it("ends a cluster by its end alone, with every host and Stage", () => {
    everyStep((before, progress, after) => {
      if (!isOver(before)) expect(isOver(after)).to.equal(progress.type === "Ended");
      expectEndsAgree(flat([after]));
    });
  });

  it("never takes back what is done: hosts and Stages that have ended stay as they are", () => {
    everyStep((before, _progress, after) => {
      const now = new Map(after.subTasks?.map((host) => [host.name, host]));
      for (const host of before.subTasks ?? []) if (isOver(host)) expect(now.get(host.name)).to.deep.equal(host);
      for (const stage of before.stages ?? [])
        if (stage.completionTimestamp !== undefined)
          expect(after.stages?.find(({ type }) => type === stage.type)).to.deep.equal(stage);
    });
  });

  it("counts every host once, and never counts back", () => {
    everyStep((before, _progress, after) => {
      const [was, is] = [countHosts(before), countHosts(after)];
      for (const what of ["upgraded", "skipped", "failed"] as const) expect(is[what]).to.be.at.least(was[what]);
      if (was.total > 0) expect(is.total).to.equal(was.total);
      if (was.total > 0) expect(is.left).to.be.at.most(was.left);
      const inWork = (after.subTasks ?? []).filter(({ status }) => status === "IN_PROGRESS").length;
      expect(is.upgraded + is.skipped + is.failed + is.left + inWork).to.equal(is.total);
    });
  });

  it("keeps times in order", () => {
    everyStep((_before, progress, after) => {
      for (const part of flat([after])) {
        expectInOrder(part, progress.at);
        for (const stage of part.stages ?? []) expectInOrder(stage, progress.at);
      }
    });
  });

  it("reads the hosts once, and keeps their order", () => {
    everyStep((before, _progress, after) => {
      if (before.subTasks) expect(names(after)).to.deep.equal(names(before));
    });
  });

  it("shows no Stages for what was never begun once it has ended", () => {
    everyStep((_before, _progress, after) => {
      for (const part of flat([after]))
        if (isOver(part)) expect(part.stages?.filter(({ status }) => status === "PENDING") ?? []).to.deep.equal([]);
    });
  });

  it("can be overlaid with a pending Activity at every step: only a host in work changes, and no status", () => {
    everyStep((_before, _progress, after) => {
      const shown = applyHostActivity(deepFreeze(structuredClone(after)), {
        host: "host-1",
        maximumAttempts: 3,
        nextAttemptAt: at,
        lastError: sampleError("HOST_REMEDIATION_FAILED"),
      });
      expect(E.isRight(SubTask.decode(shown))).to.equal(true);
      expect(flat([shown]).map(({ status }) => status)).to.deep.equal(flat([after]).map(({ status }) => status));
      for (const [i, host] of (shown.subTasks ?? []).entries())
        if (host.status !== "IN_PROGRESS") expect(host).to.deep.equal(after.subTasks?.[i]);
    });
  });

  it("can end without a word at every step: merged with what its upgrade knows, all of it has ended", () => {
    const hosts = { total: 0, upgraded: 0, skipped: 0, failed: 0, left: 0 };
    everyStep((_before, progress, after) => {
      const known = clusterResultSubTask(
        cluster!,
        { outcome: "FAILED", hosts, error: sampleError("CLUSTER_WORKFLOW_LOST") },
        created,
        progress.at,
      );
      const merged = mergeCluster(known, deepFreeze(structuredClone(after)));
      if (isOver(after)) expect(merged).to.deep.equal(after);
      else expect([merged.status, merged.errors?.[0]?.errorCode]).to.deep.equal(["FAILED", "CLUSTER_WORKFLOW_LOST"]);
      expectEndsAgree(flat([merged]));
      expect(countHosts(merged).upgraded).to.equal(countHosts(after).upgraded);
    });
  });
});

describe("applyClusterProgress", () => {
  const after = (...happenings: ClusterProgress[]) => happenings.reduce(applyClusterProgress, initial);
  const hosts = sampleHosts(3).map((host, i) => ({ ...host, atTarget: i < 2 }));
  const read = (...upgradedBefore: string[]): ClusterProgress => ({ type: "HostsRead", hosts, upgradedBefore, at });
  const statuses = (subTask: SubTask) => subTask.subTasks?.map(({ status }) => status);

  it("tells a host that an earlier attempt has upgraded from one that needed nothing", () => {
    const subTask = after(read("host-1"));
    expect(statuses(subTask)).to.deep.equal(["SUCCESSFUL", "NOT_APPLICABLE", "PENDING"]);
    expect(countHosts(subTask)).to.deep.equal({ total: 3, upgraded: 1, skipped: 1, failed: 0, left: 1 });
    expect(subTask.subTasks?.[0]?.description).to.contain("earlier attempt");
  });

  it("names each host as what it is, with its Stages to come", () => {
    const [, , host] = after(read()).subTasks ?? [];
    expect(host?.resources).to.deep.equal([
      { resourceId: "host-3", fqdn: "esx-03.example.com", name: "esx-03.example.com", type: "HOSTOS_HOST" },
    ]);
    expect(host?.stages?.map(({ type }) => type)).to.deep.equal(Object.keys(hostStages));
  });

  it("ends the Stage in which a host failed with the error of the host", () => {
    const error = sampleError("HOST_REMEDIATION_FAILED");
    const stages = stagesOf(hostStages, created).map((stage, i) =>
      i === 0 ? { ...stage, status: "IN_PROGRESS" as const } : stage,
    );
    const subTask = after(
      read(),
      { type: "HostStarted", host: "host-3", at },
      { type: "HostFailed", host: "host-3", error, stages, at },
    );
    const host = subTask.subTasks?.[2];
    expect([host?.status, host?.errors, host?.stages?.length]).to.deep.equal(["FAILED", [error], 1]);
    expect(host?.stages?.[0]).to.include({ status: "FAILED", completionTimestamp: at });
    expect(host?.stages?.[0]?.errors).to.deep.equal([error]);
  });

  it("marks the host that was in work when the cluster was cancelled, and those after it", () => {
    const subTask = after(
      read(),
      { type: "StageStarted", stage: "UPGRADE_HOSTS", at },
      { type: "HostStarted", host: "host-3", at },
      { type: "Ended", outcome: "CANCELLED", at },
    );
    expect(statuses(subTask)).to.deep.equal(["NOT_APPLICABLE", "NOT_APPLICABLE", "FAILED"]);
    expect(subTask.subTasks?.[2]?.errors?.[0]?.errorCode).to.equal("CANCELLED");
    expect(subTask.stages?.map(({ type, status }) => `${type} ${status}`)).to.deep.equal(["UPGRADE_HOSTS FAILED"]);
  });

  it("begins with the Stages of a cluster in their order", () => {
    expect(initial.stages?.map(({ type }) => type)).to.deep.equal(Object.keys(clusterStages));
  });
});

describe("mergeCluster", () => {
  it("says of hosts whose Workflow ended without a word that their state is unknown, not that they did not begin", () => {
    const own = [
      { type: "HostsRead", hosts: sampleHosts(3), upgradedBefore: [], at },
      { type: "HostStarted", host: "host-1", at },
      {
        type: "HostSucceeded",
        host: "host-1",
        result: { host: "host-1", outcome: "UPGRADED", version: "9.0.2", stages: [] },
        at,
      },
      { type: "HostStarted", host: "host-2", at },
    ] satisfies ClusterProgress[];
    const hosts = { total: 3, upgraded: 1, skipped: 0, failed: 0, left: 2 };
    const error = sampleError("CLUSTER_WORKFLOW_LOST");
    const known = clusterResultSubTask(cluster!, { outcome: "FAILED", hosts, error }, created, at);
    const merged = mergeCluster(known, own.reduce<SubTask>(applyClusterProgress, initial));
    expect(merged.subTasks?.map(({ status }) => status)).to.deep.equal(["SUCCESSFUL", "FAILED", "NOT_APPLICABLE"]);
    expect(merged.subTasks?.[1]?.errors).to.deep.equal([error]);
    expect(merged.subTasks?.map(({ description }) => description.includes("State unknown"))).to.deep.equal([
      false,
      true,
      true,
    ]);
  });
});

describe("applyHostActivity", () => {
  const inWork = [
    { type: "HostsRead", hosts: sampleHosts(2), upgradedBefore: [], at },
    { type: "HostStarted", host: "host-1", at },
  ] satisfies ClusterProgress[];
  const subTask = inWork.reduce<SubTask>(applyClusterProgress, initial);
  const error = sampleError("HOST_REMEDIATION_FAILED");

  it("says between two attempts which one comes, when, and after what", () => {
    const progress = { reportedFailures: 1, activity: "Remediating.", stages: [], maximumAttempts: 4 };
    const [host] =
      applyHostActivity(subTask, {
        host: "host-1",
        progress,
        lastError: error,
        nextAttemptAt: at,
        maximumAttempts: 3,
      }).subTasks ?? [];
    expect(host?.description).to.equal(`Attempt 2 of 4 starts at ${at}, after: ${error.message}`);
    expect([host?.errors, host?.stages]).to.deep.equal([[error], []]);
  });

  it("says that a host waits for a worker, without attempts where there is one only", () => {
    const [host] = applyHostActivity(subTask, { host: "host-1", maximumAttempts: 1 }).subTasks ?? [];
    expect(host?.description).to.equal("Waiting for a worker.");
    expect(host).to.not.have.property("errors");
  });
});

function names({ subTasks = [] }: SubTask): string[] {
  return subTasks.map(({ name }) => name);
}
