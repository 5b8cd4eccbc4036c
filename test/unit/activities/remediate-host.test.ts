import { ActivityCancellationDetails } from "@temporalio/common";
import { expect } from "chai";
import type { ActivityLimits } from "../../../activities/activity-limits";
import { remediateImageHosts } from "../../../activities/clusters/image/remediate-image-hosts";
import { remediateHosts } from "../../../activities/clusters/remediate-hosts";
import type { UpgradeActivities } from "../../../activities/contract";
import { DriverError } from "../../../activities/drivers/driver-error";
import { createVim25Client } from "../../../activities/drivers/vim25/vim25-client";
import { createVlcmClient, type VlcmClient } from "../../../activities/drivers/vlcm/vlcm-client";
import { hasEnded as hasTaskEnded } from "../../../activities/drivers/vlcm/vlcm-models";
import type { RemediationProgress } from "../../../src/domain/task/host-remediation";
import {
  expectCancelled,
  failureOf,
  type OneHostInput,
  quickLimits,
  remediateHost,
  runActivity,
  simulateCluster,
  type SimulatedCluster,
  stagesIn,
  startActivity,
  succeed,
  targetVersion,
} from "./simulated-cluster";

const applyCall = { method: "POST", path: "action=apply", times: 1 };

describe("remediateHosts, one host alone", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  let input: OneHostInput;

  beforeEach(async () => {
    cluster = await simulateCluster();
    await succeed(() => cluster.activities().setDesiredImage(cluster.target));
    const [host] = (await cluster.state()).hosts;
    if (!host) throw new Error("the cluster has no hosts");
    const attempts = { maximumAttempts: 2, retryDelay: 0 };
    input = { ...cluster.target, host: { host: host.id, fqdn: host.name }, attempts };
  });
  afterEach(() => cluster.close());

  const remediate = (limits?: Partial<ActivityLimits>, more: Partial<OneHostInput> = {}) => {
    const activities = cluster.activities(limits);
    return () => remediateHost(activities, { ...input, ...more });
  };
  const applies = async () => (await cluster.steps()).filter((step) => step === "APPLY_REQUESTED").length;
  const hostVersion = async () => (await cluster.state()).hosts.find(({ id }) => id === input.host.host)?.version;
  const isAttached = ({ remoteTask }: RemediationProgress) => remoteTask !== undefined;

  /** A run that its worker took down with it after `until`; what the server knows of it is up to the test. */
  async function lostRun(until: (progress: RemediationProgress) => boolean = isAttached): Promise<RemediationProgress> {
    const run = startActivity(remediate());
    const progress = await run.heartbeat(until);
    run.environment.cancel("WORKER_SHUTDOWN");
    await run.end;
    return progress;
  }

  describe("a host that is upgraded", () => {
    it("goes through all stages, with the intent told before the request", async () => {
      const { result, error, heartbeats } = await runActivity(remediate());
      expect(error).to.equal(undefined);
      expect(result).to.include({ host: input.host.host, outcome: "UPGRADED", version: targetVersion });
      expect(result?.stages.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
        "CHECK_COMPLIANCE SUCCESSFUL",
        "REMEDIATE SUCCESSFUL",
        "RECONNECT SUCCESSFUL",
        "VERIFY SUCCESSFUL",
      ]);
      expect(await hostVersion()).to.equal(targetVersion);
      const intent = heartbeats.findIndex(({ requestedAt }) => requestedAt !== undefined);
      expect(intent).to.be.at.least(0).and.below(heartbeats.findIndex(isAttached));
      const told = heartbeats.filter(({ percent }) => percent !== undefined);
      expect(told.some(({ activity }) => /is being remediated/.test(activity))).to.equal(true);
    });

    it("is left alone where it is at the target already", async () => {
      await succeed(remediate());
      const { result } = await runActivity(remediate());
      expect(result).to.deep.include({ outcome: "ALREADY_AT_TARGET", version: targetVersion });
      expect(result?.stages.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
        "CHECK_COMPLIANCE SUCCESSFUL",
      ]);
      expect(await applies()).to.equal(1);
    });

    it("is upgraded once where the answer to the request is lost", async () => {
      await cluster.fault({ kind: "CONNECTION_DROPPED", ...applyCall, after: true });
      const { result } = await runActivity(remediate());
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(await applies()).to.equal(1);
    });

    it("is upgraded once where the request itself is lost", async () => {
      await cluster.fault({ kind: "CONNECTION_DROPPED", ...applyCall, after: false });
      const { result } = await runActivity(remediate());
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(await applies()).to.equal(1);
    });

    it("is waited for through an outage, an expired session and lost answers", async () => {
      await cluster.hostSeconds(1);
      const run = startActivity(remediate());
      await run.heartbeat(isAttached);
      await cluster.fault({ kind: "SESSIONS_EXPIRED" });
      await cluster.fault({ kind: "CONNECTION_DROPPED", method: "GET", times: 2 });
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE", times: 4 });
      await run.heartbeat(({ activity }) => /503/.test(activity));
      expect((await run.end).result).to.include({ outcome: "UPGRADED" });
      expect(await applies()).to.equal(1);
    });

    it("is waited for where its task is forgotten, and never upgraded twice", async () => {
      await cluster.hostSeconds(0.6);
      const run = startActivity(remediate());
      await run.heartbeat(({ activity }) => /entering maintenance mode/.test(activity));
      await cluster.fault({ kind: "TASKS_FORGOTTEN" });
      const { result, error } = await run.end;
      expect(error).to.equal(undefined);
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(await applies()).to.equal(1);
    });

    it("waits for another operation on the cluster", async () => {
      await cluster.fault({ kind: "OPERATION_IN_PROGRESS", times: 3 });
      const { result } = await runActivity(remediate());
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(await applies()).to.equal(1);
    });
  });

  describe("after a lost run", () => {
    const staleDetails: [string, (known: RemediationProgress) => { heartbeatDetails?: unknown }][] = [
      ["all that was known", (known) => ({ heartbeatDetails: known })],
      ["the intent only", ({ remoteTask: _, ...known }) => ({ heartbeatDetails: known })],
      ["the beginning only", ({ remoteTask: _, requestedAt: __, ...known }) => ({ heartbeatDetails: known })],
    ];
    for (const [what, infoOf] of staleDetails) {
      it(`attaches to the running remediation, knowing ${what}`, async () => {
        await cluster.hostSeconds(0.5);
        const known = await lostRun();
        const { result, error } = await runActivity(remediate(), { attempt: 2, ...infoOf(known) });
        expect(error).to.equal(undefined);
        expect(result).to.include({ outcome: "UPGRADED" });
        expect(await applies()).to.equal(1);
      });

      it(`finds the remediation that has ended meanwhile, knowing ${what}`, async () => {
        const known = await lostRun();
        await remediationEnds();
        await cluster.fault({ kind: "TASKS_FORGOTTEN" });
        const { result } = await runActivity(remediate(), { attempt: 2, ...infoOf(known) });
        expect(result).to.include({ outcome: "UPGRADED" });
        expect(await applies()).to.equal(1);
      });
    }

    it("goes on from what the Workflow was told", async () => {
      await cluster.hostSeconds(0.5);
      const resume = await lostRun();
      const { result } = await runActivity(remediate(undefined, { resume }));
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(await applies()).to.equal(1);
    });

    it("counts the failure that happened meanwhile, once, although its task is forgotten", async () => {
      await cluster.fault({ kind: "REMEDIATION_FAILS", times: 1 });
      const { remoteTask: _, ...known } = await lostRun();
      await remediationEnds();
      await cluster.fault({ kind: "TASKS_FORGOTTEN" });
      const first = failureOf(await runActivity(remediate(), { attempt: 2, heartbeatDetails: known }));
      expect(first.type).to.equal("HOST_REMEDIATION_FAILED");
      expect(first.told.progress).to.deep.include({ failures: [1] });
      expect(await applies()).to.equal(1);
      const second = await runActivity(remediate(), { attempt: 3, heartbeatDetails: first.told.progress });
      expect(second.result).to.include({ outcome: "UPGRADED" });
      expect(await applies()).to.equal(2);
    });
  });

  describe("reported failures", () => {
    it("are counted in the details and in the heartbeat, and retried until the attempts are used up", async () => {
      await cluster.fault({ kind: "REMEDIATION_FAILS", message: "The bootbank is full." });
      const end = await runActivity(remediate());
      const first = failureOf(end);
      expect(first).to.include({ type: "HOST_REMEDIATION_FAILED", nonRetryable: false });
      expect(first.told.error.message).to.match(/esx-01\.example\.com failed: The bootbank is full\./);
      expect(first.told.error.context).to.include({ cluster: "cluster-01", host: input.host.fqdn });
      const last = end.heartbeats.at(-1);
      expect(last).to.deep.include({ failures: [1] });
      expect(last).to.not.have.any.keys("remoteTask", "requestedAt");
      expect(last?.failed.map(({ code }) => code)).to.deep.equal(["HOST_REMEDIATION_FAILED"]);
      expect(stagesIn(last)).to.deep.equal([
        "CHECK_COMPLIANCE SUCCESSFUL",
        "REMEDIATE FAILED",
        "RECONNECT PENDING",
        "VERIFY PENDING",
      ]);

      const second = failureOf(await runActivity(remediate(), { attempt: 2, heartbeatDetails: last }));
      expect(second).to.include({ type: "HOST_REMEDIATION_FAILED", nonRetryable: true });
      expect(second.told.progress).to.deep.include({ failures: [2] });
      expect(await applies()).to.equal(2);
    });

    it("do not end an attempt that then succeeds", async () => {
      await cluster.fault({ kind: "REMEDIATION_FAILS", times: 1 });
      const { heartbeats } = await runActivity(remediate());
      const { result } = await runActivity(remediate(), { attempt: 2, heartbeatDetails: heartbeats.at(-1) });
      expect(result).to.include({ outcome: "UPGRADED" });
    });

    it("include a host that does not come back", async () => {
      await cluster.fault({ kind: "HOST_NEVER_RECONNECTS", seconds: 0.01 });
      const first = await runActivity(remediate());
      expect(failureOf(first)).to.include({ type: "HOST_NOT_RECONNECTED", nonRetryable: false });
      expect(failureOf(first).told.error.message).to.match(/is NOT_RESPONDING: .* did not reconnect after its reboot/);
      const second = await runActivity(remediate({ reconnect: 50 }), {
        attempt: 2,
        heartbeatDetails: first.heartbeats.at(-1),
      });
      expect(failureOf(second)).to.include({ type: "HOST_NOT_RECONNECTED", nonRetryable: true });
      expect(failureOf(second).told.progress).to.deep.include({ failures: [2] });
      expect(await applies()).to.equal(1);
    });

    it("include a remediation that makes no progress, which is cancelled", async () => {
      await cluster.fault({ kind: "MAINTENANCE_MODE_HANGS" });
      const end = await runActivity(remediate({ stall: 60 }));
      expect(failureOf(end)).to.include({ type: "HOST_REMEDIATION_STALLED", nonRetryable: false });
      expect(failureOf(end).told.progress).to.deep.include({ failures: [1] });
      expect(await cluster.steps()).to.include("CANCELLED");
      expect((await cluster.state()).runningTasks).to.deep.equal([]);
    });
  });

  it("is no safe end of a cancelled upgrade while its host stays in maintenance mode", async () => {
    const stop = (leftBehind?: string) =>
      runActivity(() =>
        remediateHosts(
          { ...quickLimits, clock: cluster.clock },
          { ...input, hosts: [input.host], stop: true },
          {
            begin: (request) => request(),
            findHeld: () => Promise.resolve(new Map()),
            lookAtHealth: () => Promise.reject(new Error("no gate is asked for")),
            attempt: ({ progress }) => {
              const failure = { code: "HOST_REMEDIATION_FAILED", what: "failed", causes: [] } as const;
              progress.fail(0, failure, { stage: "REMEDIATE" });
              if (leftBehind) progress.noteLeftBehind(0, leftBehind);
              return Promise.resolve();
            },
          },
        ),
      );
    expect(failureOf(await stop()).type).to.equal("CANCELLED");
    const failure = failureOf(await stop("It stays in maintenance mode."));
    expect(failure.type).to.equal("HOST_REMEDIATION_FAILED");
    expect(failure.told.error.message).to.contain("stays in maintenance mode");
  });

  describe("a component manager that says one thing and shows another", () => {
    /** The real client with some of its answers replaced. */
    const remediateWith = (
      replaced: (client: VlcmClient) => Partial<VlcmClient>,
      limits: Partial<ActivityLimits> = {},
    ) => {
      const access = { id: "vc-01", url: cluster.url, username: "svc", password: "secret" };
      const { maintenance, clock } = cluster;
      const all = { ...quickLimits, clock, ...limits };
      const client = createVlcmClient(access, all);
      const management = createVim25Client(access, all);
      const interfaces = { client: { ...client, ...replaced(client) }, management, maintenance };
      const activities: Pick<UpgradeActivities, "remediateHosts"> = {
        remediateHosts: (asked) =>
          remediateHosts(all, asked, {
            begin: (request) => request(),
            findHeld: () => Promise.resolve(new Map()),
            lookAtHealth: () => Promise.reject(new Error("no gate is asked for")),
            attempt: (context) => remediateImageHosts(context, interfaces),
          }),
      };
      return () => remediateHost(activities, input);
    };
    const hasEnded = async () => (await cluster.steps()).includes("APPLY_FINISHED");

    it("reports a host that is not back in time", async () => {
      const away = remediateWith(
        (client) => ({
          listHosts: async (id) => {
            const hosts = await client.listHosts(id);
            return (await hasEnded()) ? hosts.map((host) => ({ ...host, connection_state: "NOT_RESPONDING" })) : hosts;
          },
        }),
        { reconnect: 50 },
      );
      const failure = failureOf(await runActivity(away));
      expect(failure).to.include({ type: "HOST_NOT_RECONNECTED", nonRetryable: false });
      expect(stagesIn(failure.told.progress)).to.deep.equal([
        "CHECK_COMPLIANCE SUCCESSFUL",
        "REMEDIATE SUCCESSFUL",
        "RECONNECT FAILED",
        "VERIFY PENDING",
      ]);
    });

    it("reports a host that has not become what was asked for", async () => {
      const before = createVlcmClient({ id: "vc-01", url: cluster.url, username: "svc", password: "x" }, quickLimits);
      const compliance = await before.readCompliance(cluster.target.cluster.cluster);
      const unchanged = remediateWith(() => ({ readCompliance: () => Promise.resolve(compliance) }));
      const failure = failureOf(await runActivity(unchanged));
      expect(failure).to.include({ type: "HOST_NOT_AT_TARGET", nonRetryable: false });
      expect(failure.told.error.message).to.match(/has version 9\.0\.0-0\.24755229 and is NON_COMPLIANT/);
    });

    it("takes a task that succeeded with a failed host in it for a failure", async () => {
      const succeeding = remediateWith((client) => ({
        readTask: async (id) => {
          const task = await client.readTask(id);
          return task.operation === "apply$task" && hasTaskEnded(task)
            ? { ...task, status: "SUCCEEDED", result: { failed_hosts: [input.host.host] } }
            : task;
        },
      }));
      expect(failureOf(await runActivity(succeeding)).type).to.equal("HOST_REMEDIATION_FAILED");
    });

    it("takes no part in a remediation that is not about the host, also after a crash", async () => {
      const other = (await cluster.state()).hosts[1]?.id ?? "";
      let looks = 0;
      const foreign = remediateWith((client) => ({
        listUnfinishedTasks: async (id) =>
          ++looks > 3
            ? client.listUnfinishedTasks(id)
            : new Map([
                [
                  "foreign",
                  {
                    status: "RUNNING",
                    operation: "apply$task",
                    service: "com.vmware.esx.settings.clusters.software",
                    cancelable: true,
                    result: { host_status: { [other]: { status: "RUNNING" } } },
                  },
                ],
              ]),
      }));
      const known: RemediationProgress = {
        kind: "IMAGE",
        activity: "Comparing the host with the target image.",
        phases: "w",
        failures: [0],
        failed: [],
        began: new Date(cluster.clock.timeOfDay()).toISOString(),
        entered: {},
        maximumAttempts: 2,
      };
      const { result, heartbeats } = await runActivity(foreign, { attempt: 2, heartbeatDetails: known });
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(heartbeats.some(({ remoteTask }) => remoteTask === "foreign")).to.equal(false);
      expect(heartbeats.some(({ activity }) => /another operation.*foreign/.test(activity))).to.equal(true);
    });

    it("gives up on requests that leave no trace", async () => {
      const deaf = remediateWith(() => ({
        apply: () =>
          Promise.reject(
            new DriverError({
              kind: "transient",
              code: "COMPONENT_MANAGER_UNREACHABLE",
              message: "gone",
              remediation: "",
            }),
          ),
      }));
      expect(failureOf(await runActivity(deaf))).to.include({ type: "REMEDIATION_NOT_STARTED", nonRetryable: true });
    });
  });

  describe("what is no failure of the host", () => {
    it("does not count: a component manager that stays away", async () => {
      await cluster.hostSeconds(60);
      const run = startActivity(remediate({ outage: 60 }));
      await run.heartbeat(isAttached);
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE" });
      const failure = failureOf(await run.end);
      expect(failure).to.include({ type: "COMPONENT_MANAGER_UNREACHABLE", nonRetryable: true });
      expect(failure.told.progress).to.deep.include({ failures: [0] });
      expect(failure.told.progress?.remoteTask).to.be.a("string");
    });

    it("does not count: another operation that does not end", async () => {
      await cluster.fault({ kind: "OPERATION_IN_PROGRESS" });
      const failure = failureOf(await runActivity(remediate({ operationBusy: 60 })));
      expect(failure).to.include({ type: "CLUSTER_BUSY", nonRetryable: true });
      expect(failure.told.progress).to.deep.include({ failures: [0] });
      expect(await applies()).to.equal(0);
    });

    it("does not count: credentials that are refused", async () => {
      await cluster.fault({ kind: "LOGIN_REFUSED" });
      const failure = failureOf(await runActivity(remediate({ outage: 200 })));
      expect(failure).to.include({ type: "AUTHENTICATION", nonRetryable: true });
    });

    it("stops before another image than the target is applied", async () => {
      const other = { ...cluster.target, targetVersion: "9.1.0-0.25100000" };
      await succeed(() => cluster.activities().setDesiredImage(other));
      const failure = failureOf(await runActivity(remediate()));
      expect(failure).to.include({ type: "DESIRED_IMAGE_CHANGED", nonRetryable: true });
      expect(await applies()).to.equal(0);
    });

    it("names a component manager that is not in the inventory", async () => {
      const unknown = { ...input.cluster, componentManagerId: "vc-99" };
      const failure = failureOf(await runActivity(remediate(undefined, { cluster: unknown })));
      expect(failure).to.include({ type: "COMPONENT_MANAGER_UNKNOWN", nonRetryable: true });
    });
  });

  describe("an Activity that is to stop", () => {
    it("leaves the remediation running when its worker shuts down", async () => {
      await cluster.hostSeconds(60);
      const run = startActivity(remediate());
      await run.heartbeat(isAttached);
      run.environment.cancel("WORKER_SHUTDOWN");
      const failure = failureOf(await run.end);
      expect(failure).to.include({ type: "WORKER_SHUTDOWN", nonRetryable: true });
      expect(failure.told.progress?.remoteTask).to.be.a("string");
      expect((await cluster.state()).runningTasks).to.have.length(1);
      expect(await cluster.steps()).to.not.include("CANCELLED");
    });

    it("cancels a remediation that can still be cancelled, whatever happens meanwhile", async () => {
      await cluster.hostSeconds(60);
      const run = startActivity(remediate());
      await run.heartbeat(({ activity }) => /entering maintenance mode/.test(activity));
      await cluster.fault({ kind: "SESSIONS_EXPIRED" });
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE", times: 5 });
      run.environment.cancel();
      expectCancelled(await run.end);
      const { runningTasks, hosts } = await cluster.state();
      expect(runningTasks).to.deep.equal([]);
      expect(hosts.map(({ maintenance }) => maintenance)).to.deep.equal(["OUT", "OUT"]);
      expect(await cluster.steps()).to.include("CANCELLED");
    });

    it("lets a remediation that is past that point end, and tells that the host was upgraded", async () => {
      await cluster.hostSeconds(0.8);
      const run = startActivity(remediate());
      await run.heartbeat(({ activity }) => /is being rebooted|to reconnect/.test(activity));
      run.environment.cancel();
      const { result } = await run.end;
      expect(result).to.include({ outcome: "UPGRADED", version: targetVersion });
      expect(await applies()).to.equal(1);
    });

    it("waits for the end of a remediation whose task is forgotten", async () => {
      await cluster.hostSeconds(0.8);
      const run = startActivity(remediate());
      await run.heartbeat(({ activity }) => /is being remediated/.test(activity));
      await cluster.fault({ kind: "TASKS_FORGOTTEN" });
      run.environment.cancel();
      expect((await run.end).result).to.include({ outcome: "UPGRADED" });
    });

    it("hands over where its worker shuts down while it waits for the safe end", async () => {
      await cluster.hostSeconds(60);
      const run = startActivity(remediate());
      await run.heartbeat(isAttached);
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE" });
      run.environment.cancel();
      await run.heartbeat(({ activity }) => /503/.test(activity));
      run.environment.cancel("WORKER_SHUTDOWN", new ActivityCancellationDetails({ workerShutdown: true }));
      const failure = failureOf(await run.end);
      expect(failure).to.include({ type: "WORKER_SHUTDOWN", nonRetryable: true });
      expect(failure.told.progress?.remoteTask).to.be.a("string");
    });

    it("ends at once where nothing was asked for", async () => {
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE" });
      const run = startActivity(remediate());
      await run.heartbeat(({ activity }) => /503/.test(activity));
      run.environment.cancel();
      expectCancelled(await run.end);
      expect(await applies()).to.equal(0);
    });

    it("starts nothing where it was cancelled while no worker ran it, and stops what runs", async () => {
      await cluster.hostSeconds(60);
      const resume = await lostRun(({ activity }) => /entering maintenance mode/.test(activity));
      const failure = failureOf(await runActivity(remediate(undefined, { resume, stop: true })));
      expect(failure).to.include({ type: "CANCELLED", nonRetryable: true });
      expect((await cluster.state()).runningTasks).to.deep.equal([]);
      const again = failureOf(await runActivity(remediate(undefined, { stop: true })));
      expect(again.type).to.equal("CANCELLED");
      expect(await applies()).to.equal(1);
    });
  });

  async function remediationEnds(): Promise<void> {
    for (;;) {
      const { runningTasks } = await cluster.state();
      if (!runningTasks.some(({ kind }) => kind === "apply")) return;
      await cluster.clock.sleep(100);
    }
  }
});
