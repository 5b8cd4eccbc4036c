import { expect } from "chai";
import type { ClusterTarget, RemediateHostsInput } from "../../../activities/contract";
import type { RemediationProgress, RemediationResult } from "../../../src/domain/task/host-remediation";
import { eventually } from "../../support/eventually";
import {
  failureOf,
  runActivity,
  type RunInfo,
  simulateCluster,
  type SimulatedCluster,
  startActivity,
  succeed,
  targetVersion,
} from "./simulated-cluster";

describe("hosts that join or leave a cluster, or that others have in maintenance mode", function () {
  this.timeout(30_000);
  let cluster: SimulatedCluster;
  afterEach(() => cluster.close());

  const hosts = async () => (await cluster.state()).hosts;
  const modes = async () => (await hosts()).map(({ maintenance }) => maintenance);
  const attempts = { maximumAttempts: 2, retryDelay: 0 };

  describe("of an image-managed cluster", () => {
    let input: RemediateHostsInput;

    beforeEach(async () => {
      cluster = await simulateCluster("IMAGE", { hosts: 4 });
    });

    /** The first hosts of the cluster: one alone, or several together. */
    async function prepare(count: number): Promise<void> {
      const activities = cluster.activities();
      await succeed(() => activities.setDesiredImage(cluster.target));
      const together = count > 1 ? { hostsAtOnce: count } : {};
      const policy = { ...cluster.target, options: {}, previous: {}, ...together };
      await succeed(() => activities.putRemediationPolicy(policy));
      const named = (await hosts()).slice(0, count).map(({ id, name }) => ({ host: id, fqdn: name }));
      input = { ...cluster.target, hosts: named, attempts, ...(count > 1 && { emptying: {} }) };
    }
    const remediate = () => {
      const activities = cluster.activities({ settle: 500 });
      return () => activities.remediateHosts(input);
    };
    const run = (info?: RunInfo) => runActivity<RemediationResult, RemediationProgress>(remediate(), info);
    /** A host alone that is in maintenance mode because its remediation has put it there. */
    async function remediatedInMaintenance() {
      await prepare(1);
      await cluster.hostSeconds(20);
      const running = startActivity<RemediationResult, RemediationProgress>(remediate());
      await running.heartbeat(({ remoteTask }) => remoteTask !== undefined);
      await eventually(modes, ([mode]) => mode === "IN");
      await cluster.hostSeconds(0.2);
      return running;
    }
    const id = (place: number) => input.hosts[place]?.host ?? "";
    const knownOf = (phases: string): RemediationProgress => ({
      kind: "IMAGE",
      activity: "Starting.",
      phases,
      failures: [0, 0],
      failed: [],
      began: new Date(cluster.clock.timeOfDay()).toISOString(),
      entered: {},
      maximumAttempts: 2,
    });
    const applied = async () => (await cluster.ledger("step=APPLY_STARTED")).map(({ host }) => host);

    it("fails a host alone that is in maintenance mode already, and does not touch it", async () => {
      await prepare(1);
      await cluster.put(id(0), "IN");
      const failure = failureOf(await run());
      expect(failure).to.include({ type: "HOST_IN_MAINTENANCE_MODE", nonRetryable: true });
      expect(await applied()).to.deep.equal([]);
      expect(await modes()).to.deep.equal(["IN", "OUT", "OUT", "OUT"]);
    });

    it("fails it among others, which are upgraded, and leaves it in maintenance mode", async () => {
      await prepare(3);
      await cluster.put(id(1), "IN");
      const { result } = await run();
      expect(result?.upgraded.map(({ host }) => host)).to.deep.equal([id(0), id(2)]);
      expect(result?.failed.map(({ host, error }) => [host, error.errorCode])).to.deep.equal([
        [id(1), "HOST_IN_MAINTENANCE_MODE"],
      ]);
      expect((await applied()).sort()).to.deep.equal([id(0), id(2)]);
      expect(await modes()).to.deep.equal(["OUT", "IN", "OUT", "OUT"]);
    });

    it("goes on with hosts that a lost run has put into maintenance mode", async () => {
      await prepare(2);
      for (const { host } of input.hosts) await cluster.put(host, "IN");
      const { result } = await run({ attempt: 2, heartbeatDetails: knownOf("mm") });
      expect(result?.upgraded).to.have.length(2);
      expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
    });

    for (const [what, known] of [
      ["nothing", undefined],
      ["that they waited", "ww"],
      ["that they were looked at", "kk"],
    ] as const)
      it(`leaves hosts alone that somebody has put into maintenance mode after a lost run, of which is known: ${what}`, async () => {
        await prepare(2);
        await cluster.put(id(1), "IN");
        const { result } = await run({ attempt: 2, ...(known && { heartbeatDetails: knownOf(known) }) });
        expect(result?.upgraded.map(({ host }) => host)).to.deep.equal([id(0)]);
        expect(result?.failed.map(({ error }) => error.errorCode)).to.deep.equal(["HOST_IN_MAINTENANCE_MODE"]);
        expect(await modes()).to.deep.equal(["OUT", "IN", "OUT", "OUT"]);
      });

    it("takes a host out of maintenance mode that a remediation has left in it", async () => {
      const running = await remediatedInMaintenance();
      await cluster.fault({ kind: "MANAGER_RESTARTS", seconds: 0 });
      const { result } = await running.end;
      expect(result?.upgraded).to.have.length(1);
      expect((await hosts())[0]).to.include({ maintenance: "OUT", version: targetVersion });
    });

    it("takes a host alone out of maintenance mode also where it gives up for another reason than the host", async () => {
      const running = await remediatedInMaintenance();
      await cluster.fault({ kind: "EULA_NOT_ACCEPTED" });
      await cluster.fault({ kind: "MANAGER_RESTARTS", seconds: 0 });
      expect(failureOf(await running.end).type).to.equal("EULA_NOT_ACCEPTED");
      expect(await modes()).to.deep.equal(["OUT", "OUT", "OUT", "OUT"]);
    });

    it("leaves out a host that has left before its turn, and upgrades the others", async () => {
      await prepare(2);
      await cluster.leave(id(0));
      const { result } = await run();
      expect(result?.upgraded.map(({ host }) => host)).to.deep.equal([id(1)]);
      expect(result?.failed.map(({ error }) => error.errorCode)).to.deep.equal(["HOST_LEFT_CLUSTER"]);
    });

    it("leaves out a host alone that leaves while it is remediated", async () => {
      await prepare(1);
      const running = startActivity<RemediationResult, RemediationProgress>(remediate());
      await running.heartbeat(({ remoteTask }) => remoteTask !== undefined);
      await cluster.leave(id(0));
      const end = await running.end;
      expect(["HOST_LEFT_CLUSTER", "HOST_NOT_RECONNECTED"]).to.include(failureOf(end).type);
    });

    it("lists a host that has joined, and says which are not in service", async () => {
      await prepare(1);
      const joined = await cluster.join("esx-09.example.com");
      await cluster.put(id(0), "IN");
      const found = await succeed(() => cluster.activities().readClusterHosts(cluster.target));
      expect(found.map(({ fqdn, inMaintenanceMode }) => [fqdn, inMaintenanceMode])).to.deep.equal([
        ["esx-01.example.com", true],
        ["esx-02.example.com", undefined],
        ["esx-03.example.com", undefined],
        ["esx-04.example.com", undefined],
        [joined.name, undefined],
      ]);
    });
  });

  describe("of a baseline-managed cluster", () => {
    let target: ClusterTarget;
    const first = { host: "host-11", fqdn: "esx-01.example.com" };

    beforeEach(async () => {
      cluster = await simulateCluster("BASELINE", { poweredOnVms: 2 });
      const options = { preRemediationPowerAction: "POWER_OFF_VMS" } as const;
      target = { ...cluster.target, kind: "BASELINE", options };
    });
    const before = () => cluster.activities().readHostBefore({ ...target, host: first });

    it("leaves out a host that has left before its turn", async () => {
      await cluster.leave(first.host);
      expect(failureOf(await runActivity(before))).to.include({ type: "HOST_LEFT_CLUSTER", nonRetryable: true });
    });

    it("fails for good where a host leaves while it is upgraded", async () => {
      const input = { ...target, hosts: [first], attempts, before: await succeed(before) };
      const activities = cluster.activities();
      const running = startActivity<RemediationResult, RemediationProgress>(() => activities.remediateHosts(input));
      await running.heartbeat(({ remoteTask }) => remoteTask !== undefined);
      await cluster.leave(first.host);
      expect(failureOf(await running.end)).to.include({ type: "RESOURCE_NOT_FOUND", nonRetryable: true });
    });

    it("says which hosts are not in service, and which virtual machines it has left off", async () => {
      const { runningVms } = await succeed(before);
      const activities = cluster.activities();
      const read = () => succeed(() => activities.readClusterHosts({ ...target, switchedOff: runningVms }));
      expect((await read()).filter(({ stoppedVms }) => stoppedVms)).to.deep.equal([]);
      const input = { ...target, hosts: [first], attempts, before: { ...(await succeed(before)), runningVms } };
      const running = startActivity<RemediationResult, RemediationProgress>(() => activities.remediateHosts(input));
      await running.heartbeat(({ phases }) => phases === "c");
      await cluster.fault({ kind: "VM_POWER_FAILS", times: 1 });
      await running.end;
      const [host] = await read();
      expect(host?.stoppedVms).to.have.length(1);
      expect(host?.stoppedVms?.[0]).to.match(/^esx-01-vm-\d+$/);
    });
  });
});
