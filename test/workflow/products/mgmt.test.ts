import { randomUUID } from "node:crypto";
import { WorkflowFailedError, type WorkflowHandleWithStartDetails } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import type { MgmtStepInput, UpgradeActivities } from "../../../activities/contract";
import type { MgmtUpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import { lockOf } from "../../../src/domain/resource-lock";
import type { SubTask } from "../../../src/domain/spec/task";
import { PayloadReader, StoredResource } from "../../../src/temporal/describe-workflow";
import { beginSignal, type ResourceResult, subTaskQuery, taskQueue } from "../../../workflows/messages";
import type { mgmtUpgradeWorkflow } from "../../../workflows/resource/mgmt-workflow";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate } from "../../support/fake-activities";
import { FakeMgmtActivities, mgmtProgress, mgmtStepFailure } from "../../support/fake-mgmt-activities";
import { quickHeartbeats } from "../../support/quick-heartbeats";
import { quickWaits } from "../../support/sample-plan";
import { type RunningWorker, runWorker, startDevServer, startTimeSkipping } from "../../support/workflow-environment";

const day = 24 * 60 * 60 * 1000;
const target = "9.0.2.0";

type Handle = WorkflowHandleWithStartDetails<typeof mgmtUpgradeWorkflow>;

/** A management server's Workflow as its upgrade would run it. */
class RunningServer {
  constructor(
    private readonly env: TestWorkflowEnvironment,
    readonly handle: Handle,
  ) {}

  subTask(): Promise<SubTask> {
    return this.handle.query(subTaskQuery);
  }

  async stages(): Promise<string[]> {
    return ((await this.subTask()).stages ?? []).map(({ type, status }) => `${type} ${status}`);
  }

  async untilStage(stage: string): Promise<void> {
    await eventually(
      () => this.stages(),
      (stages) => stages.includes(stage),
    );
  }

  /** How it closes, with what it leaves to its upgrade. */
  async end(): Promise<{ status: string; result?: ResourceResult }> {
    try {
      return { status: "COMPLETED", result: await this.handle.result() };
    } catch (failure) {
      if (!(failure instanceof WorkflowFailedError)) throw failure;
      const { cause } = failure;
      const status = (await this.handle.describe()).status.name;
      const detail = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
      return { status, ...(detail !== undefined && { result: detail as ResourceResult }) };
    }
  }

  async memo(): Promise<SubTask> {
    const { raw } = await this.handle.describe();
    const reader = new PayloadReader(this.env.client.options.loadedDataConverter);
    const memo = StoredResource.decode(await reader.fields(raw.workflowExecutionInfo?.memo));
    if (memo._tag === "Left") throw new Error("the memo does not decode");
    return memo.right.subTask;
  }

  async summaries(): Promise<string[]> {
    const { events } = await this.handle.fetchHistory();
    return (events ?? []).flatMap(({ userMetadata }) => {
      const data = userMetadata?.summary?.data;
      return data ? [JSON.parse(Buffer.from(data).toString()) as string] : [];
    });
  }
}

interface Options {
  readonly fake?: FakeMgmtActivities;
  readonly plan?: Partial<MgmtUpgradePlan>;
  readonly prefix?: string;
  readonly begin?: boolean;
}

function suite(kind: "DEV_SERVER" | "TIME_SKIPPING") {
  let env: TestWorkflowEnvironment;
  let worker: RunningWorker;
  const fakes = new Map<string, FakeMgmtActivities>();
  const open: Handle[] = [];

  before(async function () {
    this.timeout(60_000);
    env = await (kind === "DEV_SERVER" ? startDevServer() : startTimeSkipping());
    const of = ({ server }: { server: { resourceId: string } }) => {
      const fake = fakes.get(server.resourceId);
      if (!fake) throw ApplicationFailure.nonRetryable(`No test serves ${server.resourceId}`);
      return fake.implementation();
    };
    const activities: UpgradeActivities = {
      ...new FakeActivities().implementation(),
      runMgmtPrechecks: (input) => of(input).runMgmtPrechecks(input),
      readMgmtServer: (input) => of(input).readMgmtServer(input),
      stageMgmtUpdate: (input) => of(input).stageMgmtUpdate(input),
      installMgmtUpdate: (input) => of(input).installMgmtUpdate(input),
      prepareMgmtMigration: (input) => of(input).prepareMgmtMigration(input),
      switchOverMgmtMigration: (input) => of(input).switchOverMgmtMigration(input),
      cancelMgmtMigration: (input) => of(input).cancelMgmtMigration(input),
    };
    worker = await runWorker(env, activities);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((handle) => handle.terminate().catch(() => undefined)));
  });
  after(async () => {
    await worker.stop();
    await env.teardown();
  });

  async function start({ fake = new FakeMgmtActivities(), plan, prefix = "m-", begin = true }: Options = {}) {
    const resourceId = `${prefix}${randomUUID().slice(0, 8)}`;
    fakes.set(resourceId, fake);
    const mgmt: MgmtUpgradePlan = {
      kind: "MGMT",
      resourceId,
      name: "fra1-vc01",
      componentManagerId: "vc01",
      targetVersion: target,
      attempts: { maximumAttempts: 1, retryDelay: 0 },
      mechanism: "InPlace",
      clusters: [],
      places: [{ domain: "fra1" }],
      ...plan,
    };
    const handle: Handle = await env.client.workflow.start<typeof mgmtUpgradeWorkflow>("mgmtUpgradeWorkflow", {
      workflowId: lockOf(mgmt),
      taskQueue,
      args: [{ upgradeId: "upgrade-1", mgmt, waits: quickWaits }],
    });
    open.push(handle);
    if (begin) await handle.signal(beginSignal);
    return new RunningServer(env, handle);
  }

  return { start, now: () => env.currentTimeMs() };
}

