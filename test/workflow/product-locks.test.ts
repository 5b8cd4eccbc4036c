import { expect } from "chai";
import type { UpgradeActivities } from "../../activities/contract";
import { readHolder } from "../../src/temporal/lock-holder";
import { eventually } from "../support/eventually";
import { activityFailure, FakeActivities, Gate, upgraded } from "../support/fake-activities";
import type { RunningUpgrade } from "../support/running-upgrade";
import { sampleBundle, type SamplePlanOptions } from "../support/sample-plan";
import { bundleOf, component, domain } from "../support/sample-platform";
import { useBench } from "../support/upgrade-bench";

const failed = "Failed / COMPLETED_WITH_FAILURE";

describe("Servers that more than one upgrade wants", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** Says who holds what, and stays before it touches a component manager. */
  function held(gate: Gate): FakeActivities {
    const holder: Partial<UpgradeActivities> = {
      readLockHolder: async ({ workflowId }) => {
        const upgradeId = await readHolder(bench().env.client, workflowId);
        return upgradeId === undefined ? {} : { upgradeId };
      },
      readNetvirtUpgrade: async () => {
        await gate.pass();
        throw activityFailure("END_OF_TEST");
      },
      readMgmtServer: async () => {
        await gate.pass();
        throw activityFailure("END_OF_TEST");
      },
      remediateHost: async (input) => {
        await gate.pass();
        return upgraded(input);
      },
    };
    return new FakeActivities(holder, 1);
  }
  const changed = ({ fake }: RunningUpgrade) => [
    ...fake.changes,
    ...fake.netvirt.calls.filter((call) => call !== "prechecks"),
  ];
  async function expectLockedOut(loser: RunningUpgrade, holder: RunningUpgrade, says: string): Promise<void> {
    await loser.untilStatuses(failed);
    const { errors = [] } = await loser.task();
    expect(errors.map(({ errorCode, context }) => [errorCode, context?.["upgradeId"]])).to.deep.equal([
      ["RESOURCE_LOCKED", holder.id],
    ]);
    expect(errors[0]?.message).to.contain(says).and.to.contain(holder.id).and.to.contain("nothing was touched");
    expect(changed(loser)).to.deep.equal([]);
  }

  it("of the same NETVIRT instance: of two that race one runs, whichever clusters they name", async () => {
    const gate = new Gate();
    const { resources, ...options } = domain();
    const upgrades = await Promise.all(
      resources.map((cluster) =>
        bench().upgrade({ ...options, resources: [cluster], bundle: bundleOf(component("NETVIRT")) }, held(gate)),
      ),
    );
    await gate.reached;
    const statuses = await eventually(
      () => Promise.all(upgrades.map((upgrade) => upgrade.statuses())),
      (all) => all.filter((status) => status === failed).length === 1,
    );
    const loser = upgrades[statuses.indexOf(failed)]!;
    const winner = upgrades[1 - statuses.indexOf(failed)]!;
    await expectLockedOut(loser, winner, "NETVIRT nsx-01");
  });

  const lockCases: readonly [string, "MGMT" | "HOSTOS", string][] = [
    ["of a cluster is kept out while its management server is upgraded", "MGMT", "while mgmt/"],
    ["of a management server is kept out while one of its clusters is upgraded", "HOSTOS", "while cluster/"],
  ];
  for (const [what, first, says] of lockCases)
    it(what, async () => {
      const gate = new Gate();
      const { resources, ...options } = domain();
      const of = (product: "MGMT" | "HOSTOS", cluster: SamplePlanOptions["resources"]): SamplePlanOptions => ({
        ...options,
        ...(cluster && { resources: cluster }),
        bundle: product === "MGMT" ? bundleOf(component("MGMT")) : sampleBundle,
      });
      const second = first === "MGMT" ? "HOSTOS" : "MGMT";
      const holder = await bench().upgrade(of(first, resources.slice(0, 1)), held(gate));
      await gate.reached;
      const loser = await bench().upgrade(of(second, resources.slice(1)), held(gate));
      await expectLockedOut(loser, holder, says);
    });

  it("of a management server and one of its cluster that race: never both touch anything", async () => {
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const gate = new Gate();
        const { resources, ...options } = domain();
        const bundles = [bundleOf(component("MGMT")), sampleBundle];
        const upgrades = await Promise.all(
          bundles.map((bundle, n) =>
            bench().upgrade({ ...options, bundle, resources: resources.slice(n, n + 1) }, held(gate)),
          ),
        );
        const statuses = await eventually(
          () => Promise.all(upgrades.map((upgrade) => upgrade.statuses())),
          (all) => all.includes(failed),
        );
        const loser = upgrades[statuses.indexOf(failed)]!;
        await expectLockedOut(loser, upgrades[1 - statuses.indexOf(failed)]!, "while ");
      }),
    );
  });
});
