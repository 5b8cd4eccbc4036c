import { randomUUID } from "node:crypto";
import { WorkflowFailedError, type WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { expect } from "chai";
import type { FailureDetails, NetvirtActivities, UpgradeNetvirtComponentInput } from "../../../activities/contract";
import type { NetvirtUpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import { netvirtLock } from "../../../src/domain/resource-lock";
import type { SubTask } from "../../../src/domain/spec/task";
import { nodesOf } from "../../../src/domain/task/netvirt-progress";
import type { NetvirtComponentType, NetvirtProgress } from "../../../src/domain/task/netvirt-upgrade";
import { PayloadReader } from "../../../src/temporal/describe-workflow";
import { beginSignal, type ResourceResult, subTaskQuery, taskQueue } from "../../../workflows/messages";
import type { netvirtUpgradeWorkflow } from "../../../workflows/resource/netvirt-workflow";
import { eventually } from "../../support/eventually";
import { activityFailure, FakeActivities, Gate, sampleError } from "../../support/fake-activities";
import { sampleComponents } from "../../support/fake-netvirt-activities";
import { quickHeartbeats } from "../../support/quick-heartbeats";
import { quickWaits, samplePlan } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("netvirtUpgradeWorkflow", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");
  const started: WorkflowHandle[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((handle) => handle.terminate("end of the test").catch(() => undefined)));
  });

  interface Upgrade {
    readonly handle: WorkflowHandle<typeof netvirtUpgradeWorkflow>;
    readonly calls: readonly string[];
    readonly upgrades: readonly UpgradeNetvirtComponentInput[];
    subTask(): Promise<SubTask>;
    memo(): Promise<SubTask>;
    /** How it closed, with the result that it leaves to its upgrade. */
    end(): Promise<{ readonly status: string; readonly result?: ResourceResult }>;
  }

  async function upgrade(
    replaced: Partial<NetvirtActivities> = {},
    over: Partial<NetvirtUpgradePlan> = {},
    { begin = true, prefix = "n-" } = {},
  ): Promise<Upgrade> {
    const resourceId = `${prefix}${randomUUID().slice(0, 8)}`;
    const fake = new FakeActivities(replaced);
    bench().serve(samplePlan({ resources: [{ resourceId }] }), fake);
    const { client } = bench().env;
    const netvirt: NetvirtUpgradePlan = {
      kind: "NETVIRT",
      resourceId,
      name: "nsx-01",
      componentManagerId: "nsx-01",
      targetVersion: "9.0.1.0.24952111",
      attempts: { maximumAttempts: 1, retryDelay: 0 },
      options: { edgeOnly: false },
      clusters: [],
      places: [{ domain: "fra1" }],
      ...over,
    };
    const handle = await client.workflow.start<typeof netvirtUpgradeWorkflow>("netvirtUpgradeWorkflow", {
      workflowId: netvirtLock(resourceId),
      taskQueue,
      args: [{ upgradeId: "upgrade-1", netvirt, waits: quickWaits }],
    });
    started.push(handle);
    if (begin) await handle.signal(beginSignal);
    return {
      handle,
      calls: fake.netvirt.calls,
      upgrades: fake.netvirt.upgrades,
      subTask: () => handle.query(subTaskQuery),
      memo: async () => {
        const { raw } = await handle.describe();
        const reader = new PayloadReader(client.options.loadedDataConverter);
        const { subTask } = await reader.fields(raw.workflowExecutionInfo?.memo);
        return subTask as SubTask;
      },
      end: async () => {
        try {
          return { status: "COMPLETED", result: await handle.result() };
        } catch (failure) {
          if (!(failure instanceof WorkflowFailedError)) throw failure;
          const { cause } = failure;
          const result =
            cause instanceof ApplicationFailure ? (cause.details?.[0] as ResourceResult | undefined) : undefined;
          return { status: (await handle.describe()).status.name, ...(result && { result }) };
        }
      },
    };
  }

  function progress(component: NetvirtComponentType, reportedFailures: number): NetvirtProgress {
    return { component, reportedFailures, activity: "Upgrading.", percent: 50, nodes: [] };
  }
  /** The failure by which the coordinator's report of a failed component reaches the server. */
  function reported({ component, attempts }: UpgradeNetvirtComponentInput, failures: number): ApplicationFailure {
    const error = sampleError("NETVIRT_UPGRADE_FAILED", `${component} failed`);
    const details: FailureDetails<NetvirtProgress> = { error, progress: progress(component, failures) };
    const nonRetryable = failures >= attempts.maximumAttempts;
    return ApplicationFailure.create({
      message: error.message,
      type: "NETVIRT_UPGRADE_FAILED",
      nonRetryable,
      details: [details],
    });
  }
  const components = (subTask: SubTask) => (subTask.subTasks ?? []).map(({ type, status }) => `${type} ${status}`);

  it("upgrades the components in their order between setting and restoring the plan", async () => {
    const seen: unknown[] = [];
    const { end, calls, memo } = await upgrade({
      putNetvirtSettings: async ({ previous }) => void seen.push(previous),
      restoreNetvirtSettings: async ({ previous }) => void seen.push(previous),
    });
    const { status, result } = await end();
    expect(status).to.equal("COMPLETED");
    expect(result).to.deep.include({
      outcome: "SUCCESSFUL",
      hosts: { total: 6, upgraded: 6, skipped: 0, failed: 0, left: 0 },
    });
    expect(result?.upgradedHosts).to.deep.equal(["MP-1", "MP-2", "EDGE-1", "EDGE-2", "HOST-1", "HOST-2"]);
    const upgraded = ["MP", "EDGE", "HOST", "FINALIZE_UPGRADE"].map((component) => `upgrade ${component}`);
    expect(calls).to.deep.equal(["read", "put", ...upgraded, "restore"]);
    expect(seen[0]).to.deep.equal(seen[1]);
    const subTask = await memo();
    expect(subTask.status).to.equal("SUCCESSFUL");
    expect(subTask.stages?.map((stage) => `${stage.type} ${stage.status}`)).to.deep.equal([
      "READ_UPGRADE SUCCESSFUL",
      "PUT_SETTINGS SUCCESSFUL",
      "UPGRADE_COMPONENTS SUCCESSFUL",
      "RESTORE_SETTINGS SUCCESSFUL",
    ]);
  });

  it("begins with the edges and ends with the managers where the target is below 9.0", async () => {
    const { end, calls } = await upgrade({}, { targetVersion: "4.2.3.0.0.24866349" });
    expect((await end()).result?.outcome).to.equal("SUCCESSFUL");
    expect(calls).to.deep.equal(["read", "put", "upgrade EDGE", "upgrade HOST", "upgrade MP", "restore"]);
  });

  it("upgrades the edges alone where only they are wanted", async () => {
    const { end, calls } = await upgrade({}, { options: { edgeOnly: true } });
    expect((await end()).result?.outcome).to.equal("SUCCESSFUL");
    expect(calls).to.deep.equal(["read", "put", "upgrade EDGE", "restore"]);
  });

  it("waits for its turn, and is not begun where it is cancelled before", async () => {
    const { handle, end, calls, memo } = await upgrade({}, {}, { begin: false });
    expect((await handle.query(subTaskQuery)).status).to.equal("PENDING");
    await handle.cancel();
    expect((await end()).status).to.equal("CANCELLED");
    expect(calls).to.deep.equal([]);
    expect((await memo()).status).to.equal("NOT_APPLICABLE");
  });

  it("touches nothing where nothing is to be done", async () => {
    const { end, calls } = await upgrade({
      readNetvirtUpgrade: async (target) => ({
        components: sampleComponents(target).map((component) => ({ ...component, state: "AT_TARGET" })),
        previous: { plan: {}, groups: [] },
      }),
    });
    expect((await end()).result?.outcome).to.equal("NOTHING_TO_DO");
    expect(calls).to.deep.equal(["read"]);
  });

  it("stops at the component that fails, tells how each of its nodes stands, and restores the plan", async () => {
    let reads = 0;
    const { end, calls, memo } = await upgrade({
      readNetvirtUpgrade: async (target) => ({
        components: sampleComponents(target).map((component) => ({
          ...component,
          groups: component.groups.map((group) => ({
            ...group,
            nodes: group.nodes.map((node, i) =>
              ++reads > 6 && component.type === "EDGE"
                ? { ...node, status: i === 0 ? ("SUCCESS" as const) : ("FAILED" as const), error: "no space" }
                : node,
            ),
          })),
        })),
        previous: { plan: {}, groups: [] },
      }),
      upgradeNetvirtComponent: async (input) => {
        if (input.component === "EDGE") throw reported(input, 1);
        return { component: input.component, outcome: "UPGRADED" };
      },
    });
    const { status, result } = await end();
    expect(status).to.equal("FAILED");
    expect(result).to.deep.include({
      outcome: "FAILED",
      hosts: { total: 6, upgraded: 3, skipped: 0, failed: 1, left: 2 },
    });
    expect(result?.error?.errorCode).to.equal("NETVIRT_UPGRADE_FAILED");
    expect(calls).to.deep.equal(["read", "put", "upgrade MP", "upgrade EDGE", "read", "restore"]);
    const subTask = await memo();
    expect(components(subTask)).to.deep.equal([
      "NETVIRT_MP_UPGRADE SUCCESSFUL",
      "NETVIRT_EDGE_UPGRADE FAILED",
      "NETVIRT_HOST_UPGRADE NOT_APPLICABLE",
      "NETVIRT_FINALIZE_UPGRADE NOT_APPLICABLE",
    ]);
    const edges = nodesOf(subTask).filter(({ name }) => name.startsWith("edge"));
    expect(edges.map(({ status: one }) => one)).to.deep.equal(["SUCCESSFUL", "FAILED"]);
    expect(edges[1]?.errors?.[0]?.message).to.include("no space");
  });

  it("tries a component again as often as the failure action says", async () => {
    let failures = 0;
    const attempts = { maximumAttempts: 3, retryDelay: 0 };
    const once = await upgrade(
      {
        upgradeNetvirtComponent: async (input) => {
          if (input.component === "HOST" && failures < 2) throw reported(input, ++failures);
          return { component: input.component, outcome: "UPGRADED" };
        },
      },
      { attempts },
    );
    expect((await once.end()).result?.outcome).to.equal("SUCCESSFUL");
    expect(once.calls.filter((call) => call === "upgrade HOST")).to.have.length(3);

    const always = await upgrade(
      {
        upgradeNetvirtComponent: async (input) => {
          throw reported(input, always.upgrades.length);
        },
      },
      { attempts },
    );
    expect((await always.end()).result?.error?.errorCode).to.equal("NETVIRT_UPGRADE_FAILED");
    expect(always.upgrades).to.have.length(3);
  });

  it("attaches again with the attempts that are left where the Activity is lost with its worker", async () => {
    const gate = new Gate();
    const attempts = { maximumAttempts: 3, retryDelay: 0 };
    const { end, upgrades, calls } = await upgrade(
      {
        upgradeNetvirtComponent: async (input) => {
          if (input.component === "EDGE" && !input.resume) await gate.die(progress("EDGE", 1));
          return { component: input.component, outcome: "UPGRADED" };
        },
      },
      { attempts },
      { prefix: quickHeartbeats },
    );
    expect((await end()).result?.outcome).to.equal("SUCCESSFUL");
    const resumed = upgrades.filter(({ component }) => component === "EDGE");
    expect(resumed.map(({ resume }) => resume?.reportedFailures)).to.deep.equal([undefined, 1]);
    expect(resumed[1]?.stop).to.equal(undefined);
    expect(calls.filter((call) => call === "upgrade MP")).to.have.length(1);
  });

  describe("a cancellation", () => {
    it("waits until the component stands still, restores the plan and begins nothing more", async () => {
      const gate = new Gate();
      const events: string[] = [];
      const { handle, end, calls, memo } = await upgrade({
        upgradeNetvirtComponent: async ({ component }) => {
          if (component === "EDGE") {
            try {
              await gate.pass(progress("EDGE", 0));
            } finally {
              events.push("paused");
            }
          }
          return { component, outcome: "UPGRADED" };
        },
        restoreNetvirtSettings: async () => void events.push("restored"),
      });
      await gate.reached;
      await handle.cancel();
      expect((await end()).status).to.equal("CANCELLED");
      expect(events).to.deep.equal(["paused", "restored"]);
      expect(calls).to.not.include("upgrade HOST");
      const subTask = await memo();
      expect(subTask.errors?.[0]?.errorCode).to.equal("CANCELLED");
      expect(components(subTask).slice(0, 3)).to.deep.equal([
        "NETVIRT_MP_UPGRADE SUCCESSFUL",
        "NETVIRT_EDGE_UPGRADE FAILED",
        "NETVIRT_HOST_UPGRADE NOT_APPLICABLE",
      ]);
    });

    it("begins no further component where the one in work is upgraded all the same", async () => {
      const gate = new Gate();
      const { handle, end, calls, memo } = await upgrade({
        upgradeNetvirtComponent: async ({ component }) => {
          await gate.pass().catch(() => undefined);
          return { component, outcome: "UPGRADED" };
        },
      });
      await gate.reached;
      await handle.cancel();
      expect((await end()).status).to.equal("CANCELLED");
      expect(calls).to.deep.equal(["read", "put", "upgrade MP", "restore"]);
      expect(components(await memo())[0]).to.equal("NETVIRT_MP_UPGRADE SUCCESSFUL");
    });

    it("looks after what may still run where the Activity waits for its next attempt", async () => {
      const { handle, end, upgrades, calls } = await upgrade(
        {
          upgradeNetvirtComponent: async (input) => {
            if (!input.stop) throw reported(input, 1);
            throw ApplicationFailure.create({
              message: "stopped",
              type: "CANCELLED",
              nonRetryable: true,
              details: [{ error: { ...sampleError("CANCELLED"), errorType: "CANCELLED" } }],
            });
          },
        },
        { attempts: { maximumAttempts: 3, retryDelay: 3600 } },
      );
      await eventually(
        () => Promise.resolve(upgrades.length),
        (n) => n === 1,
      );
      await eventually(
        async () => (await handle.describe()).raw.pendingActivities?.[0]?.lastFailure,
        (failure) => Boolean(failure),
      );
      await handle.cancel();
      expect((await end()).status).to.equal("CANCELLED");
      expect(upgrades.map(({ stop }) => stop)).to.deep.equal([undefined, true]);
      expect(calls.at(-1)).to.equal("restore");
    });
  });

  it("says that the plan could not be put back, and what had failed before", async () => {
    const { end } = await upgrade({
      upgradeNetvirtComponent: async (input) => {
        throw reported(input, 1);
      },
      restoreNetvirtSettings: async () => {
        throw activityFailure("AUTHORIZATION");
      },
    });
    const { result } = await end();
    expect(result?.error?.errorCode).to.equal("NETVIRT_SETTINGS_NOT_RESTORED");
    expect(result?.error?.nestedErrors?.map(({ errorCode }) => errorCode)).to.deep.equal([
      "NETVIRT_UPGRADE_FAILED",
      "AUTHORIZATION",
    ]);
  });

  it("changes nothing where the coordinator cannot be read or refuses the account", async () => {
    const { end, calls } = await upgrade({
      readNetvirtUpgrade: async () => {
        throw activityFailure("AUTHORIZATION");
      },
    });
    expect((await end()).result?.error?.errorCode).to.equal("AUTHORIZATION");
    expect(calls).to.deep.equal(["read"]);
  });
});
