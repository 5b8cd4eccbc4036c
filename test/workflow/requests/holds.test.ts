import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import type { UpgradeActivities } from "../../../activities/contract";
import { type Hold, type HoldTarget, holdWorkflowId } from "../../../src/domain/hold";
import { temporalHolds } from "../../../src/temporal/holds";
import { activityQuery } from "../../../workflows/messages";
import { eventually } from "../../support/eventually";
import { FakeActivities } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { readTask, SimulatedPlatform, type SimulatedPlan } from "../../support/simulated-platform";
import { useBench } from "../../support/upgrade-bench";

describe("Holds of clusters and hosts of running upgrades", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  let platform: SimulatedPlatform;
  const placed: Hold[] = [];

  beforeEach(async () => {
    platform = await SimulatedPlatform.start();
  });

  afterEach(async () => {
    await Promise.all(placed.splice(0).map((one) => release(one)));
    await platform.close();
  });

  const holds = () => temporalHolds(bench().env.client);

  function start(product: "HOSTOS" | "NETVIRT" | "MGMT", more?: SimulatedPlan): Promise<RunningUpgrade> {
    const activities = platform.activities({}, undefined, undefined, bench().holds);
    return bench().upgrade(platform.plan(product, more), activities);
  }

  async function hold(more: Partial<Hold> = {}): Promise<Hold> {
    const since = new Date().toISOString();
    const common = { clusterId: platform.clusterId, clusterName: "cl-1", reason: "Storage is replaced" };
    const one: Hold = { ...common, placedBy: "alice", since, ...more };
    expect(await holds().put(one, { replaces: false })()).to.deep.include({ right: "PLACED" });
    placed.push(one);
    return one;
  }

  async function release(one: Hold): Promise<void> {
    expect(isRight(await holds().release(one, "bob")())).to.equal(true);
  }

  /** Waits until the upgrade says that it waits for the end of the hold, and nothing else of it is in work. */
  async function untilHeld(upgrade: RunningUpgrade): Promise<void> {
    const { waitingFor } = await eventually(
      () => upgrade.upgrade(),
      ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === "HELD",
    );
    expect(waitingFor?.message).to.match(/^alice has held cluster cl-1 since .*: Storage is replaced\.$/);
  }

  const steps = async (step: string) => (await platform.steps()).filter((one) => one === step).length;
  const kinds = async (upgrade: RunningUpgrade) =>
    (await upgrade.handle.query(activityQuery)).entries.map(({ kind }) => kind);
  const hostIds = async () => (await platform.state()).clusters[0]?.hosts.map(({ id }) => id) ?? [];
  const begun = (count: number) =>
    eventually(
      () => steps("APPLY_STARTED"),
      (now) => now === count,
    );

  it("finishes the host in work, begins no other of a held cluster, and continues when it is released", async () => {
    await platform.hostSeconds(2);
    const upgrade = await start("HOSTOS");
    await begun(1);
    const one = await hold();
    await platform.hostSeconds(0.2);
    await untilHeld(upgrade);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "PENDING", "PENDING"]);
    expect((await upgrade.subTask()).waitingFor?.code).to.equal("HELD");
    expect(await upgrade.currentDetails(0)).to.match(/^\*\*Nothing new begins\. alice has held cluster cl-1/);
    expect(await steps("APPLY_STARTED")).to.equal(1);
    await bench().stopWorker();
    await bench().startWorker();
    await untilHeld(upgrade);
    await release(one);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect((await upgrade.resourceMemo()).subTask.waitingFor).to.equal(undefined);
    expect(await kinds(upgrade)).to.include.members(["HELD", "RELEASED"]);
  });

  it("begins nothing of a cluster that was held before its upgrade began, until the hold expires", async () => {
    const until = new Date(Date.now() + 4_000).toISOString();
    const one = await hold({ until });
    const details = await bench().env.client.workflow.getHandle(holdWorkflowId(one)).describe();
    expect(await details.staticDetails()).to.equal("Held by `alice`: Storage is replaced");
    const upgrade = await start("HOSTOS");
    const { waitingFor } = await eventually(
      () => upgrade.upgrade(),
      ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === "HELD",
    );
    expect(waitingFor?.message).to.contain(`until ${until}`);
    expect(await platform.steps()).to.deep.equal([]);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(Date.now()).to.be.greaterThan(Date.parse(until));
  });

  it("keeps no other cluster of the same upgrade from its work", async () => {
    const resources = clusters(3);
    const one = await hold({ clusterId: resources[1]?.resourceId ?? "" });
    const upgrade = await bench().upgrade({ resources }, new FakeActivities({}, 2));
    const parts = async () => {
      const { subTasks = [] } = await readTask(bench().env, upgrade.id);
      return (subTasks.find(({ type }) => type === "HOSTOS_UPGRADE")?.subTasks ?? []).map(
        ({ status, waitingFor }) => waitingFor?.code ?? status,
      );
    };
    await eventually(parts, (all) => all.join() === "SUCCESSFUL,HELD,SUCCESSFUL");
    expect((await upgrade.upgrade()).waitingFor?.code).to.equal("HELD");
    await release(one);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await parts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
  });

  it("leaves a host out that is held when its turn comes, and ends with a warning that names who and why", async () => {
    const [, second = ""] = await hostIds();
    await platform.hostSeconds(2);
    const upgrade = await start("HOSTOS");
    await begun(1);
    await hold({ hostId: second, hostName: "esx-02.example.com" });
    await platform.hostSeconds(0.2);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    const { subTasks = [], errors = [] } = await upgrade.subTask();
    expect(subTasks.map(({ status, reasonCode }) => reasonCode ?? status)).to.deep.equal([
      ...["SUCCESSFUL", "HELD", "SUCCESSFUL"],
    ]);
    expect(subTasks[1]?.description).to.contain("Left out: alice has held host esx-02.example.com");
    expect(errors[0]?.errorCode).to.equal("HOST_HELD");
    expect(errors[0]?.message).to.contain("Storage is replaced");
    expect(await steps("APPLY_STARTED")).to.equal(2);
    expect((await upgrade.task()).status).to.equal("COMPLETED_WITH_WARNING");
    expect((await upgrade.upgrade()).hosts).to.deep.include({ leftOut: 1, done: 2 });
    const told = (await upgrade.task()).errors?.[0]?.message;
    expect(told).to.contain("1 host of cluster").and.to.contain("was left out as held. ");
    expect(told).to.contain(" Of 2 hosts 2 are at the target, 0 failed and 0 were not begun. Left out: 1.");
  });

  it("counts hosts as left out where all of them are held, not as failed", async () => {
    const why = "alice has held it.";
    const remediateHosts: UpgradeActivities["remediateHosts"] = ({ hosts }) =>
      Promise.resolve({ upgraded: [], failed: [], stopped: [], held: hosts.map(({ host }) => ({ host, why })) });
    const upgrade = await bench().upgrade({}, new FakeActivities({ remediateHosts }));
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    const { hosts } = await upgrade.upgrade();
    expect(hosts).to.deep.equal({ total: 0, done: 0, running: 0, failed: 0, left: 0, leftOut: 3 });
    const errors = (await upgrade.task()).errors ?? [];
    const held = errors.find(({ errorCode }) => errorCode === "HOST_HELD");
    expect(held?.message)
      .to.contain("3 hosts of cluster")
      .and.to.contain("were left out as held. ")
      .and.to.contain(why);
    expect(held?.message)
      .to.match(/ Left out: 3\.$/)
      .and.not.to.contain("failed");
  });

  it("leaves held hosts out of those that are remediated together, also a host that is in maintenance mode", async () => {
    const [first = "", second = ""] = await hostIds();
    await platform.put(second, "IN");
    await hold({ hostId: second, hostName: "esx-02.example.com" });
    const upgrade = await start("HOSTOS", { rollout: { hostsAtOnce: 2, healthGate: true } });
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect((await upgrade.subTask()).subTasks?.map(({ status, reasonCode }) => reasonCode ?? status)).to.deep.equal([
      ...["SUCCESSFUL", "HELD", "SUCCESSFUL"],
    ]);
    const hosts = (await platform.state()).clusters[0]?.hosts ?? [];
    expect(hosts.find(({ id }) => id === second)?.maintenance).to.equal("IN");
    expect(hosts.find(({ id }) => id === first)?.maintenance).to.equal("OUT");
  });

  it("does not try a host again that has failed and is held since", async () => {
    const [first = ""] = await hostIds();
    await platform.fault({ kind: "REMEDIATION_FAILS", host: first });
    const retry = { retryCount: 5, retryDelay: 5 };
    const spec = { hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: { action: "RETRY" as const, ...retry } } };
    const upgrade = await start("HOSTOS", { spec, rollout: { toleratedFailures: 1 } });
    await begun(1);
    await hold({ hostId: first, hostName: "esx-01.example.com" });
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    const { subTasks = [] } = await upgrade.subTask();
    expect(subTasks.map(({ status }) => status)).to.deep.equal(["FAILED", "SUCCESSFUL", "SUCCESSFUL"]);
    expect(subTasks[0]?.errors?.[0]?.message).to.contain("There is no further attempt: alice has held host");
    expect(await steps("APPLY_STARTED")).to.equal(3);
  });

  it("begins no host where the hold comes between the look of its Activity and the request", async () => {
    const [first = ""] = await hostIds();
    let looks = 0;
    const since = new Date().toISOString();
    const common = { clusterName: "cl-1", reason: "Race", placedBy: "alice", since };
    const readHolds = (targets: readonly HoldTarget[]) => {
      const isOfFirst = targets.some(({ hostId }) => hostId === first);
      if (isOfFirst) looks += 1;
      // The first look of the Activity finds nothing.
      const isHeld = isOfFirst && looks > 1;
      return Promise.resolve(isHeld ? [{ ...common, clusterId: platform.clusterId, hostId: first }] : []);
    };
    const racing = platform.activities({}, undefined, undefined, { readHolds });
    const upgrade = await bench().upgrade(platform.plan("HOSTOS"), racing);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect((await upgrade.subTask()).subTasks?.[0]?.reasonCode).to.equal("HELD");
    expect(await steps("APPLY_REQUESTED")).to.equal(2);
  });

  it("begins no node of a NETVIRT instance that upgrades the hosts of a held cluster", async () => {
    await platform.hostSeconds(2);
    const upgrade = await start("NETVIRT");
    await eventually(
      () => steps("NSX_NODE_STARTED"),
      (now) => now > 0,
    );
    const one = await hold();
    await platform.hostSeconds(0.2);
    await untilHeld(upgrade);
    const before = await steps("NSX_NODE_STARTED");
    expect(await steps("NSX_NODE_UPGRADED")).to.equal(before);
    await release(one);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await steps("NSX_NODE_STARTED")).to.be.greaterThan(before);
  });

  it("is replaced and listed, and its place is free when its time has come", async () => {
    const one = await hold();
    expect(await holds().put({ ...one, reason: "Again" }, { replaces: false })()).to.deep.include({ right: "TAKEN" });
    expect(await holds().put({ ...one, reason: "Again" }, { replaces: true })()).to.deep.include({ right: "PLACED" });
    expect(await holds().read([one])()).to.deep.include({ right: [{ ...one, reason: "Again" }] });
    await eventually(
      async () => {
        const listed = await holds().list()();
        return isRight(listed) ? listed.right.filter(({ clusterId }) => clusterId === one.clusterId) : [];
      },
      (listed) => listed.length === 1 && listed[0]?.reason === "Again",
    );
    await bench().stopWorker();
    const past = { ...one, until: new Date(Date.now() - 1_000).toISOString() };
    await holds().put(past, { replaces: true })();
    expect(await holds().read([one])()).to.deep.include({ right: [] });
    expect(await holds().put(one, { replaces: false })()).to.deep.include({ right: "PLACED" });
    await bench().startWorker();
  });
});
