import { WorkflowFailedError } from "@temporalio/client";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import { createActivities } from "../../../activities/create-activities";
import type { MgmtUpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import { lockOf } from "../../../src/domain/resource-lock";
import { beginSignal, subTaskQuery, taskQueue } from "../../../workflows/messages";
import type { mgmtUpgradeWorkflow } from "../../../workflows/resource/mgmt-workflow";
import { eventually } from "../../support/eventually";
import { quickWaits } from "../../support/sample-plan";
import { type RunningWorker, runWorker, startDevServer } from "../../support/workflow-environment";
import { quickLimits } from "../../unit/activities/simulated-cluster";
import {
  mgmtSettings,
  mgmtTarget,
  rootPassword,
  type SimulatedManagementServer,
  simulateManagementServer,
} from "../../unit/activities/simulated-management-server";

describe("The upgrade of a simulated management server", function () {
  this.timeout(60_000);
  let env: TestWorkflowEnvironment;
  let server: SimulatedManagementServer;
  let worker: RunningWorker;

  const startWorker = async () => {
    worker = await runWorker(
      env,
      createActivities({
        componentManager: (id) => ({ id, url: server.url, username: "svc", password: "secret" }),
        managementServer: () => mgmtSettings,
        patchFor: () => undefined,
        readFreezes: () => Promise.resolve([]),
        readHolds: () => Promise.resolve([]),
        openingOf: () => ({ isOpen: true }),
        readLockHolder: () => Promise.resolve({}),
        limits: quickLimits,
      }),
    );
  };
  before(async () => {
    env = await startDevServer();
  });
  after(() => env.teardown());
  beforeEach(async () => {
    server = await simulateManagementServer({ realTime: true });
    await startWorker();
  });
  afterEach(async () => {
    await worker.stop();
    await server.close();
  });

  async function start(changes: Partial<MgmtUpgradePlan>) {
    const mgmt: MgmtUpgradePlan = {
      kind: "MGMT",
      resourceId: "m-1",
      name: "fra1-vc01",
      componentManagerId: "vc-01",
      targetVersion: mgmtTarget,
      attempts: { maximumAttempts: 2, retryDelay: 0 },
      mechanism: "InPlace",
      clusters: [],
      places: [{ domain: "fra1" }],
      ...changes,
    };
    const handle = await env.client.workflow.start<typeof mgmtUpgradeWorkflow>("mgmtUpgradeWorkflow", {
      workflowId: lockOf(mgmt),
      taskQueue,
      args: [{ upgradeId: "upgrade-1", mgmt, waits: quickWaits }],
    });
    await handle.signal(beginSignal);
    return handle;
  }
  const until = (step: string) =>
    eventually(
      () => server.steps(),
      (steps) => steps.includes(step),
    );

  it("goes on where it was when its worker was stopped in the middle of the installation", async () => {
    await server.hostSeconds(1);
    const handle = await start({});
    await until("MGMT_INSTALL_REQUESTED");
    await worker.stop();
    await startWorker();
    expect((await handle.result()).outcome).to.equal("SUCCESSFUL");
    expect((await server.steps()).filter((step) => step === "MGMT_INSTALL_REQUESTED")).to.have.length(1);
  });

  it("migrates after a preparation that failed once, and keeps the password out of its history", async () => {
    await server.fault({ kind: "MGMT_MIGRATION_FAILS", times: 1, message: `too weak: ${rootPassword}` });
    const { temporaryNetwork } = server.target;
    const handle = await start({
      mechanism: "ReducedDowntimeMigration",
      ...(temporaryNetwork && { temporaryNetwork }),
    });
    expect((await handle.result()).outcome).to.equal("SUCCESSFUL");
    expect((await server.state()).version).to.equal(mgmtTarget);
    const history = textOf(await handle.fetchHistory());
    expect(history).to.include("too weak: [redacted]");
    expect(history).to.not.include(rootPassword);
  });

  it("leaves nothing behind where it is cancelled while the new appliance is prepared", async () => {
    await server.fault({ kind: "MGMT_STUCK", state: "PREPARING" });
    const handle = await start({ mechanism: "ReducedDowntimeMigration", temporaryNetwork: { mode: "AUTOMATIC" } });
    await eventually(
      () => server.state(),
      ({ migration }) => migration?.state === "PREPARING",
    );
    await handle.cancel();
    const failure = await handle.result().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(WorkflowFailedError);
    expect((await server.state()).migration).to.include({ state: "CANCELED" });
    const { status, stages } = await handle.query(subTaskQuery);
    expect([status, stages?.at(-1)?.type]).to.deep.equal(["FAILED", "CANCEL_MIGRATION"]);
  });
});

/** All that is written anywhere in a value, payloads included. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value === "object" && value !== null) return Object.values(value).map(textOf).join("\n");
  return String(value);
}
