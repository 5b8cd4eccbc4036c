import { temporal } from "@temporalio/proto";
import { expect } from "chai";
import type { RemediateHostInput } from "../../activities/contract";
import { lockOf } from "../../src/domain/resource-lock";
import { resourcesOf } from "../../src/domain/upgrade-plan";
import { eventually } from "../support/eventually";
import { Gate } from "../support/fake-activities";
import { olderBuild, olderBuilds } from "../support/older-builds";
import type { RunningUpgrade } from "../support/running-upgrade";
import { UpgradeBench } from "../support/upgrade-bench";
import { inFlight, Manager, pausedUpgrade, type InFlight } from "./upgrades-in-flight";

const { EventType, WorkflowTaskFailedCause } = temporal.api.enums.v1;

/** Those that drop the Signal `pause`. */
const beforePauses = ["before-operations"];

describe("A deployment of this build", function () {
  this.timeout(120_000);

  it("is tried on the builds before the last changes of Workflows", () => {
    expect(olderBuilds()).to.include.members(["before-operations", "before-notifications"]);
  });

  for (const build of olderBuilds())
    describe(`over ${build}, whose worker is stopped, with upgrades of every phase in flight`, () => {
      const phases = { ...inFlight, ...(!beforePauses.includes(build) && { "one that is paused": pausedUpgrade }) };
      const found = new Map<string, InFlight>();
      let bench: UpgradeBench;

      before(async () => {
        bench = await UpgradeBench.start("DEV_SERVER");
        await bench.stopWorker();
        await bench.startWorker({ bundle: olderBuild(build) });
        await Promise.all(
          Object.entries(phases).map(async ([phase, begin]) => void found.set(phase, await begin(bench))),
        );
        await bench.stopWorker();
        await bench.startWorker();
      });
      after(async () => {
        await bench.clean();
        await bench.stop();
      });
      afterEach(async function () {
        if (this.currentTest?.state === "failed") process.stderr.write(`${await bench.explain()}\n`);
      });

      for (const phase of Object.keys(phases))
        it(`finishes ${phase}`, async () => {
          const one = found.get(phase);
          if (!one) throw new Error("It was not begun");
          await one.goOn();
          const { ends = "SUCCESSFUL", begun, expected, upgrade } = one;
          expect(await upgrade.end()).to.equal(ends);
          const { status } = (await upgrade.memo()).task;
          expect(status).to.equal(ends === "CANCELLED" ? "Cancelled" : "Successful");
          expect([...begun].sort()).to.deep.equal([...expected].sort());
          expect(await failedTasks(bench, upgrade)).to.deep.equal([]);
        });
    });
});

