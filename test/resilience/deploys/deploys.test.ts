import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import type { WorkflowBundle } from "@temporalio/worker";
import { expect } from "chai";
import pLimit from "p-limit";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import { lockOf } from "../../../src/domain/resource-lock";
import { changedBundle } from "../../workflow/replay/replay";
import { eventually } from "../../support/eventually";
import { Gate } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { UpgradeBench } from "../../support/upgrade-bench";
import { madePatch } from "./made-patch";
import { inFlight, type SingleFlight, Manager } from "./upgrades-in-flight";

const { EventType, WorkflowTaskFailedCause } = temporal.api.enums.v1;

/** The older build is this one; the newer is made here, of the same sources with one patched change. */
const older = { buildId: "older" };
let newerBundle: WorkflowBundle;
const newer = () => ({ bundle: newerBundle, buildId: "newer" });

before(async function () {
  this.timeout(120_000);
  newerBundle = await changedBundle(madePatch.change);
});

describe("A deployment of a newer build with upgrades of every phase in flight", function () {
  this.timeout(120_000);
  const found = new Map<string, SingleFlight>();
  let bench: UpgradeBench;

  before(async () => {
    bench = await UpgradeBench.start("DEV_SERVER");
    // A few at once: each is asked for its status until it is there, which is work for the one worker.
    const few = pLimit(4);
    await few.map(Object.entries(inFlight), async ([phase, begin]) => void found.set(phase, await begin(bench)));
    await bench.stopWorker();
    await bench.startWorker(newer());
  });
  after(async () => {
    await bench.clean();
    await bench.stop();
  });
  afterEach(async function () {
    if (this.currentTest?.state === "failed") process.stderr.write(`${await bench.explain()}\n`);
  });

  for (const phase of Object.keys(inFlight))
    it(`finishes ${phase}`, async () => {
      const one = found.get(phase);
      if (!one) throw new Error("It was not begun");
      await one.goOn();
      const { ends = "SUCCESSFUL", begun, expected, upgrade, remediatesHosts = true } = one;
      expect(await upgrade.end()).to.equal(ends);
      const { status } = (await upgrade.memo()).task;
      expect(status).to.equal(ends === "CANCELLED" ? "Cancelled" : "Successful");
      expect([...begun].sort()).to.deep.equal([...expected].sort());
      expect(await failedTasks(bench, upgrade)).to.deep.equal([]);
      expect(await passedPatch(bench, upgrade), "has passed the patch").to.equal(remediatesHosts);
    });
});

describe("Workers of two builds", function () {
  this.timeout(240_000);
  let bench: UpgradeBench;

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

  /** An upgrade of two hosts; with a gate, one that has come to its first host, where the newer build leaves a marker. */
  async function begin(gate?: Gate) {
    const manager = new Manager(gate);
    const upgrade = await bench.upgrade({}, manager.with({}));
    await gate?.reached;
    return { upgrade, begun: manager.begun };
  }

  /**
   * Until the older build has been given what it cannot go on with, which Temporal offers again ever more seldom: side by
   * side for longer, chance would say how long the test takes.
   */
  async function untilRefused(upgrades: readonly { readonly upgrade: RunningUpgrade }[]) {
    await eventually(
      async () => (await Promise.all(upgrades.map(({ upgrade }) => wasRefused(bench, upgrade)))).includes(true),
      (refused) => refused,
      60_000,
    );
  }

  it("side by side finish upgrades whose Workflow Tasks go to either of them, and begin each host once", async () => {
    await bench.addWorker({ ...newer(), forgetful: true });
    const gates = Array.from({ length: 4 }, () => new Gate());
    const running = await Promise.all(gates.map((gate) => begin(gate)));
    const stopOlder = await bench.addWorker({ ...older, forgetful: true });
    const begunMeanwhile = await Promise.all(Array.from({ length: 4 }, () => begin()));
    for (const gate of gates) gate.open();
    await untilRefused(running);
    await stopOlder();
    for (const { upgrade, begun } of [...running, ...begunMeanwhile]) {
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(begun).to.deep.equal(["host-1", "host-2"]);
      expect((await failedTasks(bench, upgrade)).filter((cause) => cause !== nonDeterminism)).to.deep.equal([]);
    }
  });

  it("side by side finish upgrades that the older build has begun", async () => {
    await bench.addWorker({ ...older, forgetful: true });
    const gate = new Gate();
    const { upgrade, begun } = await begin(gate);
    await bench.addWorker({ ...newer(), forgetful: true });
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(begun).to.deep.equal(["host-1", "host-2"]);
    expect(await failedTasks(bench, upgrade)).to.deep.equal([]);
  });

  describe("one after the other, back to the older one", () => {
    it("let an upgrade that has passed the patch stand still, which goes on when the newer build is back", async () => {
      await bench.startWorker(newer());
      const gate = new Gate();
      const { upgrade, begun } = await begin(gate);
      expect(await passedPatch(bench, upgrade)).to.equal(true);
      await bench.stopWorker();
      await bench.startWorker(older);
      gate.open();
      await untilRefused([{ upgrade }]);
      expect((await upgrade.handle.describe()).status.name).to.equal("RUNNING");
      await bench.stopWorker();
      await bench.startWorker(newer());
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(begun).to.deep.equal(["host-1", "host-2"]);
    });

    it("finish on the older one an upgrade that has not passed the patch", async () => {
      await bench.startWorker(newer());
      const manager = new Manager();
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
async function failedTasks(bench: UpgradeBench, upgrade: RunningUpgrade): Promise<(string | undefined)[]> {
  const histories = workflowsOf(bench, upgrade).map((handle) => handle.fetchHistory());
  const events = (await Promise.all(histories)).flatMap((history) => history.events ?? []);
  return events
    .filter(({ eventType }) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)
    .map(
      ({ workflowTaskFailedEventAttributes }) => WorkflowTaskFailedCause[workflowTaskFailedEventAttributes?.cause ?? 0],
    )
    .filter((cause) => cause !== signalledAtItsEnd);
}

/**
 * Whether the older build could not go on with the upgrade or one of its resources. The history has the failure of a first
 * attempt only. Where that went to the worker that was being stopped, and timed out, a third one tells of the second's.
 */
async function wasRefused(bench: UpgradeBench, upgrade: RunningUpgrade): Promise<boolean> {
  if ((await failedTasks(bench, upgrade)).includes(nonDeterminism)) return true;
  const described = await Promise.all(workflowsOf(bench, upgrade).map((handle) => handle.describe()));
  return described.some(({ raw }) => (raw.pendingWorkflowTask?.attempt ?? 0) >= 3);
}

/** Where Temporal lists the patches whose new side a Workflow has taken. */
const patchesPassed = defineSearchAttributeKey("TemporalChangeVersion", SearchAttributeType.KEYWORD_LIST);

/** Whether the upgrade or one of its resources has the marker of the patch: by what operators look for (docs/deploys.md). */
async function passedPatch(bench: UpgradeBench, upgrade: RunningUpgrade): Promise<boolean> {
  const described = await Promise.all(workflowsOf(bench, upgrade).map((handle) => handle.describe()));
  const passed = described.flatMap(({ typedSearchAttributes }) => typedSearchAttributes.get(patchesPassed) ?? []);
  return passed.includes(madePatch.id);
}

function workflowsOf(bench: UpgradeBench, { id, plan }: RunningUpgrade) {
  const ids = [id, ...resourcesOf(plan).map(lockOf)];
  return ids.map((workflowId) => bench.env.client.workflow.getHandle(workflowId));
}
