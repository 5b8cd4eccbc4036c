import { expect } from "chai";
import {
  failedCheck,
  FakeActivities,
  Gate,
  hostFailure,
  passedCheck,
  sampleError,
  upgraded,
} from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const failed = "Failed / COMPLETED_WITH_FAILURE";

/** Activities of which one host of one cluster fails until it is mended. */
class BrokenHost {
  broken = true;
  readonly fake: FakeActivities;

  constructor(resourceId: string | undefined, host: string) {
    this.fake = new FakeActivities({
      remediateHost: async (input) => {
        if (this.broken && input.cluster.resourceId === resourceId && input.host.host === host)
          throw hostFailure(input);
        return upgraded(input);
      },
    });
  }

  get remediated(): string[] {
    return this.fake.remediations.map(({ cluster, host }) => `${cluster.resourceId}/${host.host}`);
  }
}

describe("A failed upgrade", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  async function failAtHost2(count = 1): Promise<{ upgrade: RunningUpgrade; activities: BrokenHost }> {
    const resources = clusters(count);
    const activities = new BrokenHost(resources[0]?.resourceId, "host-2");
    const upgrade = await bench().upgrade({ resources }, activities.fake);
    await upgrade.untilStatuses(failed);
    return { upgrade, activities };
  }

  it("has stopped the cluster of the failed host, finished the others, and put every policy back", async () => {
    const { upgrade, activities } = await failAtHost2(2);
    const [broken, sound] = [upgrade.resourceId(0), upgrade.resourceId(1)];
    expect(activities.remediated).to.have.members([
      `${broken}/host-1`,
      `${broken}/host-2`,
      ...[1, 2, 3].map((n) => `${sound}/host-${n}`),
    ]);
    expect(activities.fake.changes).to.include(`restorePolicy ${broken}`).and.to.include(`restorePolicy ${sound}`);
    expect(await upgrade.hosts(0)).to.deep.equal(["SUCCESSFUL", "FAILED", "NOT_APPLICABLE"]);
    expect(await upgrade.hosts(1)).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
    const [, host, notBegun] = (await upgrade.subTask(0)).subTasks ?? [];
    expect(host?.errors?.[0]?.errorCode).to.equal("HOST_REMEDIATION_FAILED");
    expect(host?.stages?.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      "CHECK_COMPLIANCE SUCCESSFUL",
      "REMEDIATE FAILED",
    ]);
    expect(notBegun).to.not.have.any.keys("stages", "errors");
  });

  it("names cluster and host in its errors, and can be retried but not cancelled", async () => {
    const { upgrade } = await failAtHost2(2);
    const { errors = [], isRetryable, isCancellable, resolutionStatus, completionTimestamp } = await upgrade.task();
    expect(errors).to.have.length(1);
    expect(errors[0]?.message).to.contain(`${upgrade.resourceId()}-name`).and.to.contain("esx-02.example.com");
    expect(errors[0]?.context?.["resourceId"]).to.equal(upgrade.resourceId());
    expect(errors[0]?.nestedErrors?.[0]?.errorCode).to.equal("HOST_REMEDIATION_FAILED");
    expect({ isRetryable, isCancellable, resolutionStatus }).to.deep.equal({
      isRetryable: true,
      isCancellable: false,
      resolutionStatus: "UNRESOLVED",
    });
    expect(completionTimestamp).to.be.a("string");
  });

  it("holds no lock, while its Workflow stays open: another upgrade of the cluster runs", async () => {
    const { upgrade } = await failAtHost2();
    expect(await upgrade.childEnd()).to.equal("FAILED");
    expect((await upgrade.handle.describe()).status.name).to.equal("RUNNING");
    const other = await bench().upgrade({ resources: upgrade.plan.spec.resourceUpgradeSpecs });
    expect(await other.end()).to.equal("SUCCESSFUL");
  });

  it("goes on after retry in the same run: skips what is done, keeps its errors, ends as resolved", async () => {
    const { upgrade, activities } = await failAtHost2(2);
    const before = activities.remediated.length;
    const { runId } = await upgrade.handle.describe();
    activities.broken = false;
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const broken = upgrade.resourceId();
    expect(activities.remediated.slice(before)).to.deep.equal([`${broken}/host-2`, `${broken}/host-3`]);
    expect((await upgrade.handle.describe()).runId).to.equal(runId);
    expect(await upgrade.hosts(0)).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
    const { errors = [], resolutionStatus, isRetryable, status, subTasks = [] } = await upgrade.task();
    expect({ errors: errors.length, resolutionStatus, isRetryable, status }).to.deep.equal({
      errors: 1,
      resolutionStatus: "RESOLVED",
      isRetryable: false,
      status: "Successful",
    });
    expect(subTasks.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      "PRECHECKS SUCCESSFUL",
      "PRECHECKS SUCCESSFUL",
      "HOSTOS_UPGRADE SUCCESSFUL",
    ]);
    expect(subTasks.at(-1)?.subTasks?.map(({ status }) => status)).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL"]);
  });

  it("shows that it is under way again as soon as a retry is accepted", async () => {
    const { upgrade, activities } = await failAtHost2(2);
    activities.broken = false;
    await upgrade.ask("retry");
    const { status, isRetryable, isCancellable, completionTimestamp } = await upgrade.task();
    expect(status).to.be.oneOf(["Pending", "In Progress", "Successful"]);
    expect(isRetryable).to.equal(false);
    if (status !== "Successful") expect([isCancellable, completionTimestamp]).to.deep.equal([true, undefined]);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("can fail and be retried again and again, and refuses a second retry while it runs", async () => {
    const { upgrade, activities } = await failAtHost2();
    for (const failures of [2, 3]) {
      const outcomes = await Promise.all([upgrade.ask("retry"), upgrade.ask("retry")]);
      expect(outcomes.filter(({ accepted }) => accepted)).to.have.length(1);
      const loser = outcomes.find(({ accepted }) => !accepted);
      expect(loser?.reason?.message).to.match(/already being retried/);
      await upgrade.untilStatuses(failed);
      expect((await upgrade.task()).errors).to.have.length(failures);
    }
    activities.broken = false;
    await upgrade.ask("retry");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
  });

  it("is given up by resolve: closes as failed, for good", async () => {
    const { upgrade } = await failAtHost2();
    expect((await upgrade.ask("resolve")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("FAILED");
    expect(await upgrade.statuses()).to.equal(failed);
    const { resolutionStatus, isRetryable, isCancellable } = (await upgrade.memo()).task;
    expect({ resolutionStatus, isRetryable, isCancellable }).to.deep.equal({
      resolutionStatus: "RESOLVED",
      isRetryable: false,
      isCancellable: false,
    });
  });

  it("closes as failed when it is cancelled: there is nothing left to cancel", async () => {
    const { upgrade } = await failAtHost2();
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("FAILED");
    expect(await upgrade.statuses()).to.equal(failed);
    expect((await upgrade.task()).isRetryable).to.equal(false);
  });

  it("is cancelled as any other when it runs again after a retry", async () => {
    const gate = new Gate();
    const { upgrade, activities } = await failAtHost2();
    activities.broken = false;
    const again = new FakeActivities({ readClusterHosts: () => gate.pass().then(() => []) });
    bench().serve(upgrade.plan, again);
    await upgrade.ask("retry");
    await gate.reached;
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(await upgrade.statuses()).to.equal("Cancelled / CANCELLED");
  });

  it("has touched nothing where prechecks failed, gives its locks back, and checks anew after retry", async () => {
    let broken = true;
    const fake = new FakeActivities({
      runClusterPrechecks: async () => ({ stages: broken ? failedCheck() : passedCheck() }),
    });
    const upgrade = await bench().upgrade({ resources: clusters(2) }, fake);
    await upgrade.untilStatuses(failed);
    expect(fake.changes).to.deep.equal([]);
    expect(await Promise.all([upgrade.childEnd(0), upgrade.childEnd(1)])).to.deep.equal(["CANCELLED", "CANCELLED"]);
    const { errors = [], subTasks = [] } = await upgrade.task();
    expect(errors.map(({ errorCode, nestedErrors }) => [errorCode, nestedErrors])).to.deep.equal(
      Array(2).fill(["PRECHECKS_FAILED", [sampleError("HOST_NOT_CONNECTED")]]),
    );
    expect(subTasks.map(({ status }) => status)).to.deep.equal(["FAILED", "NOT_APPLICABLE"]);
    expect(subTasks[1]?.subTasks?.map(({ status }) => status)).to.deep.equal(["NOT_APPLICABLE", "NOT_APPLICABLE"]);
    broken = false;
    await upgrade.ask("retry");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect((await upgrade.task()).subTasks?.map(({ name, status }) => `${name}: ${status}`)).to.deep.equal([
      "Prechecks: FAILED",
      "Prechecks, run 2: SUCCESSFUL",
      "Upgrade HOSTOS: SUCCESSFUL",
    ]);
  });

  it("restores the policy also where setting it or the image fails, and touches no host", async () => {
    for (const step of ["putRemediationPolicy", "setDesiredImage"] as const) {
      const fake = new FakeActivities({ [step]: () => Promise.reject(new Error("the manager is confused")) });
      const upgrade = await bench().upgrade({}, fake);
      await upgrade.untilStatuses(failed);
      expect(fake.remediations).to.deep.equal([]);
      expect(fake.changes.at(-1)).to.equal(`restorePolicy ${upgrade.resourceId()}`);
      expect((await upgrade.task()).errors?.[0]?.message).to.contain("the manager is confused");
    }
  });
});