const migration = { mechanism: "ReducedDowntimeMigration" } as const;
const retries = { attempts: { maximumAttempts: 3, retryDelay: 0 } };

describe("The upgrade of a management server", function () {
  this.timeout(30_000);
  const { start, now } = suite("DEV_SERVER");

  it("waits for its turn, then stages and installs", async () => {
    const fake = new FakeMgmtActivities();
    const server = await start({ fake, begin: false });
    expect((await server.subTask()).status).to.equal("PENDING");
    expect(fake.calls).to.deep.equal([]);
    await server.handle.signal(beginSignal);
    const { status, result } = await server.end();
    expect(status).to.equal("COMPLETED");
    expect(result).to.deep.equal({
      outcome: "SUCCESSFUL",
      hosts: { total: 1, upgraded: 1, skipped: 0, failed: 0, left: 0 },
      upgradedHosts: [],
    });
    expect(fake.calls).to.deep.equal(["readMgmtServer", "stageMgmtUpdate", "installMgmtUpdate"]);
    const memo = await server.memo();
    expect(memo).to.include({ status: "SUCCESSFUL", description: `Runs ${target}.` });
    expect(memo.resources?.[0]).to.include({ type: "MGMT_SERVER", fqdn: "vc-01.example.com" });
    expect(memo.stages?.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      "CHECK_VERSION SUCCESSFUL",
      "STAGE_UPDATE SUCCESSFUL",
      "INSTALL_UPDATE SUCCESSFUL",
    ]);
    expect(await server.summaries()).to.include("fra1-vc01: install update");
  });

  it("has nothing to do where the target runs", async () => {
    const fake = new FakeMgmtActivities();
    fake.version = target;
    const server = await start({ fake });
    expect((await server.end()).result).to.deep.include({ outcome: "NOTHING_TO_DO" });
    expect(fake.calls).to.deep.equal(["readMgmtServer"]);
    expect((await server.memo()).status).to.equal("NOT_APPLICABLE");
  });

  it("does not retry an installation that failed for good, however many attempts are left", async () => {
    const fake = new FakeMgmtActivities({
      installMgmtUpdate: (input) =>
        Promise.reject(mgmtStepFailure(input, { code: "MGMT_INSTALL_FAILED", final: true })),
    });
    const server = await start({ fake, plan: retries });
    const { status, result } = await server.end();
    expect(status).to.equal("FAILED");
    expect(result?.outcome).to.equal("FAILED");
    expect(result?.error?.errorCode).to.equal("MGMT_INSTALL_FAILED");
    expect(fake.calls.filter((call) => call === "installMgmtUpdate")).to.have.length(1);
    const memo = await server.memo();
    expect(memo.stages?.at(-1)).to.deep.include({ type: "INSTALL_UPDATE", status: "FAILED" });
    expect(memo.errors?.[0]?.errorCode).to.equal("MGMT_INSTALL_FAILED");
  });

  it("tries a preparation again as often as the upgrade says, then takes the migration back", async () => {
    let reported = 0;
    const fake = new FakeMgmtActivities({
      prepareMgmtMigration: (input) => Promise.reject(mgmtStepFailure(input, { reported: ++reported })),
    });
    const server = await start({ fake, plan: { ...migration, ...retries } });
    const { status, result } = await server.end();
    expect([status, result?.error?.errorCode]).to.deep.equal(["FAILED", "MGMT_MIGRATION_FAILED"]);
    expect(fake.calls).to.deep.equal([
      "readMgmtServer",
      ...Array.from({ length: 3 }, () => "prepareMgmtMigration"),
      "cancelMgmtMigration",
    ]);
    expect((await server.memo()).stages?.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      "CHECK_VERSION SUCCESSFUL",
      "PREPARE_MIGRATION FAILED",
      "CANCEL_MIGRATION SUCCESSFUL",
    ]);
  });

  it("says so where the migration cannot be taken back either", async () => {
    const fake = new FakeMgmtActivities({
      prepareMgmtMigration: (input) => Promise.reject(mgmtStepFailure(input)),
      cancelMgmtMigration: () =>
        Promise.reject(ApplicationFailure.nonRetryable("stays", "MGMT_MIGRATION_NOT_CANCELLED")),
    });
    const { result } = await (await start({ fake, plan: migration })).end();
    expect(result?.error?.errorCode).to.equal("MGMT_MIGRATION_NOT_CANCELLED");
    expect(result?.error?.nestedErrors?.map(({ errorCode }) => errorCode)).to.deep.equal([
      "MGMT_MIGRATION_FAILED",
      "MGMT_MIGRATION_NOT_CANCELLED",
    ]);
  });

  it("leaves a switchover that failed alone", async () => {
    const fake = new FakeMgmtActivities({
      switchOverMgmtMigration: (input) =>
        Promise.reject(mgmtStepFailure(input, { code: "MGMT_SWITCHOVER_FAILED", final: true })),
    });
    const server = await start({ fake, plan: { ...migration, ...retries } });
    expect((await server.end()).result?.error?.errorCode).to.equal("MGMT_SWITCHOVER_FAILED");
    expect(fake.calls).to.deep.equal(["readMgmtServer", "prepareMgmtMigration", "switchOverMgmtMigration"]);
  });

  it("goes on from what a lost worker knew, and uses up no attempt", async () => {
    const gate = new Gate();
    const inputs: MgmtStepInput[] = [];
    const fake = new FakeMgmtActivities({
      installMgmtUpdate: async (input) => {
        inputs.push(input);
        if (inputs.length === 1) await gate.die({ ...mgmtProgress(), accepted: true });
        return { version: input.targetVersion };
      },
    });
    const server = await start({ fake, prefix: quickHeartbeats });
    expect((await server.end()).result?.outcome).to.equal("SUCCESSFUL");
    expect(inputs).to.have.length(2);
    expect(inputs[1]?.resume).to.deep.include({ accepted: true, percent: 40 });
    expect(inputs[1]?.stop).to.equal(undefined);
  });

  describe("cancelled", () => {
    it("before its turn touches nothing", async () => {
      const fake = new FakeMgmtActivities();
      const server = await start({ fake, begin: false });
      await server.handle.cancel();
      expect((await server.end()).status).to.equal("CANCELLED");
      expect(fake.calls).to.deep.equal([]);
      expect(await server.memo()).to.include({ status: "NOT_APPLICABLE", description: "Not begun." });
    });

    it("while it stages ends the staging and installs nothing", async () => {
      const gate = new Gate();
      const fake = new FakeMgmtActivities({ stageMgmtUpdate: () => gate.pass() });
      const server = await start({ fake });
      await gate.reached;
      await server.handle.cancel();
      expect((await server.end()).status).to.equal("CANCELLED");
      expect(fake.calls).to.deep.equal(["readMgmtServer", "stageMgmtUpdate"]);
      const memo = await server.memo();
      expect(memo.status).to.equal("FAILED");
      expect(memo.errors?.[0]?.errorCode).to.equal("CANCELLED");
    });

    it("while it installs is brought to its end, and says so", async () => {
      const gate = new Gate();
      const fake = new FakeMgmtActivities({
        installMgmtUpdate: async (input) => {
          await gate.pass().catch(() => undefined);
          return { version: input.targetVersion };
        },
      });
      const server = await start({ fake });
      await gate.reached;
      await server.handle.cancel();
      const { status, result } = await server.end();
      expect([status, result?.outcome]).to.deep.equal(["COMPLETED", "SUCCESSFUL"]);
      expect((await server.memo()).description).to.include("so it was finished");
    });

    it("keeps the failure of an installation that was brought to its end", async () => {
      const gate = new Gate();
      const fake = new FakeMgmtActivities({
        installMgmtUpdate: async (input) => {
          await gate.pass().catch(() => undefined);
          throw mgmtStepFailure(input, { code: "MGMT_INSTALL_FAILED", final: true });
        },
      });
      const server = await start({ fake });
      await gate.reached;
      await server.handle.cancel();
      expect((await server.end()).status).to.equal("CANCELLED");
      const [error] = (await server.memo()).errors ?? [];
      expect([error?.errorCode, error?.nestedErrors?.[0]?.errorCode]).to.deep.equal([
        "CANCELLED",
        "MGMT_INSTALL_FAILED",
      ]);
    });

    it("while it prepares takes the migration back", async () => {
      const gate = new Gate();
      const fake = new FakeMgmtActivities({ prepareMgmtMigration: () => gate.pass() });
      const server = await start({ fake, plan: migration });
      await gate.reached;
      await server.handle.cancel();
      expect((await server.end()).status).to.equal("CANCELLED");
      expect(fake.calls).to.deep.equal(["readMgmtServer", "prepareMgmtMigration", "cancelMgmtMigration"]);
    });

    it("while it waits for the switchover takes the migration back", async () => {
      const startSwitchoverTimestamp = new Date((await now()) + day).toISOString();
      const fake = new FakeMgmtActivities();
      const server = await start({ fake, plan: { ...migration, startSwitchoverTimestamp } });
      await server.untilStage("WAIT_FOR_SWITCHOVER IN_PROGRESS");
      expect((await server.subTask()).description).to.include(startSwitchoverTimestamp);
      expect(await server.summaries()).to.include(`switchover at ${startSwitchoverTimestamp}`);
      await server.handle.cancel();
      expect((await server.end()).status).to.equal("CANCELLED");
      expect(fake.calls).to.deep.equal(["readMgmtServer", "prepareMgmtMigration", "cancelMgmtMigration"]);
      expect((await server.memo()).stages?.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
        "CHECK_VERSION SUCCESSFUL",
        "PREPARE_MIGRATION SUCCESSFUL",
        "WAIT_FOR_SWITCHOVER FAILED",
        "CANCEL_MIGRATION SUCCESSFUL",
      ]);
    });

    it("before the switchover was asked for takes the migration back; after that it is brought to its end", async () => {
      for (const begun of [false, true]) {
        const gate = new Gate();
        const fake = new FakeMgmtActivities({
          switchOverMgmtMigration: async (input) => {
            await gate.pass().catch((cancelled: unknown) => {
              if (!begun) throw cancelled;
            });
            return { version: input.targetVersion };
          },
        });
        const server = await start({ fake, plan: migration });
        await gate.reached;
        await server.handle.cancel();
        expect((await server.end()).status).to.equal(begun ? "COMPLETED" : "CANCELLED");
        expect(fake.calls.includes("cancelMgmtMigration")).to.equal(!begun);
      }
    });

    it("looks after what a lost worker left running", async () => {
      const gate = new Gate();
      const inputs: MgmtStepInput[] = [];
      const fake = new FakeMgmtActivities({
        installMgmtUpdate: async (input) => {
          inputs.push(input);
          if (inputs.length === 1) await gate.die(mgmtProgress());
          return { version: input.targetVersion };
        },
      });
      const server = await start({ fake, prefix: quickHeartbeats });
      await gate.reached;
      await server.handle.cancel();
      expect((await server.end()).result?.outcome).to.equal("SUCCESSFUL");
      expect(inputs[1]).to.include({ stop: true });
    });
  });
});

