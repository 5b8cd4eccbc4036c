import { expect } from "chai";
import type { ClusterHost } from "../../../src/domain/task/host-remediation";
import { FakeActivities, sampleHosts } from "../../support/fake-activities";
import { clusters, type SamplePlanOptions } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("An upgrade of some hosts of a cluster", function () {
  this.timeout(60_000);
  const bench = useBench("TIME_SKIPPING");
  const [resource = { resourceId: "" }] = clusters(1);
  const [first, second, third] = sampleHosts(3) as [ClusterHost, ClusterHost, ClusterHost];

  const scoped = (scope: object, kinds: SamplePlanOptions["kinds"] = ["IMAGE"]): SamplePlanOptions => ({
    resources: [resource],
    hostScopes: new Map([[resource.resourceId, scope]]),
    kinds,
  });
  const remediated = ({ calls }: FakeActivities) =>
    calls.filter((call) => call.startsWith("remediate ")).map((call) => call.split("/")[1]);
  const reasons = async (upgrade: Awaited<ReturnType<ReturnType<typeof bench>["upgrade"]>>) =>
    ((await upgrade.subTask()).subTasks ?? []).map(({ status, reasonCode }) => reasonCode ?? status);

  for (const kind of ["IMAGE", "BASELINE"] as const)
    it(`upgrades those and is successful, of a cluster of the kind ${kind}`, async () => {
      // Whatever state a host outside the scope is in, it is nobody's warning.
      const dead = { ...third, connection: "DISCONNECTED" };
      const fake = new FakeActivities({ readClusterHosts: () => Promise.resolve([first, second, dead]) });
      const upgrade = await bench().upgrade(scoped({ include: ["host-1"] }, [kind]), fake);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(remediated(fake)).to.deep.equal(["host-1"]);
      expect(await reasons(upgrade)).to.deep.equal(["SUCCESSFUL", "NOT_IN_SCOPE", "NOT_IN_SCOPE"]);
      expect((await upgrade.upgrade()).hosts).to.include({ total: 1, done: 1, left: 0, leftOut: 2 });
    });

  it("has nothing to do where only hosts out of scope are old", async () => {
    const fake = new FakeActivities({ readClusterHosts: () => Promise.resolve([first, second]) });
    fake.atTarget.add(`${resource.resourceId}/host-1`);
    const upgrade = await bench().upgrade(scoped({ exclude: ["host-2"] }), fake);
    expect(await upgrade.end()).to.equal("NOTHING_TO_DO");
    expect(await reasons(upgrade)).to.deep.equal(["AT_TARGET", "NOT_IN_SCOPE"]);
  });

  it("takes on a host that joins meanwhile where hosts are only excluded", async () => {
    for (const [scope, last] of [
      [{ exclude: ["host-2"] }, "SUCCESSFUL"],
      [{ include: ["host-1"] }, "NOT_IN_SCOPE"],
    ] as const) {
      let reads = 0;
      const fake = new FakeActivities({
        readClusterHosts: () => Promise.resolve(reads++ === 0 ? [first, second] : [first, second, third]),
      });
      const upgrade = await bench().upgrade(scoped(scope), fake);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(await reasons(upgrade)).to.deep.equal(["SUCCESSFUL", "NOT_IN_SCOPE", last]);
    }
  });
});
