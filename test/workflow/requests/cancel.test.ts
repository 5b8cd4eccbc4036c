import { expect } from "chai";
import { eventually } from "../../support/eventually";
import {
  activityFailure,
  FakeActivities,
  Gate,
  hostFailure,
  hostProgress,
  passedCheck,
  sampleHosts,
  upgraded,
  type OneHostInput,
} from "../../support/fake-activities";
import { quickHeartbeats } from "../../support/quick-heartbeats";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const retryLater = { hostosUpgradeFailureAction: { action: "RETRY", retryCount: 2, retryDelay: 3600 } } as const;

describe("Cancelling an upgrade", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** Task cancelled for good, Workflow closed as cancelled, and what the memo says agrees. */
  async function expectCancelled(upgrade: RunningUpgrade): Promise<void> {
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(await upgrade.statuses()).to.equal("Cancelled / CANCELLED");
    const { isCancellable, isRetryable, completionTimestamp } = await upgrade.task();
    expect({ isCancellable, isRetryable }).to.deep.equal({ isCancellable: false, isRetryable: false });
    expect(completionTimestamp).to.be.a("string");
    const memo = await upgrade.memo();
    expect([memo.task.status, memo.upgrade.status]).to.deep.equal(["Cancelled", "CANCELLED"]);
    expect(memo.upgrade.endTime).to.be.a("number");
  }

  const statusesOf = async (upgrade: RunningUpgrade) =>
    ((await upgrade.task()).subTasks ?? []).map(({ type, status }) => `${type} ${status}`);

  it("ends a draft that waits for its commit", async () => {
    const upgrade = await bench().upgrade({ draft: true });
    await upgrade.untilStatuses("Pending / DRAFT");
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    expect(upgrade.fake.changes).to.deep.equal([]);
    expect(await upgrade.childEnd()).to.equal(undefined);
    expect(await statusesOf(upgrade)).to.deep.equal(["PRECHECKS SUCCESSFUL", "HOSTOS_UPGRADE NOT_APPLICABLE"]);
  });

  it("ends an upgrade that waits for its time and gives its clusters back", async () => {
    const scheduledTimestamp = await bench().inTime(1_800_000);
    const resources = clusters(2).map((cluster) => ({ ...cluster, scheduledTimestamp }));
    const upgrade = await bench().upgrade({ resources });
    await upgrade.untilStatuses("Pending / SCHEDULED");
    await upgrade.child(1);
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    expect(await Promise.all([upgrade.childEnd(0), upgrade.childEnd(1)])).to.deep.equal(["CANCELLED", "CANCELLED"]);
    expect((await upgrade.resourceMemo()).subTask.status).to.equal("NOT_APPLICABLE");
    expect(upgrade.fake.changes).to.deep.equal([]);
  });

  it("ends the prechecks", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      runClusterPrechecks: async () => {
        await gate.pass();
        return { stages: passedCheck() };
      },
    });
    const upgrade = await bench().upgrade({ resources: clusters(2) }, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    expect(fake.changes).to.deep.equal([]);
    expect(await Promise.all([upgrade.childEnd(0), upgrade.childEnd(1)])).to.deep.equal(["CANCELLED", "CANCELLED"]);
    expect(await statusesOf(upgrade)).to.deep.equal(["PRECHECKS FAILED", "HOSTOS_UPGRADE NOT_APPLICABLE"]);
  });

  it("waits in the middle of a host until the host has come to its end, then restores the policy", async () => {
    const gate = new Gate();
    const events: string[] = [];
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        try {
          await gate.pass();
        } finally {
          events.push("safe end begins");
          await Promise.resolve();
          events.push("safe end done");
        }
        return upgraded(input);
      },
      restoreRemediationPolicy: async () => void events.push("restored"),
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    expect(events).to.deep.equal(["safe end begins", "safe end done", "restored"]);
    expect(fake.remediations).to.have.length(1);
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
    expect(await upgrade.hosts()).to.deep.equal(["FAILED", "NOT_APPLICABLE", "NOT_APPLICABLE"]);
    const { subTask } = await upgrade.resourceMemo();
    expect(subTask.status).to.equal("FAILED");
    expect(subTask.errors?.[0]?.errorCode).to.equal("CANCELLED");
    expect(subTask.subTasks?.[0]?.errors?.[0]?.errorCode).to.equal("CANCELLED");
    expect(subTask.subTasks?.[1]).to.not.have.any.keys("stages", "errors");
    const product = (await upgrade.task()).subTasks?.[1];
    expect(product?.status).to.equal("FAILED");
    expect(product?.subTasks?.[0]?.errors?.[0]?.errorCode).to.equal("CANCELLED");
  });

  it("begins no further host where the one in work is upgraded all the same", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        await gate.pass().catch(() => undefined);
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    expect(fake.remediations).to.have.length(1);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "NOT_APPLICABLE", "NOT_APPLICABLE"]);
    expect(fake.changes.at(-1)).to.equal(`restorePolicy ${upgrade.resourceId()}`);
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
  });

  it("is cancelled also where the host in work was the last one and is upgraded all the same", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      readClusterHosts: () => Promise.resolve(sampleHosts(1)),
      remediateHost: async (input) => {
        await gate.pass().catch(() => undefined);
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL"]);
    expect(await statusesOf(upgrade)).to.deep.equal(["PRECHECKS SUCCESSFUL", "HOSTOS_UPGRADE SUCCESSFUL"]);
    expect((await upgrade.task()).localizableDescriptionPack?.message).to.contain("1 upgraded");
  });

  it("keeps what was done: a cluster that had ended stays successful beside one that is cancelled", async () => {
    const gate = new Gate();
    const resources = clusters(2);
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (input.cluster.resourceId === resources[1]?.resourceId) await gate.pass();
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({ resources }, fake);
    await gate.reached;
    expect(await upgrade.childEnd(0)).to.equal("COMPLETED");
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    const product = (await upgrade.task()).subTasks?.[1];
    expect(product?.subTasks?.map(({ status }) => status)).to.deep.equal(["SUCCESSFUL", "FAILED"]);
  });

  it("does not wait for the end of a retry delay", async () => {
    const resources = clusters(1).map((cluster) => ({ ...cluster, hostosUpgradeOptionsSpec: retryLater }));
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        throw input.stop ? activityFailure("CANCELLED") : hostFailure(input);
      },
    });
    const upgrade = await bench().upgrade({ resources }, fake);
    await eventually(
      async () => (await (await upgrade.child()).describe()).raw.pendingActivities?.[0]?.attempt,
      (attempt) => attempt === 2,
    );
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
    expect(fake.changes.at(-1)).to.equal(`restorePolicy ${upgrade.resourceId()}`);
    expect(fake.remediations.filter(({ stop }) => !stop)).to.have.length(1);
  });

  it("changes nothing where the hosts had only been read", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ readClusterHosts: () => gate.pass().then(() => sampleHosts()) });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    expect(fake.changes).to.deep.equal([]);
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
  });

  it("restores the policy where it comes while the policy is being set", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ putRemediationPolicy: () => gate.pass().catch(() => undefined) });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    const { subTask } = await upgrade.resourceMemo();
    expect(subTask.stages?.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      "READ_HOSTS SUCCESSFUL",
      "PUT_REMEDIATION_POLICY SUCCESSFUL",
      "RESTORE_REMEDIATION_POLICY SUCCESSFUL",
    ]);
    const id = upgrade.resourceId();
    expect(fake.changes).to.deep.equal([`putPolicy ${id}`, `restorePolicy ${id}`]);
  });

  it("takes effect when it comes while no worker runs", async () => {
    const upgrade = await bench().upgrade({ draft: true });
    await upgrade.untilStatuses("Pending / DRAFT");
    await bench().stopWorker();
    await upgrade.handle.cancel();
    await bench().startWorker();
    await expectCancelled(upgrade);
  });

  it("stops what still runs on a host whose worker was stopped, once a worker is back", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (input.stop) throw activityFailure("CANCELLED");
        await gate.pass({ ...hostProgress(input, 0), remoteTask: "task-7" });
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await bench().stopWorker();
    await upgrade.handle.cancel();
    await bench().startWorker();
    await expectCancelled(upgrade);
    expectStopped(fake.remediations.at(-1));
    expect(fake.changes.at(-1)).to.equal(`restorePolicy ${upgrade.resourceId()}`);
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
    expect(await upgrade.hosts()).to.deep.equal(["FAILED", "NOT_APPLICABLE", "NOT_APPLICABLE"]);
  });

  it("stops what a killed worker has left running on a host, whatever becomes of the run that followed", async () => {
    const [first, second] = [new Gate(), new Gate()];
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (input.stop) throw activityFailure("CANCELLED");
        if (!input.resume) await first.die({ ...hostProgress(input, 0), remoteTask: "task-7" });
        await second.pass();
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({ resources: clusters(1, quickHeartbeats) }, fake);
    await second.reached;
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    expectStopped(fake.remediations.at(-1));
    expect(fake.remediations).to.have.length(3);
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
  });

  it("shows a host as upgraded that turns out to be when it is to be stopped", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (!input.stop) await gate.pass(hostProgress(input, 0));
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await bench().stopWorker();
    await upgrade.handle.cancel();
    await bench().startWorker();
    await expectCancelled(upgrade);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "NOT_APPLICABLE", "NOT_APPLICABLE"]);
  });

  function expectStopped(input: OneHostInput | undefined): void {
    expect([input?.stop, input?.resume?.remoteTask]).to.deep.equal([true, "task-7"]);
  }

  it("keeps the error of a host that could not be brought to a safe end", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        await gate.pass().catch(() => undefined);
        throw hostFailure(input, 1, "HOST_NOT_RECONNECTED");
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    const [host] = (await upgrade.resourceMemo()).subTask.subTasks ?? [];
    expect([host?.status, host?.errors?.[0]?.errorCode]).to.deep.equal(["FAILED", "HOST_NOT_RECONNECTED"]);
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
  });

  it("keeps the errors of clusters that had failed before", async () => {
    const gate = new Gate();
    const resources = clusters(2);
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (input.cluster.resourceId === resources[0]?.resourceId) throw hostFailure(input);
        await gate.pass();
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({ resources }, fake);
    await gate.reached;
    expect(await upgrade.childEnd(0)).to.equal("FAILED");
    await upgrade.handle.cancel();
    await expectCancelled(upgrade);
    expect((await upgrade.task()).errors?.map(({ context }) => context?.["resourceId"])).to.deep.equal([
      upgrade.resourceId(0),
    ]);
  });
});

