import { expect } from "chai";
import type { Freeze } from "../../../src/domain/freeze";
import type { SubTask } from "../../../src/domain/spec/task";
import { activityQuery } from "../../../workflows/messages";
import { useClosablePlatform } from "../../support/closable-platform";
import { eventually } from "../../support/eventually";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { useBench } from "../../support/upgrade-bench";

describe("Freezing running upgrades", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  const { platform, start, freeze, thaw, steps } = useClosablePlatform(bench);

  /** Waits until the upgrade says that it waits for the end of the freeze, and nothing else of it is in work. */
  async function untilFrozen(upgrade: RunningUpgrade): Promise<void> {
    const { waitingFor } = await eventually(
      () => upgrade.upgrade(),
      ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === "FROZEN",
    );
    expect(waitingFor?.message).to.contain("alice froze domain").and.to.contain("Hosts lose storage");
  }

  const kinds = async (upgrade: RunningUpgrade) =>
    (await upgrade.handle.query(activityQuery)).entries.map(({ kind }) => kind);
  const partOf = async (upgrade: RunningUpgrade, product: string): Promise<SubTask | undefined> =>
    ((await upgrade.task()).subTasks ?? []).find(({ type }) => type === `${product}_UPGRADE`)?.subTasks?.[0];

  it("finishes the host in work, begins no other, and continues when it is lifted", async () => {
    await platform().hostSeconds(2);
    const upgrade = await start("HOSTOS");
    await eventually(
      () => upgrade.hosts().catch((): string[] => []),
      ([first]) => first === "IN_PROGRESS",
    );
    await eventually(
      () => steps("APPLY_STARTED"),
      (begun) => begun === 1,
    );
    await freeze();
    await platform().hostSeconds(0.2);
    await untilFrozen(upgrade);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "PENDING", "PENDING"]);
    expect((await upgrade.subTask()).waitingFor?.code).to.equal("FROZEN");
    expect(await upgrade.currentDetails(0)).to.match(/^\*\*Frozen: nothing new begins\. alice/);
    expect(await steps("APPLY_STARTED")).to.equal(1);
    await thaw();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect((await upgrade.resourceMemo()).subTask.waitingFor).to.equal(undefined);
    expect(await kinds(upgrade)).to.include.members(["FROZEN", "THAWED"]);
  });

  it("begins nothing of an upgrade that is accepted before, whose locks and prechecks are ready, until its own end", async () => {
    const until = new Date(Date.now() + 4_000).toISOString();
    await freeze({ until });
    const upgrade = await start("HOSTOS");
    await untilFrozen(upgrade);
    expect(await partOf(upgrade, "HOSTOS")).to.deep.include({ status: "PENDING" });
    expect((await partOf(upgrade, "HOSTOS"))?.waitingFor?.code).to.equal("FROZEN");
    expect((await upgrade.task()).waitingFor).to.include({ code: "FROZEN", until });
    expect((await upgrade.upgrade()).until).to.equal(until);
    expect(await platform().steps()).to.deep.equal([]);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(Date.now()).to.be.greaterThan(Date.parse(until));
    expect((await upgrade.task()).waitingFor).to.equal(undefined);
  });

  it("begins nothing outside of the maintenance window, finishes the host in work when it closes, and continues in the next", async () => {
    const { closedDomains } = bench();
    closedDomains.add(platform().domain);
    await platform().hostSeconds(2);
    const upgrade = await start("HOSTOS");
    const untilClosed = () =>
      eventually(
        () => upgrade.upgrade(),
        ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === "WINDOW",
      );
    expect((await untilClosed()).waitingFor?.message).to.contain("Outside maintenance window nights.");
    expect((await upgrade.task()).waitingFor?.code).to.equal("WINDOW");
    expect(await platform().steps()).to.deep.equal([]);
    closedDomains.clear();
    await eventually(
      () => steps("APPLY_STARTED"),
      (begun) => begun === 1,
    );
    expect((await upgrade.upgrade()).windowClosesAt).to.equal(undefined);
    closedDomains.add(platform().domain);
    await platform().hostSeconds(0.2);
    await untilClosed();
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "PENDING", "PENDING"]);
    expect((await upgrade.subTask()).waitingFor?.code).to.equal("WINDOW");
    expect(await upgrade.currentDetails(0)).to.match(/^\*\*Nothing new begins\. Outside maintenance window nights\./);
    expect(await steps("APPLY_STARTED")).to.equal(1);
    const closesAt = Date.now() + 3_600_000;
    bench().closings.set(platform().domain, closesAt);
    closedDomains.clear();
    await eventually(
      () => upgrade.upgrade(),
      ({ windowClosesAt }) => windowClosesAt === new Date(closesAt).toISOString(),
    );
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect((await upgrade.upgrade()).windowClosesAt).to.equal(undefined);
    expect((await kinds(upgrade)).filter((kind) => kind.startsWith("WINDOW"))).to.deep.equal([
      ...["WINDOW_CLOSED", "WINDOW_OPENED", "WINDOW_CLOSED", "WINDOW_OPENED"],
    ]);
  });

  it("waits for no maintenance window where somebody has overridden it, but for the end of an emergency stop", async () => {
    bench().closedDomains.add(platform().domain);
    await freeze();
    const inputs = { maintenanceWindow: "IGNORE", reason: "Zero-day" } as const;
    const upgrade = await start("HOSTOS", { inputs });
    await untilFrozen(upgrade);
    expect(await platform().steps()).to.deep.equal([]);
    await thaw();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const { maintenanceWindow, maintenanceOverride } = await upgrade.task();
    expect({ maintenanceWindow, maintenanceOverride }).to.deep.include({ maintenanceWindow: "IGNORE" });
    expect(maintenanceOverride).to.include({ reason: "Zero-day" });
    expect((await kinds(upgrade)).filter((kind) => kind.startsWith("WINDOW"))).to.deep.equal([]);
  });

  it("overrides the maintenance window with the commit of a draft, and says who did and why", async () => {
    bench().closedDomains.add(platform().domain);
    const upgrade = await start("HOSTOS", { draft: true });
    await eventually(
      () => upgrade.upgrade(),
      ({ phase }) => phase === "DRAFT_READY",
    );
    await upgrade.ask("commit", { maintenanceWindow: "IGNORE", reason: "Zero-day", requestedBy: "root" });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    for (const told of [await upgrade.task(), await upgrade.upgrade()]) {
      expect(told.maintenanceWindow).to.equal("IGNORE");
      expect(told.maintenanceOverride).to.include({ reason: "Zero-day", by: "root" });
    }
    const { entries } = await upgrade.handle.query(activityQuery);
    const { actor, details } = entries.find(({ kind }) => kind === "COMMIT") ?? {};
    expect({ actor, details }).to.deep.equal({
      actor: "root",
      details: { maintenanceWindow: "IGNORE", reason: "Zero-day" },
    });
  });

  it("lets NETVIRT begin no further node when the maintenance window closes", async () => {
    const { closedDomains } = bench();
    await platform().hostSeconds(2);
    const upgrade = await start("NETVIRT");
    await eventually(
      () => steps("NSX_NODE_STARTED"),
      (begun) => begun > 0,
    );
    closedDomains.add(platform().domain);
    await eventually(
      () => upgrade.upgrade(),
      ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === "WINDOW",
    );
    const upgraded = await steps("NSX_NODE_UPGRADED");
    expect(await steps("NSX_NODE_STARTED")).to.equal(upgraded);
    closedDomains.clear();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await steps("NSX_NODE_UPGRADED")).to.be.greaterThan(upgraded);
  });

  it("leaves an upgrade paused that an operator has paused meanwhile", async () => {
    await freeze();
    const upgrade = await start("HOSTOS");
    await untilFrozen(upgrade);
    expect((await upgrade.ask("pause")).accepted).to.equal(true);
    await thaw();
    await eventually(
      () => kinds(upgrade),
      (all) => all.includes("THAWED"),
    );
    expect((await upgrade.upgrade()).phase).to.equal("PAUSED");
    expect(await platform().steps()).to.deep.equal([]);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("begins nothing where the freeze cannot be read", async () => {
    bench().unreadableDomains.add(platform().domain);
    const upgrade = await start("HOSTOS");
    const { waitingFor } = await eventually(
      () => upgrade.upgrade(),
      ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === "FROZEN",
    );
    expect(waitingFor?.message).to.contain("could not be read").and.to.contain("Temporal is away");
    expect(await platform().steps()).to.deep.equal([]);
    bench().unreadableDomains.clear();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("ends a frozen upgrade that is cancelled, without having touched anything", async () => {
    await freeze();
    const upgrade = await start("HOSTOS");
    await untilFrozen(upgrade);
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(await platform().steps()).to.deep.equal([]);
  });

  it("begins no component of NETVIRT, finishes the nodes in work, and continues with the others", async () => {
    await platform().hostSeconds(2);
    const upgrade = await start("NETVIRT");
    await eventually(
      () => steps("NSX_NODE_STARTED"),
      (begun) => begun > 0,
    );
    await freeze();
    await platform().hostSeconds(0.2);
    await untilFrozen(upgrade);
    const begun = await steps("NSX_NODE_STARTED");
    expect(await steps("NSX_NODE_UPGRADED")).to.equal(begun);
    const { subTasks = [], waitingFor } = await upgrade.subTask();
    expect(waitingFor?.code).to.equal("FROZEN");
    expect(subTasks.map(({ status }) => status)).not.to.include("IN_PROGRESS");
    await thaw();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await steps("NSX_NODE_STARTED")).to.be.greaterThan(begun);
  });

  it("does not switch over a management server that is prepared, and takes nothing back", async () => {
    await platform().hostSeconds(2);
    const inputs = { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "ReducedDowntimeMigration" as const }] };
    const upgrade = await start("MGMT", { inputs });
    await eventually(
      () => steps("MGMT_MIGRATION_APPLIED"),
      (begun) => begun > 0,
    );
    await freeze();
    await platform().hostSeconds(0.2);
    await untilFrozen(upgrade);
    expect(await steps("MGMT_PREPARED")).to.equal(1);
    expect(await steps("MGMT_SWITCHOVER_STARTED")).to.equal(0);
    const { stages = [] } = await upgrade.subTask();
    expect(stages.find(({ type }) => type === "SWITCH_OVER")?.status).to.equal("PENDING");
    await thaw();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await steps("MGMT_MIGRATION_CANCELLED")).to.equal(0);
  });

  it("begins no host where the freeze comes between the look of the Workflow and the request, or workers are lost", async () => {
    let frozen = false;
    let looks = 0;
    const since = new Date().toISOString();
    // The Activities know of it first: the Workflow has looked before.
    const racing = (domains: readonly string[]): Promise<readonly Freeze[]> => {
      looks += 1;
      return frozen ? Promise.resolve([{ reason: "Race", frozenBy: "alice", since }]) : bench().readFreezes(domains);
    };
    const upgrade = await bench().upgrade(platform().plan("HOSTOS"), platform().activities({}, racing));
    await eventually(
      () => steps("APPLY_STARTED"),
      (begun) => begun === 1,
    );
    frozen = true;
    const before = looks;
    await bench().stopWorker();
    await bench().startWorker();
    await eventually(
      () => Promise.resolve(looks),
      (now) => now > before + 2,
    );
    expect(await steps("APPLY_REQUESTED")).to.equal(1);
    frozen = false;
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });
});