describe("The switchover of a management server", function () {
  this.timeout(30_000);
  const { start, now } = suite("TIME_SKIPPING");

  it("two weeks ahead is waited for, and not a moment less", async () => {
    const began = await now();
    const startSwitchoverTimestamp = new Date(began + 14 * day).toISOString();
    let switchedAt = 0;
    const fake = new FakeMgmtActivities({
      switchOverMgmtMigration: async (input) => {
        switchedAt = await now();
        return { version: input.targetVersion };
      },
    });
    const server = await start({ fake, plan: { ...migration, startSwitchoverTimestamp } });
    expect((await server.end()).result?.outcome).to.equal("SUCCESSFUL");
    expect(switchedAt).to.be.within(began + 14 * day, began + 14 * day + 60_000);
    expect(fake.calls).to.deep.equal(["readMgmtServer", "prepareMgmtMigration", "switchOverMgmtMigration"]);
  });

  it("of a time that has passed begins as soon as all is prepared", async () => {
    const began = await now();
    let switchedAt = 0;
    const fake = new FakeMgmtActivities({
      switchOverMgmtMigration: async (input) => {
        switchedAt = await now();
        return { version: input.targetVersion };
      },
    });
    const startSwitchoverTimestamp = new Date(began - day).toISOString();
    const server = await start({ fake, plan: { ...migration, startSwitchoverTimestamp } });
    expect((await server.end()).result?.outcome).to.equal("SUCCESSFUL");
    expect(switchedAt - began).to.be.below(60_000);
  });
});