describe("Workers of two builds", function () {
  this.timeout(120_000);
  let bench: UpgradeBench;
  const older = { bundle: olderBuild("before-notifications"), buildId: "older" };
  const newer = { buildId: "newer" };

  beforeEach(async () => {
    bench = await UpgradeBench.start("DEV_SERVER");
    await bench.stopWorker();
  });
  afterEach(async function () {
    if (this.currentTest?.state === "failed") process.stderr.write(`${await bench.explain()}\n`);
    await bench.stopWorker();
    await bench.clean();
    await bench.stop();
  });

  /** An upgrade of which the newer build leaves a marker in its first Workflow Task, with a host at the gate. */
  async function marked(gate?: Gate) {
    const manager = new Manager(gate);
    const upgrade = await bench.upgrade({ notifications: [{ id: "chat", retryHours: 1 }] }, manager.with({}));
    return { upgrade, begun: manager.begun };
  }

  /**
   * Until the older build has been given what it cannot go on with, which Temporal offers again ever more seldom: side by
   * side for longer, chance would say how long the test takes.
   */
  async function untilRefused(upgrades: readonly { readonly upgrade: RunningUpgrade }[]) {
    await eventually(
      async () => (await Promise.all(upgrades.map(({ upgrade }) => failedTasks(bench, upgrade)))).flat(),
      (causes) => causes.includes(nonDeterminism),
      60_000,
    );
  }

  it("side by side finish upgrades whose Workflow Tasks go to either of them, and begin each host once", async () => {
    await bench.addWorker({ ...newer, forgetful: true });
    const gates = Array.from({ length: 4 }, () => new Gate());
    const running = await Promise.all(gates.map((gate) => marked(gate)));
    await Promise.all(gates.map(({ reached }) => reached));
    const stopOlder = await bench.addWorker({ ...older, forgetful: true });
    const begunMeanwhile = await Promise.all(Array.from({ length: 4 }, () => marked()));
    for (const gate of gates) gate.open();
    await untilRefused(running);
    await stopOlder();
    for (const { upgrade, begun } of [...running, ...begunMeanwhile]) {
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(begun).to.deep.equal(["host-1", "host-2"]);
      expect((await failedTasks(bench, upgrade)).filter((cause) => cause !== nonDeterminism)).to.deep.equal([]);
    }
  });

  it("side by side begin no host again that an Activity has done in turn", async () => {
    await bench.addWorker({ ...newer, forgetful: true });
    const upgrades = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const gate = new Gate();
        const manager = new Manager(gate);
        const remediateHost = (input: RemediateHostInput) => manager.remediateInTurn(input);
        const upgrade = await bench.upgrade({}, manager.with({ remediateHost }));
        await gate.reached;
        return { upgrade, manager, gate };
      }),
    );
    const older = { bundle: olderBuild("before-fewer-tasks"), buildId: "older" };
    const stopOlder = await bench.addWorker({ ...older, forgetful: true });
    for (const { gate } of upgrades) gate.open();
    await untilRefused(upgrades);
    await stopOlder();
    for (const { upgrade, manager } of upgrades) {
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(manager.begun).to.deep.equal(["host-1", "host-2"]);
      expect(manager.inTurn, "hosts of whose end no older worker may hear").to.deep.equal(["host-2"]);
    }
  });

  it("side by side finish upgrades that the older build has begun", async () => {
    await bench.addWorker({ ...older, forgetful: true });
    const gate = new Gate();
    const { upgrade, begun } = await marked(gate);
    await gate.reached;
    await bench.addWorker({ ...newer, forgetful: true });
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(begun).to.deep.equal(["host-1", "host-2"]);
    expect(await failedTasks(bench, upgrade)).to.deep.equal([]);
  });

  describe("one after the other, back to the older one", () => {
    it("let an upgrade with a marker stand still, which goes on when the newer build is back", async () => {
      await bench.startWorker();
      const gate = new Gate();
      const { upgrade, begun } = await marked(gate);
      await gate.reached;
      await bench.stopWorker();
      await bench.startWorker(older);
      gate.open();
      // Its cluster's Workflow has a marker as well, and neither goes on.
      await eventually(
        () => failedTasks(bench, upgrade),
        (causes) => causes.includes(nonDeterminism),
        60_000,
      );
      expect((await upgrade.handle.describe()).status.name).to.equal("RUNNING");
      await bench.stopWorker();
      await bench.startWorker();
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(begun).to.deep.equal(["host-1", "host-2"]);
    });

    it("finish an upgrade without a marker on the older one", async () => {
      await bench.startWorker();
      const manager = new Manager();
      // A cluster that the newer build begins has a marker; a draft has none.
      const upgrade = await bench.upgrade({ draft: true }, manager.with({}));
      await upgrade.untilStatuses("Pending / DRAFT");
      await bench.stopWorker();
      await bench.startWorker(older);
      await upgrade.ask("commit");
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(manager.begun).to.deep.equal(["host-1", "host-2"]);
      expect(await failedTasks(bench, upgrade)).to.deep.equal([]);
    });
  });
});

const nonDeterminism =
  WorkflowTaskFailedCause[WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR];

/** The server has one repeated by which a Workflow wanted to end when a Signal had just come. */
const signalledAtItsEnd = WorkflowTaskFailedCause[WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND];

/** Why Workflow Tasks of an upgrade and of its resources have failed, each. Asks no worker. */
async function failedTasks(bench: UpgradeBench, { id, plan }: RunningUpgrade): Promise<(string | undefined)[]> {
  const histories = [id, ...resourcesOf(plan).map(lockOf)].map((workflowId) =>
    bench.env.client.workflow.getHandle(workflowId).fetchHistory(),
  );
  const events = (await Promise.all(histories)).flatMap((history) => history.events ?? []);
  return events
    .filter(({ eventType }) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)
    .map(
      ({ workflowTaskFailedEventAttributes }) => WorkflowTaskFailedCause[workflowTaskFailedEventAttributes?.cause ?? 0],
    )
    .filter((cause) => cause !== signalledAtItsEnd);
}
