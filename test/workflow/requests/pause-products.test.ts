import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { UpgradeActivities } from "../../../activities/contract";
import type { MgmtUpgradeUserInputSpec } from "../../../src/domain/spec/upgrade-spec";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate } from "../../support/fake-activities";
import { untilQuiet } from "../../support/quiet";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters, sampleBundle } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const paused = "In Progress / PAUSED";

describe("Pausing an upgrade of several products", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** Activities of a platform; each of the named ones stays at the gate of its name. */
  class Platform {
    readonly calls: string[] = [];
    readonly gates = new Map<string, Gate>();

    constructor(...gated: string[]) {
      for (const name of gated) this.gates.set(name, new Gate());
    }

    gate(name: string): Gate {
      const gate = this.gates.get(name);
      if (!gate) throw new Error(`${name} has no gate`);
      return gate;
    }

    private async step(name: string): Promise<void> {
      this.calls.push(name);
      await this.gates.get(name)?.pass();
    }

    activities(): Partial<UpgradeActivities> {
      return {
        upgradeNetvirtComponent: async ({ component }) => {
          await this.step(component);
          return { component, outcome: "UPGRADED" };
        },
        stageMgmtUpdate: () => this.step("stage"),
        installMgmtUpdate: async ({ targetVersion }) => {
          await this.step("install");
          return { version: targetVersion };
        },
        prepareMgmtMigration: () => this.step("prepare"),
        switchOverMgmtMigration: async ({ targetVersion }) => {
          await this.step("switchOver");
          return { version: targetVersion };
        },
        cancelMgmtMigration: () => this.step("takeBack"),
        restoreNetvirtSettings: () => this.step("restore"),
      };
    }
  }

  async function start(platform: Platform, products: readonly string[], mgmt?: MgmtUpgradeUserInputSpec) {
    const id = randomUUID().slice(0, 8);
    const components = [
      { id: "netvirt", type: "NETVIRT", toVersion: "9.0.1.0.24952111" },
      { id: "mgmt", type: "MGMT", toVersion: "9.0.2.0" },
      ...(sampleBundle.components ?? []),
    ].filter(({ type }) => products.includes(type ?? ""));
    return bench().upgrade(
      {
        resources: clusters(1),
        bundle: { ...sampleBundle, components },
        installations: {
          netvirt: [
            { resourceId: `nsx-${id}`, name: "nsx-01", componentManagerId: "nsx-01", domain: "fra1", clusters: [] },
          ],
          management: [
            {
              resourceId: `vc-${id}`,
              name: "vc-01",
              componentManagerId: "vc01",
              clusters: [`other-${id}`],
              places: [{ domain: "fra1" }],
            },
          ],
          personalities: [],
          isos: [],
        },
        inputs: mgmt ? { mgmtUpgradeUserInputSpecs: [mgmt] } : {},
      },
      new FakeActivities(platform.activities(), 1),
    );
  }

  /** Pauses while the named step is in work, and waits until nothing goes on after it. */
  async function pauseIn(upgrade: RunningUpgrade, platform: Platform, step: string): Promise<void> {
    await platform.gate(step).reached;
    expect((await upgrade.ask("pause")).accepted).to.equal(true);
    await eventually(
      () => upgrade.subTask(),
      ({ description }) => description.startsWith("Paused: "),
    );
    platform.gate(step).open();
    await untilQuiet(upgrade, 0);
    expect(platform.calls.at(-1)).to.equal(step);
  }

  it("begins no other component of NETVIRT", async () => {
    const platform = new Platform("EDGE");
    const upgrade = await start(platform, ["NETVIRT"]);
    await pauseIn(upgrade, platform, "EDGE");
    const done = platform.calls.length;
    expect(await upgrade.statuses()).to.equal(paused);
    expect(await upgrade.currentDetails(0)).to.match(/^\*\*Paused: /);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(platform.calls.length).to.be.greaterThan(done);
  });

  it("begins no other product", async () => {
    const platform = new Platform("FINALIZE_UPGRADE");
    const upgrade = await start(platform, ["NETVIRT", "HOSTOS"]);
    await platform.gate("FINALIZE_UPGRADE").reached;
    await upgrade.ask("pause");
    platform.gate("FINALIZE_UPGRADE").open();
    const products = async () => ((await upgrade.task()).subTasks ?? []).map(({ type, status }) => `${type} ${status}`);
    await eventually(products, (all) => all.includes("NETVIRT_UPGRADE SUCCESSFUL"));
    await untilQuiet(upgrade);
    expect(await products()).to.include("HOSTOS_UPGRADE PENDING");
    expect(await upgrade.statuses()).to.equal(paused);
    expect(upgrade.fake.changes).to.deep.equal([]);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("does not install what was staged on a management server", async () => {
    const platform = new Platform("stage");
    const upgrade = await start(platform, ["MGMT"], { upgradeMechanism: "InPlace" });
    await pauseIn(upgrade, platform, "stage");
    expect(await upgrade.currentDetails(0)).to.match(/^\*\*Paused: /);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(platform.calls).to.deep.equal(["stage", "install"]);
  });

  it("does not switch over to what was prepared, and takes it back where the upgrade is cancelled", async () => {
    const platform = new Platform("prepare");
    const upgrade = await start(platform, ["MGMT"], { upgradeMechanism: "ReducedDowntimeMigration" });
    await pauseIn(upgrade, platform, "prepare");
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(platform.calls).to.deep.equal(["prepare", "takeBack"]);
  });

  it("restores the coordinator's plan where the upgrade is cancelled", async () => {
    const platform = new Platform("EDGE");
    const upgrade = await start(platform, ["NETVIRT", "HOSTOS"]);
    await platform.gate("EDGE").reached;
    await upgrade.ask("pause");
    platform.gate("EDGE").open();
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(platform.calls.at(-1)).to.equal("restore");
    const { localizableDescriptionPack, subTasks } = await upgrade.task();
    expect(localizableDescriptionPack?.message).to.contain("2 resources: ").and.to.contain("1 not started");
    expect(subTasks?.at(-1)?.description).to.equal("Not started, because the upgrade was cancelled.");
  });
});
