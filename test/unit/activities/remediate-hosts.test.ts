import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import type { ActivityLimits } from "../../../activities/activity-limits";
import type { RemediateHostsInput } from "../../../activities/contract";
import { hostsFailure, workerShutdownFailure } from "../../../activities/failures";
import {
  attemptOfHost,
  hostStages,
  phaseOf,
  RemediationProgress,
  type RemediationResult,
} from "../../../src/domain/task/host-remediation";
import {
  expectCancelled,
  failureOf,
  newVersion,
  runActivity,
  simulateCluster,
  type SimulatedCluster,
  startActivity,
  succeed,
  targetVersion,
} from "./simulated-cluster";

describe("remediateHosts", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  let input: RemediateHostsInput;
  const options = { preRemediationPowerAction: "POWER_OFF_VMS" } as const;

  beforeEach(async () => {
    cluster = await simulateCluster("IMAGE", { hosts: 4 });
    const activities = cluster.activities();
    await succeed(() => activities.setDesiredImage(cluster.target));
    await succeed(() => activities.putRemediationPolicy({ ...cluster.target, options, previous: {}, hostsAtOnce: 3 }));
    const hosts = (await cluster.state()).hosts.slice(0, 3).map(({ id, name }) => ({ host: id, fqdn: name }));
    input = { ...cluster.target, hosts, emptying: options, attempts: { maximumAttempts: 2, retryDelay: 0 } };
  });
  afterEach(() => cluster.close());

  const remediate = (more: Partial<RemediateHostsInput> = {}, limits?: Partial<ActivityLimits>) => {
    const activities = cluster.activities(limits);
    return () => activities.remediateHosts({ ...input, ...more });
  };
  const run = (more?: Partial<RemediateHostsInput>, limits?: Partial<ActivityLimits>) =>
    runActivity<RemediationResult, RemediationProgress>(remediate(more, limits));
  const again = (details: unknown, attempt = 2, more: Partial<RemediateHostsInput> = {}) =>
    runActivity<RemediationResult, RemediationProgress>(remediate(more), { attempt, heartbeatDetails: details });
  const start = (more?: Partial<RemediateHostsInput>, limits?: Partial<ActivityLimits>) =>
    startActivity<RemediationResult, RemediationProgress>(remediate(more, limits));
  const applies = async () => (await cluster.steps()).filter((step) => step === "APPLY_REQUESTED").length;
  const begun = async () => {
    const started = (await cluster.ledger()).filter(({ step }) => step === "APPLY_STARTED");
    return started.map(({ host, attempt }) => `${host} ${attempt}`).sort();
  };
  const modes = async () => (await cluster.state()).hosts.map(({ maintenance }) => maintenance);
  const versions = async () => (await cluster.state()).hosts.map(({ version }) => version === targetVersion);
  const id = (place: number) => input.hosts[place]?.host ?? "";
  const isAttached = ({ remoteTask }: RemediationProgress) => remoteTask !== undefined;
  const outcome = (result: RemediationResult | undefined) => ({
    upgraded: result?.upgraded.map(({ host }) => host).sort(),
    failed: result?.failed.map(({ host, error }) => `${host} ${error.errorCode}`),
    stopped: result?.stopped,
  });
  const all = () => input.hosts.map(({ host }) => host);

  it("upgrades hosts at the same time by one remediation, and nothing else of the cluster", async () => {
    const { result, error, heartbeats } = await run();
    expect(error).to.equal(undefined);
    expect(outcome(result)).to.deep.equal({ upgraded: all(), failed: [], stopped: [] });
    expect(result?.upgraded.map(({ version, outcome: end }) => [version, end])).to.deep.equal(
      Array(3).fill([targetVersion, "UPGRADED"]),
    );
    expect(result?.upgraded[0]?.stages.map(({ status }) => status)).to.deep.equal(Array(4).fill("SUCCESSFUL"));
    expect(await applies()).to.equal(1);
    expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
    expect(await versions()).to.deep.equal([true, true, true, false]);
    const entries = await cluster.ledger();
    const at = (step: string) => entries.filter((entry) => entry.step === step).map((entry) => Date.parse(entry.at));
    expect(Math.max(...at("APPLY_STARTED"))).to.be.below(Math.min(...at("REBOOTED")));
    const intent = heartbeats.findIndex(({ requestedAt }) => requestedAt !== undefined);
    expect(intent).to.be.above(0).and.below(heartbeats.findIndex(isAttached));
  });

  it("leaves hosts alone that are at the target, also their maintenance mode", async () => {
    await succeed(remediate({ hosts: input.hosts.slice(0, 1) }));
    const { result } = await run();
    expect(result?.upgraded.map(({ host, outcome: end }) => `${host} ${end}`)).to.deep.equal([
      `${id(1)} UPGRADED`,
      `${id(2)} UPGRADED`,
      `${id(0)} ALREADY_AT_TARGET`,
    ]);
    expect(await begun()).to.deep.equal([`${id(0)} 1`, `${id(1)} 1`, `${id(2)} 1`]);
  });

  it("goes on with the others when one fails, and tries only that one again", async () => {
    await cluster.fault({ kind: "REMEDIATION_FAILS", host: id(1), times: 1, message: "The bootbank is full." });
    const end = await run();
    const failure = failureOf(end);
    expect(failure).to.include({ type: "HOST_REMEDIATION_FAILED", nonRetryable: false });
    expect(failure.told.error.message).to.equal("Host esx-02.example.com failed: The bootbank is full.");
    expect(failure.told.error.context).to.include({ host: "esx-02.example.com" });
    expect(await versions()).to.deep.equal([true, false, true, false]);
    expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
    const { result } = await again(end.heartbeats.at(-1));
    expect(outcome(result)).to.deep.equal({ upgraded: all(), failed: [], stopped: [] });
    expect(await begun()).to.deep.equal([`${id(0)} 1`, `${id(1)} 1`, `${id(1)} 2`, `${id(2)} 1`]);
  });

  it("gives the hosts that have used up their attempts as a result, each with its own error", async () => {
    await cluster.fault({ kind: "REMEDIATION_FAILS", host: id(0), message: "The bootbank is full." });
    const first = await run();
    await cluster.fault({ kind: "REMEDIATION_TIMES_OUT", host: id(2), times: 1 });
    const { result, error } = await again(first.heartbeats.at(-1));
    expect(error).to.equal(undefined);
    expect(outcome(result)).to.deep.equal({
      upgraded: [id(1), id(2)],
      failed: [`${id(0)} HOST_REMEDIATION_FAILED`],
      stopped: [],
    });
    expect(result?.failed[0]?.error).to.deep.include({
      message: "Host esx-01.example.com failed: The bootbank is full.",
    });
    expect(result?.failed[0]?.error.remediationMessage).to.match(/Resolve/);
    expect(result?.failed[0]?.stages.map(({ status }) => status)).to.deep.equal([
      "SUCCESSFUL",
      "FAILED",
      "PENDING",
      "PENDING",
    ]);
  });

  it("reports a host that cannot enter maintenance mode, and upgrades the others", async () => {
    await cluster.fault({ kind: "EVACUATION_BLOCKED", host: id(1), by: "ADMISSION_CONTROL" });
    const { result } = await run({ attempts: { maximumAttempts: 1, retryDelay: 0 } });
    expect(outcome(result)).to.deep.equal({
      upgraded: [id(0), id(2)],
      failed: [`${id(1)} HOST_MAINTENANCE_MODE_FAILED`],
      stopped: [],
    });
    expect(result?.failed[0]?.error.message).to.match(/esx-02.*could not enter maintenance mode.*HA admission control/);
    expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
  });

  it("asks again for those that the product skipped when it stopped at a failed host", async () => {
    await cluster.fault({ kind: "PARALLEL_REMEDIATION_UNSUPPORTED" });
    await cluster.fault({ kind: "REMEDIATION_FAILS", host: id(1) });
    const { result } = await run({ attempts: { maximumAttempts: 1, retryDelay: 0 } });
    expect(outcome(result)).to.deep.equal({
      upgraded: [id(0), id(2)],
      failed: [`${id(1)} HOST_REMEDIATION_FAILED`],
      stopped: [],
    });
    expect(await begun()).to.deep.equal([`${id(0)} 1`, `${id(1)} 1`, `${id(2)} 1`]);
  });

  it("says so of a host that stays in maintenance mode", async () => {
    const exit = cluster.maintenance.exit;
    cluster.maintenance.exit = (host, retryPolicy) =>
      host === id(2) ? cluster.maintenance.enter("host-99", {}, retryPolicy) : exit(host, retryPolicy);
    await cluster.fault({ kind: "REMEDIATION_FAILS", host: id(2) });
    const { result } = await run({ attempts: { maximumAttempts: 1, retryDelay: 0 } });
    expect(result?.failed[0]?.error.message).to.match(/failed: .* It stays in maintenance mode\.$/);
    expect(result?.failed[0]).to.include({ inMaintenanceMode: true });
    expect(await modes()).to.deep.equal(["OUT", "OUT", "IN", "OUT"]);
    await cluster.repair();
    const second = await run({ attempts: { maximumAttempts: 1, retryDelay: 0 } });
    expect(outcome(second.result).failed, "not ours to take out").to.deep.equal([`${id(2)} HOST_IN_MAINTENANCE_MODE`]);
    await cluster.put(id(2), "OUT");
    const third = await run({ attempts: { maximumAttempts: 1, retryDelay: 0 } });
    expect(outcome(third.result).failed).to.deep.equal([`${id(2)} HOST_LEFT_IN_MAINTENANCE_MODE`]);
    expect(third.result?.failed[0]?.error.message).to.match(/is at the target, but stays in maintenance mode/);
    cluster.maintenance.exit = exit;
    await cluster.put(id(2), "OUT");
    expect(outcome((await run()).result).failed).to.deep.equal([]);
    expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
  });

  it("reports a host that does not come back, with the maintenance mode in which it was lost", async () => {
    await cluster.fault({ kind: "HOST_NEVER_RECONNECTS", host: id(0), seconds: 0.01 });
    const { result } = await run({ attempts: { maximumAttempts: 1, retryDelay: 0 } }, { reconnect: 50 });
    expect(outcome(result)).to.deep.equal({
      upgraded: [id(1), id(2)],
      failed: [`${id(0)} HOST_NOT_RECONNECTED`],
      stopped: [],
    });
    expect(result?.failed[0]?.error.message).to.match(/is NOT_RESPONDING.*It stays in maintenance mode/);
  });

  it("touches no host that cannot take the image", async () => {
    await cluster.fault({ kind: "IMAGE_REFUSED", host: id(1), message: "No space left on device" });
    await succeed(() => cluster.activities().setDesiredImage({ ...cluster.target, targetVersion: newVersion }));
    const { result } = await run({ targetVersion: newVersion });
    expect(outcome(result)).to.deep.equal({
      upgraded: [id(0), id(2)],
      failed: [`${id(1)} HOST_INCOMPATIBLE`],
      stopped: [],
    });
    expect(await begun()).to.deep.equal([`${id(0)} 1`, `${id(2)} 1`]);
  });

  it("gives up for another reason than its hosts, and takes them out of maintenance mode before", async () => {
    await cluster.fault({ kind: "EULA_NOT_ACCEPTED" });
    const failure = failureOf(await run());
    expect(failure).to.include({ type: "EULA_NOT_ACCEPTED", nonRetryable: true });
    expect(failure.told.progress?.failures).to.deep.equal([0, 0, 0]);
    expect(failure.told.error.message).to.not.match(/maintenance/);
    expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
  });

  it("names the hosts that it leaves in maintenance mode when it gives up", async () => {
    const { exit } = cluster.maintenance;
    cluster.maintenance.exit = (_host, retryPolicy) => exit("host-99", retryPolicy);
    await cluster.fault({ kind: "EULA_NOT_ACCEPTED" });
    const failure = failureOf(await run());
    expect(failure.type).to.equal("EULA_NOT_ACCEPTED");
    expect(failure.told.error.message).to.match(/Still in maintenance mode: esx-01\S+, esx-02\S+, esx-03\S+\.$/);
    expect(failure.told.error.remediationMessage).to.match(/license agreement.*maintenance mode/);
  });

  describe("after a lost run", () => {
    for (const [what, detailsOf] of [
      ["all that was known", (known: RemediationProgress): unknown => known],
      ["the intent only", ({ remoteTask: _, ...known }: RemediationProgress): unknown => known],
    ] as const)
      it(`attaches to the running remediation, knowing ${what}`, async () => {
        await cluster.hostSeconds(0.6);
        const lost = start();
        const known = await lost.heartbeat(isAttached);
        lost.environment.cancel("WORKER_SHUTDOWN");
        const failure = failureOf(await lost.end);
        expect(failure).to.include({ type: "WORKER_SHUTDOWN", nonRetryable: true });
        const { result } = await again(detailsOf(known));
        expect(outcome(result)).to.deep.equal({ upgraded: all(), failed: [], stopped: [] });
        expect(await applies()).to.equal(1);
        expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
      });

    it("takes what ended meanwhile from the last result, from what the Workflow was told", async () => {
      await cluster.fault({ kind: "REMEDIATION_FAILS", host: id(1), times: 1 });
      const lost = start();
      await lost.heartbeat(isAttached);
      lost.environment.cancel("WORKER_SHUTDOWN");
      const resume = failureOf(await lost.end).told.progress;
      while ((await cluster.state()).runningTasks.some(({ kind }) => kind === "apply")) await cluster.clock.sleep(100);
      await cluster.fault({ kind: "TASKS_FORGOTTEN" });
      if (!resume) throw new Error("the failure has no progress");
      const failed = await runActivity<RemediationResult, RemediationProgress>(remediate({ resume }));
      expect(failureOf(failed)).to.include({ type: "HOST_REMEDIATION_FAILED", nonRetryable: false });
      expect(failed.heartbeats.at(-1)?.failures).to.deep.equal([0, 1, 0]);
      expect(await applies()).to.equal(1);
    });

    it("waits for the end where the task is forgotten, and never asks twice", async () => {
      await cluster.hostSeconds(0.6);
      const running = start();
      await running.heartbeat(isAttached);
      await cluster.fault({ kind: "TASKS_FORGOTTEN" });
      expect(outcome((await running.end).result).upgraded).to.deep.equal(all());
      expect(await applies()).to.equal(1);
    });

    it("upgrades once where the answer to the request is lost", async () => {
      await cluster.fault({ kind: "CALL_TIMED_OUT", method: "POST", path: "action=apply", times: 1, after: true });
      expect(outcome((await run()).result).upgraded).to.deep.equal(all());
      expect(await applies()).to.equal(1);
    });
  });

  describe("that is to stop", () => {
    it("lets hosts that are being remediated end and gives what became of them", async () => {
      await cluster.hostSeconds(0.6);
      const running = start();
      await running.heartbeat(({ activity }) => /rebooted|reconnect|remediated/.test(activity));
      running.environment.cancel();
      expect(outcome((await running.end).result)).to.deep.equal({ upgraded: all(), failed: [], stopped: [] });
      expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
    });

    it("leaves no host in maintenance mode where nothing was asked for", async () => {
      await cluster.fault({ kind: "OPERATION_IN_PROGRESS" });
      const running = start();
      await running.heartbeat(({ activity }) => /in progress/.test(activity));
      running.environment.cancel();
      expectCancelled(await running.end);
      expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
      expect(await begun()).to.deep.equal([]);
    });

    it("takes the hosts of a lost run out of maintenance mode where it was cancelled meanwhile", async () => {
      await cluster.put(id(0), "IN");
      const failure = failureOf(await run({ stop: true }));
      expect(failure).to.include({ type: "CANCELLED", nonRetryable: true });
      expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
    });

    it("gives a remediation up that makes no progress", async () => {
      await cluster.hostSeconds(3600);
      const { result } = await run(
        { attempts: { maximumAttempts: 1, retryDelay: 0 } },
        { stall: 60, operationBusy: 60 },
      );
      expect(outcome(result).failed).to.deep.equal(all().map((host) => `${host} HOST_REMEDIATION_STALLED`));
      expect(result?.failed[0]?.error.message).to.match(
        /made no progress, and its task .* continues.*stays in maintenance/,
      );
    });
  });
});

