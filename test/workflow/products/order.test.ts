import { expect } from "chai";
import { clusterStages } from "../../../src/domain/task/cluster-progress";
import { FakeActivities, Gate, passedCheck, upgraded } from "../../support/fake-activities";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("Order of an upgrade", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  it("upgrades the hosts of a cluster one after another, between setting and restoring its policy", async () => {
    let inWork = 0;
    let most = 0;
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        most = Math.max(most, ++inWork);
        await Promise.resolve();
        inWork--;
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const id = upgrade.resourceId();
    expect(fake.calls).to.deep.equal([
      `prechecks ${id}`,
      `readHosts ${id}`,
      `putPolicy ${id}`,
      `setImage ${id}`,
      `remediate ${id}/host-1`,
      `remediate ${id}/host-2`,
      `remediate ${id}/host-3`,
      `readHosts ${id}`,
      `restorePolicy ${id}`,
    ]);
    expect(most).to.equal(1);
    expect(await upgrade.statuses()).to.equal("Successful / COMPLETED_WITH_SUCCESS");
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
    const { stages = [] } = await upgrade.subTask();
    expect(stages.map(({ type, status }) => `${type} ${status}`)).to.deep.equal(
      Object.keys(clusterStages).map((type) => `${type} SUCCESSFUL`),
    );
  });

  it("upgrades clusters side by side: each may be in the middle of a host while the others are", async () => {
    const gates = new Map<string, Gate>();
    const gateOf = (id: string): Gate => {
      const gate = gates.get(id) ?? new Gate();
      gates.set(id, gate);
      return gate;
    };
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          await gateOf(input.cluster.resourceId).pass();
          return upgraded(input);
        },
      },
      2,
    );
    const upgrade = await bench().upgrade({ resources: clusters(3) }, fake);
    const waiting = [0, 1, 2].map((n) => gateOf(upgrade.resourceId(n)));
    await Promise.all(waiting.map((gate) => gate.reached));
    expect(fake.calls.filter((call) => call.startsWith("remediate"))).to.have.members(
      [0, 1, 2].map((n) => `remediate ${upgrade.resourceId(n)}/host-1`),
    );
    waiting.forEach((gate) => gate.open());
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("runs the prechecks of all clusters before it touches any", async () => {
    const slow = new Gate();
    const resources = clusters(2);
    const fake = new FakeActivities({
      runClusterPrechecks: async ({ cluster }) => {
        if (cluster.resourceId === resources[1]?.resourceId) await slow.pass();
        return { stages: passedCheck() };
      },
    });
    const upgrade = await bench().upgrade({ resources }, fake);
    await slow.reached;
    expect(await upgrade.statuses()).to.equal("In Progress / INPROGRESS");
    expect(fake.changes).to.deep.equal([]);
    slow.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("leaves out hosts that already run the target version", async () => {
    const fake = new FakeActivities();
    const resources = clusters(1);
    fake.atTarget.add(`${resources[0]?.resourceId}/host-2`);
    const upgrade = await bench().upgrade({ resources }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(fake.remediations.map(({ host }) => host.host)).to.deep.equal(["host-1", "host-3"]);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "NOT_APPLICABLE", "SUCCESSFUL"]);
  });

  it("touches nothing where every host runs the target version, and ends as SKIPPED", async () => {
    const fake = new FakeActivities();
    const resources = clusters(1);
    for (const n of [1, 2, 3]) fake.atTarget.add(`${resources[0]?.resourceId}/host-${n}`);
    const upgrade = await bench().upgrade({ resources }, fake);
    expect(await upgrade.end()).to.equal("NOTHING_TO_DO");
    expect(fake.changes).to.deep.equal([]);
    expect(await upgrade.statuses()).to.equal("SKIPPED / COMPLETED_WITH_SUCCESS");
    const { status, stages = [] } = await upgrade.subTask();
    expect(status).to.equal("NOT_APPLICABLE");
    expect(stages.map(({ type }) => type)).to.deep.equal(["READ_HOSTS"]);
  });

  it("hands the commit of the desired image and the options of the request on", async () => {
    const resources = clusters(1).map((cluster) => ({
      ...cluster,
      hostosUpgradeOptionsSpec: { disableDpm: true, enableQuickboot: true },
    }));
    let options: unknown;
    const fake = new FakeActivities({
      putRemediationPolicy: async (input) => {
        options = input.options;
        expect(input.previous).to.deep.equal({ failure_action: { action: "RETRY" } });
      },
      setDesiredImage: async () => ({ changed: true, commit: "42" }),
    });
    const upgrade = await bench().upgrade({ resources }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(options).to.deep.equal({ disableDpm: true, enableQuickboot: true });
    expect(fake.remediations.map(({ commit }) => commit)).to.deep.equal(["42", "42", "42"]);
  });
});
