import { expect } from "chai";
import type { ActivityLimits } from "../../../activities/activity-limits";
import type { HealthWait } from "../../../activities/contract";
import { type FindingKey, findingKey } from "../../../src/domain/task/findings";
import {
  expectCancelled,
  failureOf,
  type SimulatedCluster,
  simulateCluster,
  startActivity,
  succeed,
  remediateHost,
} from "./simulated-cluster";

describe("awaitClusterHealth", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  beforeEach(async () => {
    cluster = await simulateCluster("IMAGE", { hosts: 3 });
    await cluster.hostSeconds(0.05);
  });
  afterEach(() => cluster.close());

  const start = (limits?: Partial<ActivityLimits>, acknowledged?: readonly FindingKey[]) => {
    const activities = cluster.activities(limits);
    const input = { ...cluster.target, ...(acknowledged && { acknowledged }) };
    return startActivity<unknown, HealthWait>(() => activities.awaitClusterHealth(input));
  };
  const hosts = async () => (await cluster.state()).hosts.map(({ id }) => id);

  it("is open where nothing is wrong", async () => {
    expect((await start().end).error).to.equal(undefined);
  });

  it("tells what it waits for, and opens when that has passed", async () => {
    const [first = ""] = await hosts();
    await cluster.put(first, "IN");
    const gate = start();
    const { waitingFor } = await gate.heartbeat((told) => /maintenance/.test(told.waitingFor));
    expect(waitingFor).to.equal("until cluster-01 is healthy: Host esx-01.example.com is in maintenance mode.");
    await cluster.put(first, "OUT");
    expect((await gate.end).error).to.equal(undefined);
  });

  it("waits for the product's own health check", async () => {
    await cluster.fault({ kind: "CHECK_FAILS", host: "esx-02.example.com", issue: "vSAN objects are resyncing" });
    const gate = start();
    await gate.heartbeat(({ waitingFor }) => /esx-02.*resyncing/.test(waitingFor));
    await cluster.repair();
    expect((await gate.end).error).to.equal(undefined);
  });

  it("passes over what was acknowledged after the prechecks, and nothing else", async () => {
    const [first = "", second = ""] = await hosts();
    const { resourceId } = cluster.target.cluster;
    await cluster.put(first, "IN");
    await cluster.fault({ kind: "CHECK_FAILS", host: "esx-02.example.com", issue: "vSAN objects are resyncing" });
    const prechecked = await succeed(() => cluster.activities().runClusterPrechecks(cluster.target));
    const found = prechecked.stages.flatMap(({ findings = [] }) => findings).map(findingKey);
    expect(found.map(({ code, hostId }) => [code, hostId])).to.deep.equal([
      ["HOST_IN_MAINTENANCE_MODE", first],
      ["HEALTH_CHECK_ERROR", second],
    ]);
    expect((await start({}, found).end).error).to.equal(undefined);
    const [maintenance] = found;
    const others = found.map((one) => ({ ...one, hostId: "host-0", resourceId }));
    for (const accepted of [[maintenance!], others])
      expect(failureOf(await start({ healthGate: 30 }, accepted).end)).to.include({ type: "HEALTH_GATE_CLOSED" });
  });

  it("takes a warning for healthy", async () => {
    await cluster.fault({ kind: "HARDWARE_INCOMPATIBLE" });
    expect((await start().end).error).to.equal(undefined);
  });

  it("fails when its time is over, naming what is not green and what to do", async () => {
    const [first = ""] = await hosts();
    await cluster.put(first, "IN");
    const failure = failureOf(await start({ healthGate: 30 }).end);
    expect(failure).to.include({ type: "HEALTH_GATE_CLOSED", nonRetryable: true });
    expect(failure.told.error.message).to.match(
      /no further host was started. Host esx-01\.example\.com is in maintenance/,
    );
    expect(failure.told.error.remediationMessage).to.match(/retry the upgrade/);
    expect(await cluster.steps()).to.not.include("APPLY_REQUESTED");
  });

  it("names a host that is not connected", async () => {
    const [first = ""] = await hosts();
    const activities = cluster.activities();
    await startActivity(() => activities.setDesiredImage(cluster.target)).end;
    await cluster.fault({ kind: "HOST_NEVER_RECONNECTS", host: first, seconds: 0 });
    const attempts = { maximumAttempts: 1, retryDelay: 0 };
    const host = { host: first, fqdn: "esx-01.example.com" };
    await startActivity(() => remediateHost(activities, { ...cluster.target, host, attempts })).end;
    const failure = failureOf(await start({ healthGate: 30 }).end);
    expect(failure.told.error.message).to.match(/Host esx-01\.example\.com is NOT_RESPONDING\./);
  });

  it("sits out an outage for as long as one may last, in which its own time does not pass", async () => {
    const [first = ""] = await hosts();
    await cluster.put(first, "IN");
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE", seconds: 3 });
    const gate = start({ healthGate: 1_000, outage: 20_000 });
    await gate.heartbeat(({ waitingFor }) => /maintenance/.test(waitingFor));
    await cluster.put(first, "OUT");
    expect((await gate.end).error).to.equal(undefined);
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE" });
    const failure = failureOf(await start({ healthGate: 5_000, outage: 200 }).end);
    expect(failure.type).to.equal("COMPONENT_MANAGER_UNREACHABLE");
  });

  it("ends at once when it is cancelled", async () => {
    const [first = ""] = await hosts();
    await cluster.put(first, "IN");
    const gate = start();
    await gate.heartbeat(({ waitingFor }) => /maintenance/.test(waitingFor));
    gate.environment.cancel();
    expectCancelled(await gate.end);
  });

  it("waits for the check that a look has asked for, instead of asking for another", async () => {
    await cluster.hostSeconds(60);
    const activities = cluster.activities({ poll: { min: 200, max: 200 } });
    const [first = ""] = await hosts();
    const attempts = { maximumAttempts: 1, retryDelay: 0 };
    const input = { ...cluster.target, attempts, hosts: [{ host: first, fqdn: first }], gate: true as const };
    const { gateClosed: { check } = {} } = await succeed(() => activities.remediateHosts(input));
    await cluster.hostSeconds(0.05);
    const gate = startActivity(() => activities.awaitClusterHealth({ ...cluster.target, ...(check && { check }) }));
    const { runningTasks } = await cluster.state();
    expect(runningTasks.map(({ id, kind }) => ({ id, kind }))).to.deep.equal([{ id: check, kind: "check" }]);
    expect((await gate.end).error).to.equal(undefined);
  });

  describe("of a baseline-managed cluster", () => {
    beforeEach(async () => {
      await cluster.close();
      cluster = await simulateCluster("BASELINE", { hosts: 3 });
      await cluster.hostSeconds(0.05);
    });

    const startHere = (limits?: Partial<ActivityLimits>) => {
      const activities = cluster.activities(limits);
      return startActivity<unknown, HealthWait>(() =>
        activities.awaitClusterHealth({ ...cluster.target, kind: "BASELINE" }),
      );
    };

    it("is open where nothing is wrong", async () => {
      expect((await startHere().end).error).to.equal(undefined);
    });

    it("waits while a host is in maintenance mode", async () => {
      const [, second = ""] = await hosts();
      await cluster.put(second, "IN");
      const gate = startHere();
      await gate.heartbeat(({ waitingFor }) => /Host esx-02\.example\.com is in maintenance mode\./.test(waitingFor));
      await cluster.put(second, "OUT");
      expect((await gate.end).error).to.equal(undefined);
    });

    it("waits while the component manager shows a host, and with it the cluster, in red", async () => {
      await cluster.fault({ kind: "CHECK_FAILS", host: "esx-02.example.com" });
      const gate = startHere();
      const { waitingFor } = await gate.heartbeat((told) => /red/.test(told.waitingFor));
      expect(waitingFor).to.equal(
        "until cluster-01 is healthy: Host esx-02.example.com has the status red. Cluster cluster-01 has the status red.",
      );
      await cluster.repair();
      expect((await gate.end).error).to.equal(undefined);
    });

    it("names a host that is not connected, and fails when its time is over", async () => {
      const [first = ""] = await hosts();
      await cluster.fault({ kind: "HOST_NEVER_RECONNECTS", host: first, seconds: 0 });
      const named = { ...cluster.target, kind: "BASELINE" as const, host: { host: first, fqdn: "esx-01.example.com" } };
      const activities = cluster.activities({ reconnect: 50 });
      const before = await succeed(() => activities.readHostBefore(named));
      const attempts = { maximumAttempts: 1, retryDelay: 0 };
      await startActivity(() => remediateHost(activities, { ...named, before, attempts })).end;
      const failure = failureOf(await startHere({ healthGate: 30 }).end);
      expect(failure).to.include({ type: "HEALTH_GATE_CLOSED", nonRetryable: true });
      expect(failure.told.error.message).to.match(/Host esx-01\.example\.com is NOT_RESPONDING\./);
    });
  });
});