describe("A cancelled upgrade", function () {
  this.timeout(60_000);
  // A host that is not as it should be is looked at again after half a minute.
  const bench = useBench("TIME_SKIPPING");

  it("tells what hosts run, and how the one is that was in work", async () => {
    const gate = new Gate();
    let isCancelled = false;
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (input.host.host === "host-1") return upgraded(input);
        await gate.pass();
        return upgraded(input);
      },
      readClusterHosts: () =>
        Promise.resolve(
          sampleHosts().map((host) => ({
            ...host,
            ...(host.host === "host-1" && isCancelled && { version: "9.0.2-0.25148076", atTarget: true }),
            ...(host.host === "host-2" && isCancelled && { inMaintenanceMode: true, connection: "not_responding" }),
          })),
        ),
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    isCancelled = true;
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    const [done, interrupted, notBegun] = (await upgrade.resourceMemo()).subTask.subTasks ?? [];
    expect(done?.status).to.equal("SUCCESSFUL");
    expect(interrupted?.hostState).to.deep.equal({
      version: "9.0.0-0.24755229",
      inMaintenanceMode: true,
      connection: "not_responding",
    });
    expect(interrupted?.description).to.contain("runs 9.0.0-0.24755229, is not_responding and in maintenance mode.");
    expect([notBegun?.reasonCode, notBegun?.hostState]).to.deep.equal(["NOT_STARTED", undefined]);
    const { task, upgrade: published } = await upgrade.memo();
    expect(published.hosts, "none runs any more").to.deep.equal({ total: 3, done: 1, running: 0, failed: 1, left: 1 });
    expect(published.hostVersions).to.deep.equal([
      { version: "9.0.0-0.24755229", hosts: 2 },
      { version: "9.0.2-0.25148076", hosts: 1 },
    ]);
    const message = task.localizableDescriptionPack?.message;
    expect(message).to.contain("Hosts by version: 2 on 9.0.0-0.24755229, 1 on 9.0.2-0.25148076.");
  });
});