describe("the progress of 96 hosts", () => {
  const places = Array.from({ length: 96 }, (_, place) => place);
  const progress: RemediationProgress = {
    kind: "IMAGE",
    activity: "x".repeat(300),
    phases: "t".repeat(96),
    failures: places.map(() => 100),
    failed: places.map((place) => ({
      code: "HOST_MAINTENANCE_MODE_FAILED",
      what: `${place} ${"é".repeat(290)}`,
      stage: "REMEDIATE",
      hosts: [place],
      at: "2026-12-01T09:30:00.000Z",
    })),
    began: "2026-12-01T09:30:00.000Z",
    entered: Object.fromEntries(Object.keys(hostStages).map((stage) => [stage, "2026-12-01T09:30:00.000Z"])),
    requestedAt: "2026-12-01T09:30:00.000Z",
    remoteTask: "5b1f7c7e-0000-4000-8000-000000000000:com.vmware.esx.settings.clusters.software",
    maximumAttempts: 101,
  };
  const error = {
    errorCode: "X",
    message: "m".repeat(500),
    remediationMessage: "r".repeat(200),
    context: { a: "b".repeat(200) },
  };

  for (const [what, failure] of [
    ["a failed attempt", hostsFailure(error, 96, { retryable: true, progress })],
    ["a worker that shuts down", workerShutdownFailure({}, progress)],
  ] as const)
    it(`fits into the failure of ${what}, with all that the next run needs`, () => {
      const [details] = failure.details as [{ progress: RemediationProgress }];
      expect(Buffer.byteLength(JSON.stringify(details))).to.be.below(2_800);
      const decoded = RemediationProgress.decode(details.progress);
      if (!isRight(decoded)) throw new Error("the progress does not decode");
      const { phases, failures, remoteTask, requestedAt, failed } = decoded.right;
      expect({ phases, failures, remoteTask, requestedAt }).to.deep.equal({
        phases: progress.phases,
        failures: progress.failures,
        remoteTask: progress.remoteTask,
        requestedAt: progress.requestedAt,
      });
      expect(failed.flatMap(({ hosts }) => hosts)).to.deep.equal(places);
    });

  it("shows each host as if it were alone", () => {
    const one = attemptOfHost({ ...progress, phases: `r${"U".repeat(95)}` }, 0, "esx-11");
    expect(one).to.include({ reportedFailures: 100, maximumAttempts: 101 });
    expect(one.lastError?.message).to.match(/^Host esx-11 0 é/);
    expect(one.stages.map(({ status }) => status)).to.deep.equal(["SUCCESSFUL", "IN_PROGRESS", "PENDING", "PENDING"]);
    expect(phaseOf(progress, 95)).to.equal("FAILED_ONCE");
  });
});
