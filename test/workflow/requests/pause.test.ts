import { expect } from "chai";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, hostFailure, passedCheck, upgraded } from "../../support/fake-activities";
import { untilQuiet } from "../../support/quiet";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const paused = "In Progress / PAUSED";
const running = "In Progress / INPROGRESS";
const failed = "Failed / COMPLETED_WITH_FAILURE";

/** Activities of which the first host stays at a gate, and then fails as often as it is to. */
function gatedHost(gate: Gate, hosts = 3, failures = 0): FakeActivities {
  let reported = 0;
  return new FakeActivities(
    {
      remediateHost: async (input) => {
        if (input.host.host === "host-1") await gate.pass();
        if (reported < failures) throw hostFailure(input, ++reported);
        return upgraded(input);
      },
    },
    hosts,
  );
}

describe("Pausing an upgrade", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** An upgrade that was paused while its first host was in work, which has ended since then. */
  async function pausedAfterFirstHost(options: Parameters<ReturnType<typeof bench>["upgrade"]>[0] = {}) {
    const gate = new Gate();
    const upgrade = await bench().upgrade(options, gatedHost(gate));
    await gate.reached;
    expect((await upgrade.ask("pause", { requestedBy: "operator" })).accepted).to.equal(true);
    await untilChildKnows(upgrade);
    gate.open();
    await eventually(
      () => upgrade.hosts(),
      ([first]) => first === "SUCCESSFUL",
    );
    await untilQuiet(upgrade, 0);
    return upgrade;
  }

  async function untilChildKnows(upgrade: RunningUpgrade, isPaused = true): Promise<void> {
    await eventually(
      () => upgrade.subTask(),
      ({ description }) => description.startsWith("Paused: ") === isPaused,
    );
  }

  async function refusal(upgrade: RunningUpgrade, request: "pause" | "resume"): Promise<string> {
    const { accepted, reason } = await upgrade.ask(request);
    expect(accepted).to.equal(false);
    expect([reason?.errorCode, reason?.errorType]).to.deep.equal(["REQUEST_NOT_POSSIBLE", "CONFLICT"]);
    return reason?.message ?? "";
  }

  it("lets the host in work finish and begins no other, until it is resumed", async () => {
    const upgrade = await pausedAfterFirstHost();
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "PENDING", "PENDING"]);
    expect(await upgrade.statuses()).to.equal(paused);
    expect(upgrade.fake.remediations).to.have.length(1);
    expect((await upgrade.ask("resume")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(upgrade.fake.remediations).to.have.length(3);
    expect((await upgrade.resourceMemo()).subTask.description).not.to.contain("Paused");
  });

  it("says on the Task, in memos and in the Web UI that it is paused, and then that it is not", async () => {
    const upgrade = await pausedAfterFirstHost();
    const { localizableDescriptionPack: pack, subTasks = [], isCancellable } = await upgrade.task();
    expect([pack?.messageKey, isCancellable]).to.deep.equal(["upgrade.task.paused", true]);
    expect(pack?.message).to.contain("paused");
    expect(subTasks.at(-1)?.description).to.match(/^Paused: /);
    expect((await upgrade.memo()).upgrade.status).to.equal("PAUSED");
    expect((await upgrade.resourceMemo()).subTask.description).to.match(/^Paused: /);
    expect(await upgrade.currentDetails())
      .to.match(/^\*\*Paus(ing|ed)\*\* \(PAUSED\)/)
      .and.to.contain("--name resume");
    expect(await upgrade.currentDetails(0)).to.match(/^\*\*Paused: /);
    await upgrade.ask("resume");
    await upgrade.end();
    const { localizableDescriptionPack, subTasks: ended } = await upgrade.task();
    expect(localizableDescriptionPack?.message).to.equal(upgrade.plan.name);
    expect(JSON.stringify(ended)).not.to.contain("Paused");
    expect(await upgrade.currentDetails(0)).not.to.contain("Paused");
  });

  it("is refused before anything runs and after the end, and so is what says nothing new", async () => {
    const scheduledTimestamp = await bench().inTime(86_400_000);
    const scheduled = await bench().upgrade({ resources: clusters(1).map((c) => ({ ...c, scheduledTimestamp })) });
    const draft = await bench().upgrade({ draft: true });
    await scheduled.untilStatuses("Pending / SCHEDULED");
    await draft.untilStatuses("Pending / DRAFT");
    for (const upgrade of [scheduled, draft]) {
      expect(await refusal(upgrade, "pause")).to.contain("is not running");
      expect(await refusal(upgrade, "resume")).to.contain("Only a paused upgrade");
    }
    const upgrade = await bench().upgrade(
      {},
      new FakeActivities({ remediateHost: (input) => Promise.reject(hostFailure(input)) }),
    );
    await upgrade.untilStatuses(failed);
    expect(await refusal(upgrade, "pause")).to.contain("Only a running upgrade");
  });

  it("refuses a second pause, and a second resumption", async () => {
    const gate = new Gate();
    const upgrade = await bench().upgrade({}, gatedHost(gate));
    await gate.reached;
    expect(await refusal(upgrade, "resume")).to.contain("INPROGRESS");
    await upgrade.ask("pause");
    expect(await refusal(upgrade, "pause")).to.contain("already paused");
    await upgrade.ask("resume");
    expect(await refusal(upgrade, "resume")).to.contain("INPROGRESS");
    expect(await upgrade.statuses()).to.equal(running);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("stays paused when workers come and go", async () => {
    const upgrade = await pausedAfterFirstHost();
    await bench().stopWorker();
    await bench().startWorker();
    expect(await upgrade.statuses()).to.equal(paused);
    await untilQuiet(upgrade, 0);
    expect(upgrade.fake.remediations).to.have.length(1);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("takes effect when a worker is back where none runs", async () => {
    const gate = new Gate();
    const upgrade = await bench().upgrade({}, gatedHost(gate));
    await gate.reached;
    await bench().stopWorker();
    await upgrade.handle.signal("pause", { requestId: "by-hand" });
    await bench().startWorker();
    expect((await upgrade.outcomeOf("by-hand")).accepted).to.equal(true);
    await untilChildKnows(upgrade);
    gate.open();
    await eventually(
      () => upgrade.hosts(),
      ([first]) => first === "SUCCESSFUL",
    );
    await untilQuiet(upgrade, 0);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "PENDING", "PENDING"]);
  });

  it("begins no cluster after prechecks that ran while it was paused", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      runClusterPrechecks: () => gate.pass().then(() => ({ stages: passedCheck() })),
    });
    const upgrade = await bench().upgrade({ resources: clusters(2) }, fake);
    await gate.reached;
    await upgrade.ask("pause");
    gate.open();
    await eventually(
      () => upgrade.task(),
      ({ subTasks }) => subTasks?.[0]?.status === "SUCCESSFUL",
    );
    await untilQuiet(upgrade);
    expect(await upgrade.statuses()).to.equal(paused);
    expect(fake.calls.filter((call) => call.startsWith("readHosts"))).to.deep.equal([]);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("changes nothing of a cluster whose hosts were being read", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      readClusterHosts: () => gate.pass().then(() => [{ host: "host-1", fqdn: "esx", version: "1", atTarget: false }]),
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.ask("pause");
    await untilChildKnows(upgrade);
    gate.open();
    await eventually(
      () => upgrade.hosts(),
      (hosts) => hosts.length === 1,
    );
    await untilQuiet(upgrade, 0);
    expect(fake.changes).to.deep.equal([]);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("lets a host between attempts have the attempts that it has left", async () => {
    const gate = new Gate();
    const action = { action: "RETRY", retryCount: 2, retryDelay: 0 } as const;
    const resources = clusters(1).map((cluster) => ({
      ...cluster,
      hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: action },
    }));
    const upgrade = await bench().upgrade({ resources }, gatedHost(gate, 2, 2));
    await gate.reached;
    await upgrade.ask("pause");
    await untilChildKnows(upgrade);
    gate.open();
    await eventually(
      () => upgrade.hosts(),
      ([first]) => first === "SUCCESSFUL",
    );
    await untilQuiet(upgrade, 0);
    expect(upgrade.fake.remediations).to.have.length(3);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "PENDING"]);
  });

  it("lets all hosts of one remediation finish, and begins no other group", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHosts: async ({ hosts, ...target }) => {
        await gate.pass();
        return { upgraded: hosts.map((host) => upgraded({ ...target, host })), failed: [], stopped: [] };
      },
    });
    const upgrade = await bench().upgrade({ rollout: { hostsAtOnce: 2 } }, fake);
    await gate.reached;
    await upgrade.ask("pause");
    await untilChildKnows(upgrade);
    gate.open();
    await eventually(
      () => upgrade.hosts(),
      ([first]) => first === "SUCCESSFUL",
    );
    await untilQuiet(upgrade, 0);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "PENDING"]);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("asks for the cluster's health again when it is resumed", async () => {
    const gate = new Gate();
    let asked = 0;
    const fake = new FakeActivities({
      awaitClusterHealth: async () => {
        if (++asked === 2) await gate.pass();
      },
    });
    const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
    await gate.reached;
    await upgrade.ask("pause");
    await untilChildKnows(upgrade);
    gate.open();
    await untilQuiet(upgrade, 0);
    expect([asked, await upgrade.hosts()]).to.deep.equal([2, ["SUCCESSFUL", "PENDING", "PENDING"]]);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(asked).to.equal(4);
  });

  it("trusts no health check that was begun before it", async () => {
    const look = new Gate();
    const checks: (string | undefined)[] = [];
    let looks = 0;
    const fake = new FakeActivities(
      {
        lookAtHealth: async () => {
          if (++looks > 1) return { healthy: true };
          await look.pass();
          return { healthy: false, check: "before-the-pause" };
        },
        awaitClusterHealth: async ({ check }) => void checks.push(check),
      },
      1,
    );
    const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
    await look.reached;
    await upgrade.ask("pause");
    await untilChildKnows(upgrade);
    look.open();
    await eventually(
      () => upgrade.hosts(),
      ([first]) => first === "PENDING",
    );
    expect(checks).to.deep.equal([]);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(checks).to.deep.equal([undefined]);
  });

  it("can be cancelled: settings are restored, and the Task says what was done and what was not", async () => {
    const upgrade = await pausedAfterFirstHost();
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(await upgrade.statuses()).to.equal("Cancelled / CANCELLED");
    expect(upgrade.fake.changes.at(-1)).to.equal(`restorePolicy ${upgrade.resourceId()}`);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "NOT_APPLICABLE", "NOT_APPLICABLE"]);
    const task = await upgrade.task();
    expect(task.localizableDescriptionPack?.messageKey).to.equal("upgrade.task.cancelled");
    expect(task.subTasks?.at(-1)?.subTasks?.[0]?.description).to.contain("1 of 3 hosts at");
    expect(JSON.stringify(await upgrade.memo())).not.to.contain("Paused");
    expect(await upgrade.currentDetails()).to.match(/^\*\*Cancelled\*\*/);
  });

  it("ends as failed where the host in work fails, and a retry begins unpaused", async () => {
    const gate = new Gate();
    const upgrade = await bench().upgrade({}, gatedHost(gate, 3, 1));
    await gate.reached;
    await upgrade.ask("pause");
    gate.open();
    await upgrade.untilStatuses(failed);
    expect(await refusal(upgrade, "resume")).to.contain("COMPLETED_WITH_FAILURE");
    await upgrade.ask("retry");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const { errors, resolutionStatus } = await upgrade.task();
    expect([errors?.length, resolutionStatus]).to.deep.equal([1, "RESOLVED"]);
  });

  it("ends well where the last host was in work", async () => {
    const gate = new Gate();
    const upgrade = await bench().upgrade({}, gatedHost(gate, 1));
    await gate.reached;
    await upgrade.ask("pause");
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await upgrade.statuses()).to.equal("Successful / COMPLETED_WITH_SUCCESS");
    expect(JSON.stringify(await upgrade.task())).not.to.contain("aused");
  });
});

