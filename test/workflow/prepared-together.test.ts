import { expect } from "chai";
import type { UpgradeActivities } from "../../activities/contract";
import { activityFailure, FakeActivities, Gate, sampleHosts, samplePolicy } from "../support/fake-activities";
import type { RunningUpgrade } from "../support/running-upgrade";
import { clusters } from "../support/sample-plan";
import { useBench } from "../support/upgrade-bench";

/** A worker that is older than `prepared-together`: it knows nothing of what its image is to be set with. */
class OlderActivities extends FakeActivities {
  override implementation(): UpgradeActivities {
    const { setDesiredImage, ...others } = super.implementation();
    return { ...others, setDesiredImage: ({ policy: _, healthGate: __, ...target }) => setDesiredImage(target) };
  }
}

describe("A cluster is prepared by one Activity", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  const preparing = (fake: FakeActivities) => fake.calls.filter((call) => !/^(prechecks|readHosts) /.test(call));
  const stages = async (upgrade: RunningUpgrade) =>
    ((await upgrade.subTask()).stages ?? []).map(({ type, status }) => `${type} ${status}`);
  const scheduled = async (upgrade: RunningUpgrade) =>
    (await upgrade.events(0)).flatMap(
      ({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name ?? [],
    );

  it("policy, image and the look at its health; the policy is put back as it was read with the hosts", async () => {
    const restored: unknown[] = [];
    const fake = new FakeActivities(
      { restoreRemediationPolicy: async ({ previous }) => void restored.push(previous) },
      1,
    );
    const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const id = upgrade.resourceId();
    expect(preparing(fake)).to.deep.equal([
      `putPolicy ${id}`,
      `setImage ${id}`,
      `gate ${id}`,
      `remediate ${id}/host-1`,
      `restorePolicy ${id}`,
    ]);
    expect(await scheduled(upgrade)).to.deep.equal(["setDesiredImage", "remediateHost", "restoreRemediationPolicy"]);
    expect(restored).to.deep.equal([samplePolicy]);
  });

  it("and waits for its health where the look has not found it, with the check that was asked for", async () => {
    const awaited: unknown[] = [];
    const fake = new FakeActivities(
      {
        checkClusterHealth: async () => ({ healthy: false, check: "check-1" }),
        awaitClusterHealth: async ({ check }) => void awaited.push(check),
      },
      1,
    );
    const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(awaited).to.deep.equal(["check-1"]);
  });

  it("says in its stages that both are in work, and what has failed; the policy is put back", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      setDesiredImage: async () => {
        await gate.pass();
        throw activityFailure("TARGET_IMAGE_INVALID");
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    expect((await stages(upgrade)).slice(1, 3)).to.deep.equal([
      "PUT_REMEDIATION_POLICY IN_PROGRESS",
      "SET_DESIRED_IMAGE IN_PROGRESS",
    ]);
    gate.open();
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect((await stages(upgrade)).slice(1)).to.deep.equal([
      "PUT_REMEDIATION_POLICY SUCCESSFUL",
      "SET_DESIRED_IMAGE FAILED",
      "RESTORE_REMEDIATION_POLICY SUCCESSFUL",
    ]);
    expect(preparing(fake).at(-1)).to.equal(`restorePolicy ${upgrade.resourceId()}`);
  });

  it("is cancelled in the middle of it, with the policy put back", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      setDesiredImage: async () => {
        await gate.pass();
        return { changed: true };
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
    expect((await stages(upgrade)).slice(1)).to.deep.equal([
      "PUT_REMEDIATION_POLICY FAILED",
      "SET_DESIRED_IMAGE FAILED",
      "RESTORE_REMEDIATION_POLICY SUCCESSFUL",
    ]);
    expect(fake.remediations).to.deep.equal([]);
  });

  it("a policy that is not taken at once is put by an Activity of its own, and the image is set after it", async () => {
    const fake = new FakeActivities({ putRemediationPolicy: async () => undefined }, 1);
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const id = upgrade.resourceId();
    expect(preparing(fake).slice(0, 2)).to.deep.equal([`putPolicy ${id}`, `setImage ${id}`]);
    expect((await scheduled(upgrade)).slice(0, 3)).to.deep.equal([
      "setDesiredImage",
      "putRemediationPolicy",
      "setDesiredImage",
    ]);
    expect(await stages(upgrade)).to.include.members([
      "PUT_REMEDIATION_POLICY SUCCESSFUL",
      "SET_DESIRED_IMAGE SUCCESSFUL",
    ]);
  });

  it("where the policy is never taken, the image is told to be still to come", async () => {
    const fake = new FakeActivities({ putRemediationPolicy: () => Promise.reject(activityFailure("OUTAGE")) });
    const upgrade = await bench().upgrade({}, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect((await stages(upgrade)).slice(1)).to.deep.equal([
      "PUT_REMEDIATION_POLICY FAILED",
      "RESTORE_REMEDIATION_POLICY SUCCESSFUL",
    ]);
  });

  it("a worker that is older does not know that it should, so the policy is put afterwards", async () => {
    const fake = new OlderActivities({}, 1);
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const id = upgrade.resourceId();
    expect(preparing(fake)).to.deep.equal([
      `setImage ${id}`,
      `putPolicy ${id}`,
      `remediate ${id}/host-1`,
      `restorePolicy ${id}`,
    ]);
  });

  it("its policy is read by itself where it was not known with the hosts", async () => {
    const previous: unknown[] = [];
    const fake = new FakeActivities({
      readKnownHosts: async () => ({ hosts: sampleHosts(1) }),
      readRemediationPolicy: async () => ({ disable_dpm: true }),
      restoreRemediationPolicy: async (input) => void previous.push(input.previous),
    });
    const upgrade = await bench().upgrade({ resources: clusters(1) }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(previous).to.deep.equal([{ disable_dpm: true }]);
  });
});
