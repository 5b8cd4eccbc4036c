import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { LockState } from "../../../src/domain/resource-lock";
import { readHolder } from "../../../src/temporal/lock-holder";
import { eventually } from "../../support/eventually";
import {
  activityFailure,
  FakeActivities,
  Gate,
  type ReplacedActivities,
  upgraded,
} from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { sampleBundle } from "../../support/sample-plan";
import { bundleOf, component, domain } from "../../support/sample-platform";
import { useBench } from "../../support/upgrade-bench";

const failed = "Failed / COMPLETED_WITH_FAILURE";

describe("Servers that more than one upgrade wants", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** Says who holds what, and stays before it touches a component manager. */
  function held(gate: Gate): FakeActivities {
    const holder: ReplacedActivities = {
      readLockHolder: ({ workflowId }) => readHolder(bench().env.client, workflowId),
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
  async function expectRefused(loser: RunningUpgrade, holder: RunningUpgrade, says: string): Promise<void> {
    await loser.untilStatuses(failed);
    const { errors = [] } = await loser.task();
    expect(errors.map(({ errorCode, context }) => [errorCode, context?.["upgradeId"]])).to.deep.equal([
      ["RESOURCE_LOCKED", holder.id],
    ]);
    expect(errors[0]?.message).to.contain(says).and.to.contain(holder.id).and.to.contain("nothing was changed");
  }
  async function expectLockedOut(loser: RunningUpgrade, holder: RunningUpgrade, says: string): Promise<void> {
    await expectRefused(loser, holder, says);
    expect(changed(loser)).to.deep.equal([]);
  }

  it("are upgraded by one of two that race for the same NETVIRT instance, whichever clusters they name", async () => {
    const gate = new Gate();
    const { resources, ...options } = domain();
    // One for both: the Activities of the instance are those of whoever gets it.
    const fake = held(gate);
    const bundle = bundleOf(component("NETVIRT"));
    const upgrades = await Promise.all(
      resources.map((cluster) => bench().upgrade({ ...options, resources: [cluster], bundle }, fake)),
    );
    await gate.reached;
    const statuses = await eventually(
      () => Promise.all(upgrades.map((upgrade) => upgrade.statuses())),
      (all) => all.filter((status) => status === failed).length === 1,
    );
    const loser = upgrades[statuses.indexOf(failed)]!;
    await expectRefused(loser, upgrades[1 - statuses.indexOf(failed)]!, "NETVIRT nsx-01");
    expect(changed(loser)).to.deep.equal(["read"]);
  });

  type Wanted = "MGMT" | "NETVIRT" | "HOSTOS";
  const bundleFor = (wanted: Wanted) => (wanted === "HOSTOS" ? sampleBundle : bundleOf(component(wanted)));
  const lockCases: readonly [string, Wanted, Wanted, string][] = [
    ["a cluster while its management server is upgraded", "MGMT", "HOSTOS", "while management server vc-01 ("],
    ["a management server while one of its clusters is upgraded", "HOSTOS", "MGMT", "while cluster cl-"],
    ["a cluster while the NETVIRT of its domain is upgraded", "NETVIRT", "HOSTOS", "while NETVIRT nsx-01 ("],
    ["NETVIRT while a cluster of its domain is upgraded", "HOSTOS", "NETVIRT", "while cluster cl-"],
  ];
  for (const [what, first, second, says] of lockCases)
    it(`keep out ${what}`, async () => {
      const gate = new Gate();
      const { resources, ...options } = domain();
      const [one, other] = [resources.slice(0, 1), resources.slice(1)];
      const holder = await bench().upgrade({ ...options, resources: one, bundle: bundleFor(first) }, held(gate));
      await gate.reached;
      const loser = await bench().upgrade({ ...options, resources: other, bundle: bundleFor(second) }, held(gate));
      await expectLockedOut(loser, holder, says);
    });

  for (const wanted of ["MGMT", "NETVIRT"] as const)
    it(`are upgraded by one of two that race, where one wants ${wanted} and the other one of its clusters`, async () => {
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          const gates = [new Gate(), new Gate()];
          const { resources, ...options } = domain();
          const upgrades = await Promise.all(
            [bundleFor(wanted), sampleBundle].map((bundle, n) =>
              bench().upgrade({ ...options, bundle, resources: resources.slice(n, n + 1) }, held(gates[n]!)),
            ),
          );
          const winner = await Promise.race(gates.map((gate, n) => gate.reached.then(() => n)));
          await expectLockedOut(upgrades[1 - winner]!, upgrades[winner]!, "while ");
        }),
      );
    });

  describe("while another upgrade has the lock of their management server", () => {
    const [lesser, greater] = ["00000000-0000-4000-8000-", "ffffffff-ffff-4fff-bfff-"];

    /** An upgrade that is no further with its locks than it says, and a lock of it; gives back what ends the lock. */
    async function holding(mgmt: string, before: string, locks: LockState) {
      const { client } = bench().env;
      const upgradeId = `${before}${randomUUID().slice(-12)}`;
      // No worker takes their tasks.
      const start = (type: string, workflowId: string, memo: object) =>
        client.workflow.start(type, { workflowId, taskQueue: "of-nobody", memo: { ...memo }, args: [] });
      const upgrade = await start("upgradeWorkflow", upgradeId, { locks });
      const lock = await start("mgmtUpgradeWorkflow", `mgmt/${mgmt}`, { upgradeId });
      const release = async () => {
        await lock.terminate();
        await upgrade.terminate();
      };
      return { upgradeId, release };
    }
    const looksOf = async ({ handle }: RunningUpgrade) => {
      const { events = [] } = await handle.fetchHistory();
      const scheduled = (events ?? []).map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
      return scheduled.filter((name) => name === "readLockHolders").length;
    };

    for (const [who, before, locks] of [
      ["still takes its locks, with a lesser id", lesser, "ACQUIRING"],
      ["still takes its locks, with a greater id", greater, "ACQUIRING"],
      ["is about to see that it has to give way", greater, "CHECKING"],
      ["gives its locks back", lesser, "RELEASING"],
    ] as const)
      it(`are waited for where it ${who}`, async () => {
        const { resources, mgmt, ...options } = domain();
        const { release } = await holding(mgmt, before, locks);
        const upgrade = await bench().upgrade({ ...options, resources });
        // It looks again, and has not given up.
        await eventually(
          () => looksOf(upgrade),
          (looks) => looks >= 2,
        );
        expect(upgrade.fake.calls.filter((call) => !call.startsWith("holder"))).to.deep.equal([]);
        await release();
        expect(await upgrade.end()).to.equal("SUCCESSFUL");
      });

    for (const [who, before, locks] of [
      ["has all of its locks", greater, "HELD"],
      ["waits for this one, with a lesser id", lesser, "CHECKING"],
    ] as const)
      it(`are refused at the first look where it ${who}`, async () => {
        const { resources, mgmt, ...options } = domain();
        const { upgradeId, release } = await holding(mgmt, before, locks);
        const upgrade = await bench().upgrade({ ...options, resources });
        await upgrade.untilStatuses(failed);
        const [error] = (await upgrade.task()).errors ?? [];
        expect([error?.errorCode, error?.context?.["upgradeId"]]).to.deep.equal(["RESOURCE_LOCKED", upgradeId]);
        expect(await looksOf(upgrade)).to.equal(1);
        await release();
        await upgrade.ask("retry");
        expect(await upgrade.end()).to.equal("SUCCESSFUL");
      });
  });
});