describe("Pausing an upgrade while time passes", function () {
  this.timeout(30_000);
  const bench = useBench("TIME_SKIPPING");
  const hour = 3_600_000;

  it("begins no cluster whose own time comes meanwhile; when it is resumed the prechecks run again", async () => {
    const scheduledTimestamp = await bench().inTime(hour);
    const [now, later] = clusters(2);
    const upgrade = await bench().upgrade({ resources: [now!, { ...later!, scheduledTimestamp }] });
    await upgrade.child(0);
    expect(await upgrade.childEnd(0)).to.equal("COMPLETED");
    expect((await upgrade.ask("pause")).accepted).to.equal(true);
    await bench().passTime(5 * hour);
    await untilQuiet(upgrade);
    expect(await upgrade.statuses()).to.equal(paused);
    expect(upgrade.fake.calls).not.to.include(`readHosts ${upgrade.resourceId(1)}`);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const checks = upgrade.fake.calls.filter((call) => call === `prechecks ${upgrade.resourceId(1)}`);
    expect(checks).to.have.length(2);
  });

  it("lets the soak time of a host end, and begins no host after it", async () => {
    const gate = new Gate();
    const upgrade = await bench().upgrade({ rollout: { soakSeconds: 600 } }, gatedHost(gate, 2));
    await gate.reached;
    await upgrade.ask("pause");
    gate.open();
    await eventually(
      () => upgrade.hosts(),
      ([first]) => first === "SUCCESSFUL",
    );
    await bench().passTime(hour);
    await untilQuiet(upgrade, 0);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "PENDING"]);
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });
});

describe("Pausing an upgrade again and again", function () {
  this.timeout(60_000);
  const bench = useBench("TIME_SKIPPING");

  it("tells its resources of pauses at once and of resumes ever later, so that no script fills their histories", async () => {
    const gate = new Gate();
    const upgrade = await bench().upgrade({}, gatedHost(gate));
    await gate.reached;
    const pairs = 40;
    for (let i = 0; i < pairs; i++) {
      await upgrade.ask("pause");
      await eventually(
        () => upgrade.subTask(),
        ({ isPaused }) => isPaused === true,
      );
      await upgrade.ask("resume");
      // The first ones are told at once; how many of the others are depends on how fast this runs.
      if (i < 15)
        await eventually(
          () => upgrade.subTask(),
          ({ isPaused }) => isPaused !== true,
        );
    }
    const told = (await upgrade.events(0)).filter(
      (event) => event.workflowExecutionSignaledEventAttributes?.signalName === "paused",
    );
    expect(told.length).to.be.at.least(30).and.at.most(60);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
  });
});
