import { expect } from "chai";
import type { RemediateHostsInput } from "../../../activities/contract";
import type { RemediationProgress, RemediationResult } from "../../../src/domain/task/host-remediation";
import { runActivity, simulateCluster, type SimulatedCluster, startActivity, succeed } from "./simulated-cluster";

describe("The health gate of remediateHosts", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  let input: RemediateHostsInput;

  beforeEach(async () => {
    cluster = await simulateCluster("IMAGE", { hosts: 3 });
    await cluster.hostSeconds(0.05);
    await succeed(() => cluster.activities().setDesiredImage(cluster.target));
    const [host] = (await cluster.state()).hosts;
    if (!host) throw new Error("the cluster has no hosts");
    const attempts = { maximumAttempts: 2, retryDelay: 0 };
    input = { ...cluster.target, hosts: [{ host: host.id, fqdn: host.name }], attempts, gate: true };
  });
  afterEach(() => cluster.close());

  const remediate = (more: Partial<RemediateHostsInput> = {}) => {
    const activities = cluster.activities();
    return () => activities.remediateHosts({ ...input, ...more });
  };
  const second = async () => (await cluster.state()).hosts[1]?.id ?? "";
  /** Nothing was asked of a host, whose own progress tells nothing. */
  async function expectClosed(result: RemediationResult, gateClosed: RemediationResult["gateClosed"] = {}) {
    expect(result).to.deep.equal({ upgraded: [], failed: [], stopped: [], gateClosed });
    expect(await cluster.steps()).to.not.include("APPLY_REQUESTED");
  }

  it("is open where the cluster is healthy", async () => {
    const { upgraded, gateClosed } = await succeed(remediate());
    expect({ upgraded: upgraded.length, gateClosed }).to.deep.equal({ upgraded: 1, gateClosed: undefined });
  });

  it("is closed while a host is in maintenance mode, without the component manager's check", async () => {
    await cluster.put(await second(), "IN");
    await expectClosed(await succeed(remediate()));
  });

  it("is closed by what the component manager's check finds", async () => {
    await cluster.fault({ kind: "CHECK_FAILS", host: "esx-02.example.com", issue: "vSAN objects are resyncing" });
    await expectClosed(await succeed(remediate()));
  });

  it("leaves a check that takes its time to whoever waits for it", async () => {
    await cluster.hostSeconds(600);
    const result = await succeed(remediate());
    const { runningTasks } = await cluster.state();
    expect(runningTasks.map(({ kind }) => kind)).to.deep.equal(["check"]);
    await expectClosed(result, { check: runningTasks[0]?.id ?? "" });
  });

  it("is closed, at once and without an error, while the component manager does not answer", async () => {
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE" });
    await expectClosed(await succeed(remediate()));
  });

  it("is looked at again by a run that knows of no look, and not by one after a change", async () => {
    const run = startActivity(remediate());
    const { gatePassed, ...known } = await run.heartbeat(({ remoteTask }) => remoteTask !== undefined);
    run.environment.cancel("WORKER_SHUTDOWN");
    await run.end;
    expect(gatePassed).to.equal(true);
    await cluster.put(await second(), "IN");
    const { result } = await runActivity(remediate({ resume: { ...known, gatePassed: true } }));
    expect(result?.upgraded).to.have.length(1);
    const { phases, remoteTask: _, requestedAt: __, ...before } = known;
    const untouched: RemediationProgress = { ...before, phases: "w".repeat(phases.length) };
    const again = await runActivity(remediate({ resume: untouched }));
    expect(again.result?.gateClosed).to.deep.equal({});
  });

  it("is not looked at by the next attempt", async () => {
    await cluster.fault({ kind: "REMEDIATION_FAILS", host: "esx-01.example.com", times: 1 });
    const first = await runActivity(remediate());
    expect(first.error).to.include({ type: "HOST_REMEDIATION_FAILED", nonRetryable: false });
    await cluster.put(await second(), "IN");
    const next = await runActivity(remediate(), { attempt: 2, heartbeatDetails: first.heartbeats.at(-1) });
    expect(next.result?.upgraded).to.have.length(1);
  });
});
