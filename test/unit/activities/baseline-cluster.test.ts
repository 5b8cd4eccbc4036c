import { expect } from "chai";
import type { ClusterTarget } from "../../../activities/contract";
import type { HostRemediationOptions } from "../../../src/domain/task/host-remediation";
import { compareToTarget, isAtVersion } from "../../../src/domain/version";
import {
  expectCancelled,
  failureOf,
  newVersion,
  oldVersion,
  remediateHost,
  runActivity,
  simulateCluster,
  type SimulatedCluster,
  startActivity,
  succeed,
  targetVersion,
} from "./simulated-cluster";

/** Moments at which the settings of a cluster are being switched off, and nobody sees that by the settings yet. */
const cancellations: readonly (readonly [string, (cluster: SimulatedCluster) => Promise<boolean>])[] = [
  ["while the request was on its way", (cluster) => cluster.isUsedUp("SLOW")],
  ["while they were being switched off", async (cluster) => (await cluster.state()).runningTasks.length > 0],
];

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds()));
}

describe("the version of a host", () => {
  const host = { version: "9.0.1", build: "24957456" };

  it("is at a base image version of the same release and build, whatever the patch level in between", () => {
    expect(isAtVersion(host, "9.0.1-0.24957456")).to.equal(true);
    expect(isAtVersion({ version: "8.0.3", build: "24280767" }, "8.0.3-0.35.24280767")).to.equal(true);
    expect(isAtVersion(host, "9.0.1")).to.equal(true);
    expect(isAtVersion(undefined, "9.0.1")).to.equal(false);
  });

  it("is compared by release, then by build", () => {
    expect(compareToTarget(host, "9.0.0-0.99999999")).to.be.above(0);
    expect(compareToTarget(host, "9.0.1-0.24957457")).to.be.below(0);
    expect(compareToTarget(host, "9.0.10-0.1")).to.be.below(0);
  });
});

