import { ApplicationFailure } from "@temporalio/common";
import { expect } from "chai";
import { activityFailure, FakeActivities, Gate, hostFailure, upgraded } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { useBench } from "../../support/upgrade-bench";

const hour = 3_600_000;
const failed = "Failed / COMPLETED_WITH_FAILURE";
const notRestored = "REMEDIATION_POLICY_NOT_RESTORED";

/** Activities whose restore of the policy fails so often, or for good. */
function failingRestore(failures: number, { nonRetryable = false, hostFails = false } = {}): FakeActivities {
  let tries = 0;
  return new FakeActivities(
    {
      remediateHost: async (input) => {
        if (hostFails) throw hostFailure(input);
        return upgraded(input);
      },
      restoreRemediationPolicy: async () => {
        if (++tries <= failures) throw activityFailure("COMPONENT_MANAGER_REFUSED", { nonRetryable });
      },
    },
    2,
  );
}

const restores = (fake: FakeActivities) => fake.calls.filter((call) => call.startsWith("restorePolicy")).length;
const stagesOf = async (upgrade: RunningUpgrade) =>
  ((await upgrade.resourceMemo()).subTask.stages ?? []).map(({ type, status }) => `${type} ${status}`);

describe("The remediation policy of a cluster", function () {
  this.timeout(30_000);
  const bench = useBench("TIME_SKIPPING");

  it("is put back again and again until the component manager takes it", async () => {
    const fake = failingRestore(20);
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(restores(fake)).to.equal(21);
  });

  it("is also put back so after a failed host, whose error stays the only one", async () => {
    const fake = failingRestore(3, { hostFails: true });
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("FAILED");
    expect(restores(fake)).to.equal(4);
    expect((await upgrade.task()).errors?.map(({ errorCode }) => errorCode)).to.deep.equal(["HOST_REMEDIATION_FAILED"]);
  });

  it("is tried to be put back for a day, then its cluster fails", async () => {
    const fake = new FakeActivities({
      restoreRemediationPolicy: () => {
        // An hour between two tries, so that a day is not thousands of them.
        throw ApplicationFailure.create({ type: "COMPONENT_MANAGER_REFUSED", nextRetryDelay: "1 hour" });
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    const begun = await bench().now();
    expect(await upgrade.end()).to.equal("FAILED");
    const memo = await upgrade.memo();
    expect((memo.upgrade.endTime ?? 0) - begun).to.be.within(23 * hour, 25 * hour);
    expect(memo.task.errors?.map(({ errorCode }) => errorCode)).to.deep.equal([notRestored]);
  });
});

describe("A remediation policy that cannot be put back", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  it("ends its cluster in an error that says so and what to do, while its hosts are upgraded", async () => {
    const upgrade = await bench().upgrade({}, failingRestore(1, { nonRetryable: true }));
    await upgrade.untilStatuses(failed);
    expect(restores(upgrade.fake)).to.equal(1);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL"]);
    expect((await stagesOf(upgrade)).slice(-2)).to.deep.equal([
      "UPGRADE_HOSTS SUCCESSFUL",
      "RESTORE_REMEDIATION_POLICY FAILED",
    ]);
    const [error] = (await upgrade.task()).errors ?? [];
    expect(error?.errorCode).to.equal(notRestored);
    expect(error?.message)
      .to.contain(`${upgrade.resourceId()}-name`)
      .and.to.contain("its remediation policy could not be restored")
      .and.to.contain("Of 2 hosts 2 are at the target");
    expect(error?.remediationMessage).to.contain("manually");
    expect(error?.nestedErrors?.[0]?.nestedErrors?.map(({ errorCode }) => errorCode)).to.deep.equal([
      "COMPONENT_MANAGER_REFUSED",
    ]);
  });

  it("keeps the error of the host that had failed before", async () => {
    const upgrade = await bench().upgrade({}, failingRestore(1, { nonRetryable: true, hostFails: true }));
    await upgrade.untilStatuses(failed);
    const [error] = (await upgrade.task()).errors ?? [];
    expect(error?.errorCode).to.equal(notRestored);
    expect(error?.message).to.contain("esx-01.example.com failed").and.to.contain("could not be restored");
    expect(error?.nestedErrors?.[0]?.nestedErrors?.map(({ errorCode }) => errorCode)).to.deep.equal([
      "HOST_REMEDIATION_FAILED",
      "COMPONENT_MANAGER_REFUSED",
    ]);
  });

  it("is left to the operator, as the error says: a retry then ends well and touches nothing", async () => {
    const upgrade = await bench().upgrade({}, failingRestore(1, { nonRetryable: true }));
    await upgrade.untilStatuses(failed);
    await upgrade.ask("retry");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect([upgrade.fake.remediations.length, restores(upgrade.fake)]).to.deep.equal([2, 1]);
  });

  it("is told of a cancelled cluster, too", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        await gate.pass();
        return upgraded(input);
      },
      restoreRemediationPolicy: () => Promise.reject(activityFailure("COMPONENT_MANAGER_REFUSED")),
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    const { subTask } = await upgrade.resourceMemo();
    expect(subTask.status).to.equal("FAILED");
    expect(subTask.errors?.map(({ errorCode }) => errorCode)).to.deep.equal([notRestored]);
    expect(subTask.errors?.[0]?.nestedErrors?.map(({ errorCode }) => errorCode)).to.deep.equal([
      "CANCELLED",
      "COMPONENT_MANAGER_REFUSED",
    ]);
    expect(await upgrade.currentDetails(0)).to.contain("could not be restored");
  });
});
