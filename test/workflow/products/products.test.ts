import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import pino from "pino";
import type { UpgradeActivities } from "../../../activities/contract";
import { mgmtLock, netvirtLock } from "../../../src/domain/resource-lock";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import { readHolder } from "../../../src/temporal/lock-holder";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { eventually } from "../../support/eventually";
import { activityFailure, FakeActivities, Gate, passedCheck, upgraded } from "../../support/fake-activities";
import { mgmtProgress, mgmtStepFailure } from "../../support/fake-mgmt-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { bundleOf, component, domain, platformBundle } from "../../support/sample-platform";
import { useBench } from "../../support/upgrade-bench";

const failed = "Failed / COMPLETED_WITH_FAILURE";
/** The part of a Task that upgrades this product. */
function productOf(task: Task, product: string): SubTask {
  const found = task.subTasks?.find(({ type }) => type === `${product}_UPGRADE`);
  if (!found) throw new Error(`The Task has no ${product}`);
  return found;
}

describe("An upgrade of several products", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  const readTask = async ({ id }: RunningUpgrade): Promise<Task> => {
    const read = await temporalUpgradeExecutions(bench().env.client, pino({ level: "silent" })).readTask(id)();
    if (!isRight(read)) throw new Error("The Task cannot be read");
    return read.right;
  };
  const summaries = async (upgrade: RunningUpgrade, n: number): Promise<unknown[]> => {
    const events = (await upgrade.events(n)).filter((event) => event.activityTaskScheduledEventAttributes);
    return Promise.all(events.map((event) => upgrade.summaryOf(event)));
  };

  /** Activities that write down in one list what they change, in order. */
  function recorded(events: string[], replaced: Partial<UpgradeActivities> = {}): FakeActivities {
    return new FakeActivities(
      {
        ...replaced,
        upgradeNetvirtComponent: async (input) => {
          events.push(`NETVIRT ${input.component}`);
          return (
            (await replaced.upgradeNetvirtComponent?.(input)) ?? { component: input.component, outcome: "UPGRADED" }
          );
        },
        stageMgmtUpdate: async () => void events.push("MGMT stage"),
        installMgmtUpdate: async (input) => {
          events.push("MGMT install");
          const result = await replaced.installMgmtUpdate?.(input);
          events.push("MGMT installed");
          return result ?? { version: input.targetVersion };
        },
        putRemediationPolicy: async () => void events.push("HOSTOS"),
        remediateHost: async (input) => {
          events.push("HOSTOS");
          return upgraded(input);
        },
      },
      1,
    );
  }

  it("goes through NETVIRT, MGMT and HOSTOS, and touches no cluster before the management server is done", async () => {
    const gate = new Gate();
    const events: string[] = [];
    const fake = recorded(events, {
      installMgmtUpdate: async ({ targetVersion }) => {
        await gate.pass(mgmtProgress());
        return { version: targetVersion };
      },
    });
    const upgrade = await bench().upgrade({ ...domain(), bundle: platformBundle }, fake);
    await gate.reached;
    const during = await upgrade.task();
    expect(["NETVIRT", "MGMT", "HOSTOS"].map((product) => productOf(during, product).status)).to.deep.equal([
      "SUCCESSFUL",
      "IN_PROGRESS",
      "PENDING",
    ]);
    expect(await upgrade.currentDetails(2)).to.equal("**Waiting for its turn**");
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const components = ["MP", "EDGE", "HOST", "FINALIZE_UPGRADE"].map((one) => `NETVIRT ${one}`);
    const mgmt = ["MGMT stage", "MGMT install", "MGMT installed"];
    expect(events).to.deep.equal([...components, ...mgmt, ...Array.from({ length: 4 }, () => "HOSTOS")]);
  });

  it("says from its prechecks on from which versions each product goes, also after some of it has changed", async () => {
    const gate = new Gate();
    const read = { NETVIRT: "4.2.0.0.24105821", MGMT: "9.0.0.0", HOSTOS: "9.0.0-0.24755229" } as const;
    const fake = recorded([], {
      installMgmtUpdate: async ({ targetVersion }) => {
        await gate.pass(mgmtProgress());
        return { version: targetVersion };
      },
      runNetvirtPrechecks: async () => ({ stages: passedCheck(), versions: { [read.NETVIRT]: 1 } }),
      runMgmtPrechecks: async () => ({ stages: passedCheck(), versions: { [read.MGMT]: 1 } }),
      runClusterPrechecks: async () => ({ stages: passedCheck(), versions: { [read.HOSTOS]: 1 } }),
    });
    const upgrade = await bench().upgrade({ ...domain(), bundle: platformBundle, draft: true }, fake);
    const from = async () =>
      (await upgrade.memo()).upgrade.versions?.map(({ product, from: before = [] }) => [product, ...before]);
    const told = Object.entries(read);
    await eventually(from, (now) => JSON.stringify(now) === JSON.stringify(told));
    expect(
      (await upgrade.memo()).upgrade.hostVersions?.map(({ version }) => version),
      "of hosts alone",
    ).to.deep.equal([read.HOSTOS]);
    await upgrade.ask("commit");
    await gate.reached;
    expect(await from()).to.deep.equal(told);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await from()).to.deep.equal(told);
  });

  it("leaves out the products that the bundle does not hold, also their locks", async () => {
    const events: string[] = [];
    const { netvirt, mgmt, ...options } = domain();
    const gate = new Gate();
    const fake = recorded(events, {
      installMgmtUpdate: async ({ targetVersion }) => {
        await gate.pass();
        return { version: targetVersion };
      },
    });
    const upgrade = await bench().upgrade({ ...options, bundle: bundleOf(component("MGMT")) }, fake);
    await gate.reached;
    expect(await readHolder(bench().env.client, mgmtLock(mgmt))).to.deep.equal({
      upgradeId: upgrade.id,
      upgradeName: upgrade.plan.name,
      resourceName: "vc-01",
      state: "HELD",
    });
    expect(await readHolder(bench().env.client, netvirtLock(netvirt))).to.deep.equal({});
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(events).to.deep.equal(["MGMT stage", "MGMT install", "MGMT installed"]);
    expect((await upgrade.task()).subTasks?.map(({ type }) => type)).to.deep.equal(["PRECHECKS", "MGMT_UPGRADE"]);
  });

  it("stops at a product that fails, says so on those after it, and does not repeat by a retry what is done", async () => {
    const events: string[] = [];
    let broken = true;
    const fake = recorded(events, {
      installMgmtUpdate: async (input) => {
        if (broken) throw mgmtStepFailure(input, { code: "MGMT_NOT_AT_TARGET", final: true });
        return { version: input.targetVersion };
      },
    });
    const upgrade = await bench().upgrade({ ...domain(), bundle: platformBundle }, fake);
    await upgrade.untilStatuses(failed);
    const task = await readTask(upgrade);
    expect([productOf(task, "NETVIRT").status, productOf(task, "MGMT").status]).to.deep.equal(["SUCCESSFUL", "FAILED"]);
    const hosts = productOf(task, "HOSTOS");
    expect([hosts.status, hosts.description]).to.deep.equal([
      "NOT_APPLICABLE",
      "Not started, because the upgrade of MGMT failed.",
    ]);
    for (const { status, description } of hosts.subTasks ?? [])
      expect([status, description]).to.deep.equal([hosts.status, hosts.description]);
    expect(hosts.subTasks).to.have.length(2);
    expect(events).not.to.include("HOSTOS");
    expect(task.isRetryable).to.equal(true);

    broken = false;
    const before = events.length;
    await upgrade.ask("retry");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(new Set(events.slice(before).map((event) => event.split(" ")[0]))).to.deep.equal(
      new Set(["MGMT", "HOSTOS"]),
    );
    const done = await readTask(upgrade);
    expect(productOf(done, "NETVIRT")).to.deep.equal(productOf(task, "NETVIRT"));
    expect(["MGMT", "HOSTOS"].map((product) => productOf(done, product).status)).to.deep.equal([
      "SUCCESSFUL",
      "SUCCESSFUL",
    ]);
  });

  it("ends NETVIRT as nothing to do where a retry finds everything at the target", async () => {
    const options = domain();
    let reads = 0;
    const sound = new FakeActivities();
    const fake = new FakeActivities({
      readNetvirtUpgrade: async (target) => {
        const read = await sound.netvirt.implementation().readNetvirtUpgrade(target);
        // The first run reads twice: before, and to tell how the nodes stand after the failure.
        if (++reads <= 2) return read;
        return { ...read, components: read.components.map((one) => ({ ...one, state: "AT_TARGET" as const })) };
      },
      upgradeNetvirtComponent: () => Promise.reject(activityFailure("NETVIRT_UPGRADE_FAILED")),
    });
    const upgrade = await bench().upgrade({ ...options, bundle: bundleOf(component("NETVIRT")) }, fake);
    await upgrade.untilStatuses(failed);
    const before = fake.netvirt.calls.length;
    await upgrade.ask("retry");
    expect(await upgrade.end()).to.equal("NOTHING_TO_DO");
    expect(fake.netvirt.calls.slice(before)).to.deep.equal(["prechecks", "read"]);
    expect(productOf(await readTask(upgrade), "NETVIRT").status).to.equal("NOT_APPLICABLE");
    expect(await upgrade.statuses()).to.equal("SKIPPED / COMPLETED_WITH_SUCCESS");
  });

  it("shows groups and nodes with their progress while a component of NETVIRT is in work", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      upgradeNetvirtComponent: async ({ component: type }) => {
        if (type === "EDGE") {
          const nodes = [
            { id: "EDGE-1", status: "SUCCESS" as const, percent: 100 },
            { id: "EDGE-2", status: "IN_PROGRESS" as const, percent: 41.7 },
          ];
          await gate.pass({ component: type, reportedFailures: 0, activity: "1 of 2 nodes.", percent: 70, nodes });
        }
        return { component: type, outcome: "UPGRADED" };
      },
    });
    const upgrade = await bench().upgrade({ ...domain(), bundle: bundleOf(component("NETVIRT")) }, fake);
    await gate.reached;
    const instanceOf = (task: Task) => productOf(task, "NETVIRT").subTasks?.[0]?.subTasks ?? [];
    const parts = await eventually(
      async () => instanceOf(await readTask(upgrade)),
      ([, edges]) => edges?.subTasks?.[0]?.status === "IN_PROGRESS",
    );
    expect(parts.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      "NETVIRT_MP_UPGRADE SUCCESSFUL",
      "NETVIRT_EDGE_UPGRADE IN_PROGRESS",
      "NETVIRT_HOST_UPGRADE PENDING",
      "NETVIRT_FINALIZE_UPGRADE PENDING",
    ]);
    expect(parts[1]?.description).to.equal("1 of 2 nodes. (70 %)");
    const [group] = parts[1]?.subTasks ?? [];
    expect(group?.description).to.equal("1 of 2 nodes done.");
    expect(group?.subTasks?.map(({ status, description }) => `${status} ${description}`)).to.deep.equal([
      "SUCCESSFUL Upgraded.",
      "IN_PROGRESS 41 %.",
    ]);
    gate.open();
    await upgrade.end();
    const nodes = instanceOf(await readTask(upgrade)).flatMap(({ subTasks = [] }) => subTasks);
    expect(
      new Set(nodes.flatMap((one) => [one.status, ...(one.subTasks ?? []).map(({ status }) => status)])),
    ).to.deep.equal(new Set(["SUCCESSFUL"]));
  });

  it("reads well in the Temporal Web UI, for NETVIRT and for a management server", async () => {
    const gates = { netvirt: new Gate(), mgmt: new Gate() };
    const fake = new FakeActivities(
      {
        upgradeNetvirtComponent: async ({ component: type }) => {
          if (type === "HOST") await gates.netvirt.pass();
          return { component: type, outcome: "UPGRADED" };
        },
        switchOverMgmtMigration: async ({ targetVersion }) => {
          await gates.mgmt.pass();
          return { version: targetVersion };
        },
      },
      1,
    );
    const options = domain();
    const inputs = { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "ReducedDowntimeMigration" as const }] };
    const upgrade = await bench().upgrade({ ...options, bundle: platformBundle, inputs }, fake);
    await gates.netvirt.reached;
    expect(await upgrade.currentDetails(0)).to.equal(
      "**Upgrading host clusters**\n\nNodes: **4 of 6** at the target, 0 failed.\n\n\u00a0",
    );
    expect(await upgrade.currentDetails(1)).to.equal("**Waiting for its turn**");
    gates.netvirt.open();
    await gates.mgmt.reached;
    expect(await upgrade.currentDetails(0)).to.match(/^\*\*Runs 9\.0\.1\.0\.24952111\*\*[^]*\*\*6 of 6\*\*/);
    expect(await upgrade.currentDetails(1)).to.equal("**Switching over; the management server restarts**");
    gates.mgmt.open();
    await upgrade.end();
    expect(await upgrade.currentDetails(1)).to.equal("**Runs 9.0.2.0**");
    const of = async (n: number) => (await upgrade.child(n)).describe();
    expect(await (await of(0)).staticSummary()).to.equal("nsx-01 to 9.0.1.0.24952111");
    expect(await (await of(0)).staticDetails()).to.contain(
      `**NETVIRT nsx-01** (${options.netvirt})\n\nPart of upgrade \`${upgrade.id}\`: `,
    );
    expect(await (await of(1)).staticSummary()).to.equal("vc-01 to 9.0.2.0");
    expect(await (await of(1)).staticDetails()).to.contain(
      `**Management server vc-01** (${options.mgmt})\n\nPart of upgrade \`${upgrade.id}\`: `,
    );
    expect(await summaries(upgrade, 0)).to.deep.equal([
      "nsx-01: read components and settings",
      "nsx-01: set the coordinator's plan",
      "nsx-01: upgrade managers",
      "nsx-01: upgrade edge clusters",
      "nsx-01: upgrade host clusters",
      "nsx-01: upgrade finalization",
      "nsx-01: restore the coordinator's plan",
    ]);
    expect(await summaries(upgrade, 1)).to.deep.equal([
      "vc-01: read version",
      "vc-01: prepare new appliance",
      "vc-01: switch over",
    ]);
  });

  it("waits for a switchover whoever works meanwhile, and the Task says what for, with no worker as well", async () => {
    const startSwitchoverTimestamp = await bench().inTime(4_000);
    let switchedAt = 0;
    const fake = new FakeActivities({
      switchOverMgmtMigration: async ({ targetVersion }) => {
        switchedAt = await bench().now();
        return { version: targetVersion };
      },
    });
    const inputs = { mgmtUpgradeUserInputSpecs: [{ startSwitchoverTimestamp }] };
    const upgrade = await bench().upgrade({ ...domain(), bundle: bundleOf(component("MGMT")), inputs }, fake);
    const server = async () => productOf(await readTask(upgrade), "MGMT").subTasks?.[0];
    const awaited = `Prepared. Switchover at ${startSwitchoverTimestamp}.`;
    await eventually(server, (now) => now?.description === awaited);
    await bench().stopWorker();
    expect((await server())?.description).to.equal(awaited);
    await bench().startWorker();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(switchedAt).to.be.at.least(Date.parse(startSwitchoverTimestamp));
  });

  it("switches over at the time that somebody gives it while it runs, and at no earlier one", async () => {
    const first = await bench().inTime(86_400_000);
    const resources = domain();
    const resourceId = resources.mgmt;
    let switchedAt = 0;
    const fake = new FakeActivities({
      switchOverMgmtMigration: async ({ targetVersion }) => {
        switchedAt = await bench().now();
        return { version: targetVersion };
      },
    });
    const inputs = { mgmtUpgradeUserInputSpecs: [{ startSwitchoverTimestamp: first }] };
    const options = { ...resources, bundle: bundleOf(component("MGMT")), inputs, draft: true };
    const upgrade = await bench().upgrade(options, fake);
    const server = async () => productOf(await readTask(upgrade), "MGMT").subTasks?.[0];
    const awaits = (time: string) =>
      eventually(server, (now) => now?.description === `Prepared. Switchover at ${time}.`);
    const giveTime = (startSwitchoverTimestamp: string) =>
      upgrade.ask("commit", { mgmtUpgradePatchSpecs: [{ resourceId, startSwitchoverTimestamp }] });

    const asDraft = await bench().inTime(43_200_000);
    await upgrade.untilStatuses("Pending / DRAFT");
    expect((await giveTime(asDraft)).accepted).to.equal(true);
    expect(await upgrade.statuses(), "it commits nothing").to.equal("Pending / DRAFT");
    await upgrade.ask("commit");
    await awaits(asDraft);
    expect((await giveTime("2020-01-01T00:00:00.000Z")).reason?.errorCode).to.equal("SCHEDULE_IN_THE_PAST");
    const soon = await bench().inTime(3_000);
    expect((await giveTime(soon)).accepted).to.equal(true);
    await awaits(soon);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(switchedAt).to.be.within(Date.parse(soon), Date.parse(soon) + 20_000);
  });
});