describe("a baseline-managed cluster", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  let target: ClusterTarget;

  beforeEach(async () => {
    cluster = await simulateCluster("BASELINE", { admissionControl: true, dpm: true });
    target = { ...cluster.target, kind: "BASELINE", options: { disableDpm: true } };
  });
  afterEach(() => cluster.close());

  it("lists its hosts in the order of their names, with their own versions", async () => {
    const hosts = await succeed(() => cluster.activities().readClusterHosts(target));
    expect(hosts).to.deep.equal(
      ["01", "02"].map((number, i) => ({
        host: `host-1${i + 1}`,
        fqdn: `esx-${number}.example.com`,
        version: "9.0.0 build 24755229",
        atTarget: false,
      })),
    );
    const same = await succeed(() => cluster.activities().readClusterHosts({ ...target, targetVersion: oldVersion }));
    expect(same.every(({ atTarget }) => atTarget)).to.equal(true);
  });

  it("needs no desired image, but to know where the patch comes from", async () => {
    const activities = cluster.activities();
    expect(await succeed(() => activities.setDesiredImage(target))).to.deep.equal({ changed: false });
    expect(await succeed(() => activities.setDesiredImage({ ...target, customIsoId: "iso-1" }))).to.deep.equal({
      changed: false,
    });
    for (const unknown of [{ targetVersion: "9.9.9-0.1" }, { customIsoId: "iso-2" }]) {
      const failure = failureOf(await runActivity(() => activities.setDesiredImage({ ...target, ...unknown })));
      expect(failure).to.include({ type: "PATCH_SOURCE_UNKNOWN", nonRetryable: true });
    }
  });

  describe("its admission control and power management", () => {
    const settings = async () => {
      const { admissionControl, dpm } = await cluster.state();
      return { admissionControl, dpm };
    };
    async function switchOff(options: HostRemediationOptions) {
      const with_ = { ...target, options };
      const { previous } = await succeed(() => cluster.activities().readRemediationPolicy(with_));
      const end = await runActivity(() => cluster.activities().putRemediationPolicy({ ...with_, options, previous }));
      return { previous, end, restore: () => cluster.activities().restoreRemediationPolicy({ ...with_, previous }) };
    }

    it("are recorded as they are", async () => {
      expect((await succeed(() => cluster.activities().readRemediationPolicy(target))).previous).to.deep.equal({
        admissionControl: true,
        dpm: true,
      });
    });

    it("are switched off only where asked, and put back", async () => {
      const { restore } = await switchOff({ disableHac: true });
      expect(await settings()).to.deep.equal({ admissionControl: false, dpm: true });
      await succeed(restore);
      expect(await settings()).to.deep.equal({ admissionControl: true, dpm: true });
      const both = await switchOff({ disableHac: true, disableDpm: true });
      expect(await settings()).to.deep.equal({ admissionControl: false, dpm: false });
      await succeed(both.restore);
      await succeed(both.restore);
      expect(await settings()).to.deep.equal({ admissionControl: true, dpm: true });
      expect(await cluster.steps()).to.deep.equal([
        "SETTINGS_SWITCHED_OFF",
        "SETTINGS_RESTORED",
        "SETTINGS_SWITCHED_OFF",
        "SETTINGS_RESTORED",
      ]);
    });

    it("stay off where they were off, and what nobody asked for is not touched", async () => {
      const { restore } = await switchOff({});
      expect(await cluster.steps()).to.deep.equal([]);
      await succeed(restore);
      expect(await cluster.steps()).to.deep.equal([]);
    });

    it("are switched off once where the answer is lost, and through an outage", async () => {
      await cluster.fault({ kind: "CONNECTION_DROPPED", path: "ReconfigureComputeResource", times: 1, after: true });
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE", path: "/sdk", times: 3 });
      await switchOff({ disableHac: true });
      expect(await settings()).to.deep.equal({ admissionControl: false, dpm: true });
    });

    for (const [when, isReached] of cancellations)
      it(`are put back where it was cancelled ${when}`, async () => {
        const options = { disableHac: true };
        const input = { ...target, options, previous: { admissionControl: true, dpm: true } };
        // Long enough that whoever does not wait for what is under way has gone by then.
        await cluster.hostSeconds(20);
        await cluster.fault({ kind: "SLOW", path: "ReconfigureComputeResource", times: 1, milliseconds: 300 });
        const run = startActivity(() => cluster.activities().putRemediationPolicy(input));
        await until(() => isReached(cluster));
        run.environment.cancel();
        expectCancelled(await run.end);
        await succeed(() => cluster.activities().restoreRemediationPolicy(input));
        await until(async () => (await cluster.steps()).includes("SETTINGS_SWITCHED_OFF"));
        expect((await cluster.state()).runningTasks).to.deep.equal([]);
        expect(await settings()).to.deep.equal({ admissionControl: true, dpm: true });
      });

    for (const options of [
      { preRemediationPowerAction: "SUSPEND_VMS_TO_MEMORY" },
      { enableQuickboot: true },
      { enforceHclValidation: true },
      { enableQuickPatch: true },
    ] as const) {
      it(`are not touched where ${Object.keys(options)[0]} cannot be carried out`, async () => {
        const { end } = await switchOff({ disableHac: true, ...options });
        const failure = failureOf(end);
        expect(failure).to.include({ type: "OPTION_NOT_SUPPORTED", nonRetryable: true });
        expect(await cluster.steps()).to.deep.equal([]);
      });
    }
  });

  describe("its prechecks", () => {
    async function check(more: Partial<ClusterTarget> = {}) {
      const activities = cluster.activities({ operationBusy: 100 });
      const { stages } = await succeed(() => activities.runClusterPrechecks({ ...target, ...more }));
      const failed = stages.filter(({ status }) => status === "FAILED");
      return {
        types: stages.map(({ type }) => type),
        failed: failed.map(({ type, errors }) => `${type} ${errors?.[0]?.errorCode}`),
        messages: failed.map(({ errors }) => errors?.[0]?.message ?? "").join(" "),
        findings: stages.flatMap(({ findings = [] }) => findings),
      };
    }

    it("all pass where all is well, and change nothing", async () => {
      const { types, failed } = await check();
      expect(types).to.deep.equal([
        "COMPONENT_MANAGER_REACHABLE",
        "CLUSTER_BASELINE_MANAGED",
        "HOSTS_CONNECTED",
        "NO_HOST_IN_MAINTENANCE_MODE",
        "NO_OPERATION_IN_PROGRESS",
        "TARGET_PATCH_AVAILABLE",
        "NO_DOWNGRADE",
        "HOSTS_CAN_BE_EMPTIED",
        "CLUSTER_HEALTH",
        "ROOM_FOR_ROLLOUT",
        "CERTIFICATES_VALID",
        "CLOCKS_IN_SYNC",
      ]);
      expect(failed).to.deep.equal([]);
      expect(await cluster.steps()).to.deep.equal([]);
    });

    it("judge no patch by a check that lost touch with its host", async () => {
      await cluster.fault({ kind: "HOST_COMMUNICATION_FAILS", times: 2 });
      expect((await check()).failed).to.deep.equal([]);
      expect(await cluster.isUsedUp("HOST_COMMUNICATION_FAILS")).to.equal(true);
    });

    it("find a cluster that has an image now", async () => {
      const image = { ...target.cluster, cluster: "domain-c9" };
      expect((await check({ cluster: image })).failed).to.include("CLUSTER_BASELINE_MANAGED CLUSTER_KIND_CHANGED");
    });

    it("find power management that is not to be switched off", async () => {
      expect((await check({ options: {} })).failed).to.deep.equal(["HOSTS_CAN_BE_EMPTIED DPM_ENABLED"]);
    });

    it("find a patch that the inventory does not have", async () => {
      expect((await check({ customIsoId: "iso-2" })).failed).to.deep.equal([
        "TARGET_PATCH_AVAILABLE PATCH_SOURCE_UNKNOWN",
      ]);
    });

    it("find hosts that are newer than the target", async () => {
      await cluster.close();
      cluster = await simulateCluster("BASELINE", { version: newVersion });
      const { failed } = await check();
      expect(failed).to.deep.equal(["NO_DOWNGRADE HOST_NEWER_THAN_TARGET"]);
    });

    it("find a host that is not well", async () => {
      await cluster.fault({ kind: "CHECK_FAILS", host: "host-12" });
      const { failed, messages } = await check();
      expect(failed).to.deep.equal(["CLUSTER_HEALTH HEALTH_CHECK_ERROR"]);
      expect(messages).to.include("esx-02.example.com");
    });

    it("warn of yellow alarms of a host and its cluster, and fail nothing", async () => {
      await cluster.fault({ kind: "CHECK_FAILS", host: "host-12", warning: true });
      const { failed, findings } = await check();
      expect(failed).to.deep.equal([]);
      expect(
        findings.map(({ severity, code, message, hostId }) => ({ severity, code, message, hostId })),
      ).to.deep.equal([
        {
          severity: "WARNING",
          code: "HEALTH_CHECK_WARNING",
          message: "Host esx-02.example.com has the status yellow.",
          hostId: "host-12",
        },
        {
          severity: "WARNING",
          code: "HEALTH_CHECK_WARNING",
          message: "Cluster cluster-01 has the status yellow.",
          hostId: undefined,
        },
      ]);
      expect(findings.every(({ isAcknowledgeable }) => isAcknowledgeable)).to.equal(true);
    });

    it("find a host that is lost, or in maintenance mode", async () => {
      await cluster.fault({ kind: "HOST_NEVER_RECONNECTS", host: "host-11" });
      const before = await succeed(() =>
        cluster.activities().readHostBefore({ ...target, host: { host: "host-11", fqdn: "esx-01" } }),
      );
      await runActivity(() =>
        cluster.activities({ reconnect: 100 }).remediateHosts({
          ...target,
          hosts: [{ host: "host-11", fqdn: "esx-01" }],
          attempts: { maximumAttempts: 1, retryDelay: 0 },
          before,
        }),
      );
      const { failed } = await check();
      expect(failed).to.include("HOSTS_CONNECTED HOST_NOT_CONNECTED");
      expect(failed).to.include("NO_HOST_IN_MAINTENANCE_MODE HOST_IN_MAINTENANCE_MODE");
    });

    it("are not run where the manager does not let us in", async () => {
      await cluster.fault({ kind: "LOGIN_REFUSED" });
      const { failed } = await check();
      expect(failed).to.include("COMPONENT_MANAGER_REACHABLE AUTHENTICATION");
      expect(failed).to.include("HOSTS_CONNECTED PRECHECK_NOT_RUN");
    });
  });

  it("is upgraded from end to end by its Activities, host after host", async () => {
    const activities = cluster.activities();
    for (const { host, fqdn } of await succeed(() => activities.readClusterHosts(target))) {
      const named = { ...target, host: { host, fqdn } };
      const before = await succeed(() => activities.readHostBefore(named));
      const attempts = { maximumAttempts: 1, retryDelay: 0 };
      const result = await succeed(() => remediateHost(activities, { ...named, before, attempts }));
      expect(result).to.include({ outcome: "UPGRADED", version: targetVersion });
    }
    const hosts = await succeed(() => activities.readClusterHosts(target));
    expect(hosts.every(({ atTarget }) => atTarget)).to.equal(true);
  });
});
