import { ApplicationFailure } from "@temporalio/common";
import { expect } from "chai";
import { emptyRecord } from "../../../src/domain/activity/activity-record";
import type { PendingWait } from "../../../activities/contract";
import { lowerFirst } from "../../../src/domain/names";
import { readWaits } from "../../../src/temporal/upgrade-waits";
import { readHolder } from "../../../src/temporal/lock-holder";
import { initialFacts } from "../../../src/domain/upgrade/upgrade-facts";
import { initialTask } from "../../../src/domain/task/task-progress";
import { taskQueue } from "../../../workflows/messages";
import type { CarriedUpgrade } from "../../../workflows/upgrade/continue-as-new";
import type { upgradeWorkflow } from "../../../workflows/upgrade/upgrade-workflow";
import { RunningUpgrade } from "../../support/running-upgrade";
import { samplePlan } from "../../support/sample-plan";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, hostFailure, upgraded } from "../../support/fake-activities";
import { dataOf, notifierOf, toldTo } from "../../support/notifier";
import { useBench } from "../../support/upgrade-bench";

const chat = { id: "chat", retryHours: 24 };
const waits = { id: "chat", retryHours: 24, events: ["upgrade.wait.long"] } as const;
const twoSeconds = 2 / 60;

describe("A long wait", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  const told = (fake: FakeActivities, count = 1) =>
    eventually(
      async () => dataOf(fake, "upgrade.wait.long"),
      ({ length }) => length >= count,
    );

  it("for an operator who resumes the upgrade is told once, and says who is wanted", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, 2);
    const upgrade = await bench().upgrade({ notifications: [waits], longWaitMinutes: twoSeconds }, fake);
    await gate.reached;
    await upgrade.ask("pause", { requestedBy: "bob" });
    const [wait] = await told(fake);
    expect(wait).to.deep.include({ status: "PAUSED", wanted: "RESUME" });
    expect(wait?.waitingFor).to.deep.include({ code: "RESUME" });
    expect(Date.parse(wait?.waitingFor?.since ?? "")).to.be.at.most(Date.now() - 2000);
    await upgrade.ask("resume");
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    await notifierOf(bench(), upgrade).result();
    expect(toldTo(fake)).to.deep.equal(["upgrade.wait.long"]);
  });

  it("for a lock that another upgrade took while a scheduled one continued as new is told, with the holder", async () => {
    const gate = new Gate();
    const holder = await bench().upgrade(
      {},
      new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, 1),
    );
    await gate.reached;
    const now = Date.now();
    const resources = [
      { resourceId: holder.resourceId(), scheduledTimestamp: new Date(now + 3_600_000).toISOString() },
    ];
    const plan = samplePlan({ now, resources, notifications: [waits], longWaitMinutes: 1 / 60 });
    const { client } = bench().env;
    const fake = new FakeActivities({
      readLockHolder: ({ workflowId }) => readHolder(client, workflowId),
    });
    bench().serve(plan, fake);
    const phase = "SCHEDULED" as const;
    const known = { task: initialTask(plan), children: [], results: [], hosts: [], missed: [], askedAt: 0 };
    const errors = { failedPrechecks: [], warnings: [] };
    const toldBefore = {
      notices: { sequence: 0, runs: 0 },
      notifier: {},
      activity: emptyRecord,
      facts: initialFacts(plan),
      leftOut: [],
    };
    const before: CarriedUpgrade = {
      state: { ...known, ...errors, ...toldBefore, phase, phaseSince: plan.creationTimestamp },
      outcomes: [],
      precheckedAt: now,
    };
    const handle = await client.workflow.start<typeof upgradeWorkflow>("upgradeWorkflow", {
      workflowId: plan.id,
      taskQueue,
      args: [plan, before],
    });
    const upgrade = new RunningUpgrade(client, handle, plan, fake);
    const [wait] = await told(fake);
    expect(wait?.status).to.equal("SCHEDULED");
    expect(wait?.waitingFor).to.include({ code: "LOCK" });
    expect(wait?.waitingFor?.message).to.contain(`held by ${lowerFirst(holder.plan.name)} (${holder.id})`);
    await upgrade.handle.cancel();
    gate.open();
    await Promise.all([upgrade.end(), holder.end()]);
  });

  it("of a part is told where two looks in a row find it, and not again", async () => {
    const gate = new Gate();
    const wait: PendingWait = { key: "a", wait: { code: "HEALTH_GATE", message: "Waiting for DRS.", resourceId: "r" } };
    let looks = 0;
    const passing: PendingWait = { key: "b", wait: { code: "WORKER", message: "No worker." } };
    const fake = new FakeActivities({
      remediateHost: (input) => gate.pass().then(() => upgraded(input)),
      readUpgradeWaits: async () => ({ waits: ++looks === 1 ? [wait, passing] : [wait] }),
    });
    const upgrade = await bench().upgrade({ notifications: [waits], longWaitMinutes: 1 / 60 }, fake);
    await eventually(
      async () => looks,
      (count) => count >= 4,
    );
    gate.open();
    await upgrade.end();
    await notifierOf(bench(), upgrade).result();
    const [data, ...others] = dataOf(fake, "upgrade.wait.long");
    expect(others).to.deep.equal([]);
    expect(data?.waitingFor).to.deep.include({ code: "HEALTH_GATE", message: "Waiting for DRS.", resourceId: "r" });
    expect(data).to.not.have.property("wanted");
  });

  it("for a step that fails again and again is told, and not for one that has failed once and works since", async () => {
    const gate = new Gate();
    let looks = 0;
    const retried = (key: string, attempt: number): PendingWait => ({
      key,
      attempt,
      wait: { code: "RETRY", message: `${key} does not answer.` },
    });
    const fake = new FakeActivities({
      remediateHost: (input) => gate.pass().then(() => upgraded(input)),
      readUpgradeWaits: async () => ({ waits: [retried("again", ++looks + 1), retried("once", 2)] }),
    });
    const upgrade = await bench().upgrade({ notifications: [waits], longWaitMinutes: 1 / 60 }, fake);
    await told(fake);
    await eventually(
      async () => looks,
      (count) => count >= 3,
    );
    gate.open();
    await upgrade.end();
    await notifierOf(bench(), upgrade).result();
    expect(dataOf(fake, "upgrade.wait.long").map(({ waitingFor }) => waitingFor?.message)).to.deep.equal([
      "again does not answer.",
    ]);
  });

  it("is not told of a draft, a scheduled or a failed upgrade, which have no timer for it", async () => {
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        throw hostFailure(input);
      },
    });
    const upgrade = await bench().upgrade({ draft: true, notifications: [waits], longWaitMinutes: 1 / 60 }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    const pending = async () => {
      const started = (await upgrade.events()).filter((event) => event.timerStartedEventAttributes).length;
      const ended = (await upgrade.events()).filter(
        (event) => event.timerFiredEventAttributes ?? event.timerCanceledEventAttributes,
      ).length;
      return started - ended;
    };
    await eventually(pending, (count) => count === 0);
    await upgrade.ask("commit");
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    // That of the decision alone.
    await eventually(pending, (count) => count === 1);
    expect(dataOf(fake, "upgrade.wait.long")).to.deep.equal([]);
  });

  it("costs nothing where nobody wants to know, and its failed looks do not fail the upgrade", async () => {
    let looks = 0;
    const gate = new Gate();
    const fake = () =>
      new FakeActivities({
        remediateHost: (input) => gate.pass().then(() => upgraded(input)),
        readUpgradeWaits: async () => {
          looks += 1;
          throw ApplicationFailure.nonRetryable("Temporal does not answer");
        },
      });
    const quiet = { id: "chat", retryHours: 1, events: ["upgrade.failed"] } as const;
    const other = await bench().upgrade({ notifications: [quiet], longWaitMinutes: 1 / 600 }, fake());
    const upgrade = await bench().upgrade({ notifications: [chat], longWaitMinutes: 1 / 60 }, fake());
    await eventually(
      async () => looks,
      (count) => count >= 2,
    );
    gate.open();
    expect([await upgrade.end(), await other.end()]).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL"]);
    expect((await other.events()).filter((event) => event.timerStartedEventAttributes)).to.deep.equal([]);
  });

  it("is read from Temporal: a step that is tried again, with the error and its resource", async () => {
    const fake = new FakeActivities({
      readClusterHosts: async () => {
        const error = {
          errorCode: "COMPONENT_MANAGER_UNREACHABLE",
          message: "Component manager vc-1 does not answer.",
        };
        throw ApplicationFailure.create({ message: error.message, details: [{ error }] });
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    const read = await eventually(
      () => readWaits(bench().env.client, upgrade.id),
      (found) => found.some(({ attempt = 0 }) => attempt > 2),
    );
    expect(read.map(({ wait }) => wait)).to.deep.equal([
      { code: "RETRY", message: "Component manager vc-1 does not answer.", resourceId: upgrade.resourceId() },
    ]);
    await upgrade.handle.cancel();
    await upgrade.end();
    expect(await readWaits(bench().env.client, upgrade.id)).to.deep.equal([]);
  });

  it("is read from Temporal: what a health gate waits for, and nothing of a host in work", async () => {
    const gate = new Gate();
    const health = new Gate();
    const fake = new FakeActivities(
      {
        remediateHost: (input) => gate.pass().then(() => upgraded(input)),
        awaitClusterHealth: () => health.pass(),
      },
      2,
    );
    const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
    await health.reached;
    const read = await eventually(
      () => readWaits(bench().env.client, upgrade.id),
      ({ length }) => length > 0,
    );
    expect(read.map(({ wait }) => wait)).to.deep.equal([
      {
        code: "HEALTH_GATE",
        message: "Waiting for the cluster to be healthy.",
        resourceId: upgrade.resourceId(),
      },
    ]);
    health.open();
    await gate.reached;
    expect(await readWaits(bench().env.client, upgrade.id)).to.deep.equal([]);
    gate.open();
    await upgrade.end();
  });
});
