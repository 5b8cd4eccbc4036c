import { expect } from "chai";
import type { ClusterTarget, RecordedPolicy, RemediationPolicy } from "../../../activities/contract";
import { slowestTry } from "../../../activities/drivers/component-manager-access";
import { defaultActivityLimits } from "../../support/default-limits";
import { ManualClock } from "../../support/manual-clock";
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

describe("the Activities of a cluster", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  beforeEach(async () => {
    cluster = await simulateCluster();
    await cluster.hostSeconds(0.05);
  });
  afterEach(() => cluster.close());

  const setImage = (version = targetVersion) => {
    const activities = cluster.activities();
    return () => activities.setDesiredImage({ ...cluster.target, targetVersion: version });
  };
  const asService = async (method: string, path: string, body?: unknown) => {
    const login = await fetch(`${cluster.url}/api/session`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from("svc:secret").toString("base64")}` },
    });
    return fetch(`${cluster.url}/api/esx/settings/clusters/domain-c8/software/${path}`, {
      method,
      headers: { "vmware-api-session-id": (await login.json()) as string, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  };

  describe("setDesiredImage", () => {
    it("makes the target the desired image and gives its commit", async () => {
      const { desiredImage: before } = await cluster.state();
      const result = await succeed(setImage());
      const { desiredImage, drafts } = await cluster.state();
      expect(desiredImage.version).to.equal(targetVersion);
      expect(result).to.deep.equal({ changed: true, commit: desiredImage.commit });
      expect(desiredImage.commit).to.not.equal(before.commit);
      expect(drafts).to.deep.equal([]);
    });

    it("changes nothing where it is the target already", async () => {
      await succeed(setImage());
      const { desiredImage } = await cluster.state();
      expect(await succeed(setImage())).to.deep.equal({ changed: false, commit: desiredImage.commit });
      expect((await cluster.steps()).filter((step) => step === "IMAGE_COMMITTED")).to.have.length(1);
    });

    it("replaces the draft that a lost run of ours has left behind, whatever is in it", async () => {
      const draft = (await (await asService("POST", "drafts")).json()) as string;
      await asService("PUT", `drafts/${draft}/software/base-image`, { version: newVersion });
      await succeed(setImage());
      const { desiredImage, drafts } = await cluster.state();
      expect([desiredImage.version, drafts]).to.deep.equal([targetVersion, []]);
    });

    it("commits once where answers are lost on the way, whichever they are", async () => {
      for (const path of ["/drafts", "base-image", "action=validate", "action=commit"]) {
        const method = path === "base-image" ? "PUT" : "POST";
        await cluster.fault({ kind: "CONNECTION_DROPPED", method, path, times: 1, after: true });
      }
      expect(await succeed(setImage())).to.include({ changed: true });
      expect((await cluster.steps()).filter((step) => step === "IMAGE_COMMITTED")).to.have.length(1);
      expect((await cluster.state()).drafts).to.deep.equal([]);
    });

    it("fails for good where the component manager does not have the image, and leaves no draft", async () => {
      const failure = failureOf(await runActivity(setImage("9.9.9-0.1")));
      expect(failure).to.include({ type: "TARGET_IMAGE_INVALID", nonRetryable: true });
      expect(failure.told.error.message).to.match(/The depot has no base image 9\.9\.9-0\.1/);
      const { desiredImage, drafts } = await cluster.state();
      expect([desiredImage.version, drafts]).to.deep.equal([oldVersion, []]);
    });

    it("is taken up again after its worker shut down", async () => {
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE", path: "action=commit" });
      const run = startActivity(setImage());
      await until(async () => (await cluster.state()).drafts.length > 0);
      run.environment.cancel("WORKER_SHUTDOWN");
      expect(failureOf(await run.end)).to.include({ type: "WORKER_SHUTDOWN", nonRetryable: true });
      await cluster.repair();
      expect(await succeed(setImage())).to.include({ changed: true });
    });

    it("removes its draft where it is cancelled", async () => {
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE", path: "action=commit" });
      const run = startActivity(setImage());
      await until(async () => (await cluster.state()).drafts.length > 0);
      run.environment.cancel();
      expectCancelled(await run.end);
      expect((await cluster.state()).drafts).to.deep.equal([]);
    });
  });

  describe("a draft of the image, of which a user has one", () => {
    const failed = ({ stages }: { stages: readonly { type: string; status: string }[] }) =>
      stages.filter(({ status }) => status === "FAILED").map(({ type }) => type);

    it("is made in turn by the prechecks of many upgrades at the same time", async () => {
      const activities = cluster.activities();
      const runs = Array.from({ length: 24 }, () => succeed(() => activities.runClusterPrechecks(cluster.target)));
      expect((await Promise.all(runs)).flatMap(failed)).to.deep.equal([]);
      expect((await cluster.state()).drafts).to.deep.equal([]);
    });

    it("is left to whoever comes next where one that waits for its turn is cancelled", async () => {
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE", path: "action=validate" });
      const activities = cluster.activities();
      const first = startActivity(() => activities.setDesiredImage(cluster.target));
      await until(async () => (await cluster.state()).drafts.length > 0);
      const second = startActivity(() => activities.setDesiredImage(cluster.target));
      const third = startActivity(() => activities.setDesiredImage(cluster.target));
      second.environment.cancel();
      expectCancelled(await second.end);
      first.environment.cancel();
      expectCancelled(await first.end);
      await cluster.repair();
      expect((await third.end).result).to.include({ changed: true });
    });
  });

  describe("readClusterHosts", () => {
    it("gives the hosts by name, with what they run and whether that is the target", async () => {
      const read = () => succeed(() => cluster.activities().readClusterHosts(cluster.target));
      const [first, second] = await read();
      expect([first?.fqdn, second?.fqdn]).to.deep.equal(["esx-01.example.com", "esx-02.example.com"]);
      expect([first?.version, first?.atTarget]).to.deep.equal([oldVersion, false]);

      await succeed(setImage());
      const host = { host: first?.host ?? "", fqdn: first?.fqdn ?? "" };
      const attempts = { maximumAttempts: 1, retryDelay: 0 };
      await succeed(() => remediateHost(cluster.activities(), { ...cluster.target, host, attempts }));
      expect((await read()).map(({ version, atTarget }) => ({ version, atTarget }))).to.deep.equal([
        { version: targetVersion, atTarget: true },
        { version: oldVersion, atTarget: false },
      ]);
    });

    it("does not take a host for done that is compliant with another image", async () => {
      const target = { ...cluster.target, targetVersion: newVersion };
      const hosts = await succeed(() => cluster.activities().readClusterHosts(target));
      expect(hosts.map(({ atTarget }) => atTarget)).to.deep.equal([false, false]);
    });

    it("leaves it to Temporal to ask again where the component manager stays away", async () => {
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE" });
      const activities = cluster.activities({ outage: 10 });
      const failure = failureOf(await runActivity(() => activities.readClusterHosts(cluster.target)));
      expect(failure).to.include({ type: "COMPONENT_MANAGER_UNREACHABLE", nonRetryable: false });
    });
  });

  describe("the remediation policy", () => {
    it("is not taken for put back where something else has answered that it was", async () => {
      const activities = cluster.activities();
      const previous: RemediationPolicy = { failure_action: { action: "FAIL" }, enable_quick_boot: true };
      await cluster.fault({
        kind: "ANSWERS",
        method: "PUT",
        path: "/policies/apply",
        status: 200,
        body: "{}",
        times: 1,
      });
      const restore = () => activities.restoreRemediationPolicy({ ...cluster.target, previous });
      expect(failureOf(await runActivity(restore))).to.include({
        type: "CLUSTER_SETTINGS_NOT_CHANGED",
        nonRetryable: false,
      });
      await succeed(restore);
      expect((await cluster.state()).policy).to.deep.equal(previous);
    });

    it("is read, replaced by ours, and put back exactly as it was", async () => {
      const activities = cluster.activities();
      const { target } = cluster;
      const previous: RemediationPolicy = {
        failure_action: { action: "RETRY", retry_count: 4, retry_delay: 400 },
        enable_quick_boot: true,
      };
      await succeed(() => activities.restoreRemediationPolicy({ ...target, previous }));
      expect((await succeed(() => activities.readRemediationPolicy(target))).previous).to.deep.equal(previous);
      const options = { disableHac: true, enforceHclValidation: true };
      await succeed(() => activities.putRemediationPolicy({ ...target, options, previous }));
      expect((await cluster.state()).policy).to.deep.equal({
        failure_action: { action: "FAIL" },
        enable_quick_boot: true,
        disable_hac: true,
        enforce_hcl_validation: true,
      });
      await succeed(() => activities.restoreRemediationPolicy({ ...target, previous }));
      expect((await cluster.state()).policy).to.deep.equal(previous);
    });

    it("is put back where it was cancelled while ours was on its way to the component manager", async () => {
      const activities = cluster.activities();
      const previous: RemediationPolicy = { enable_quick_boot: true };
      await succeed(() => activities.restoreRemediationPolicy({ ...cluster.target, previous }));
      await cluster.fault({ kind: "SLOW", method: "PUT", times: 1, milliseconds: 300 });
      const input = { ...cluster.target, options: { disableHac: true }, previous };
      const run = startActivity(() => activities.putRemediationPolicy(input));
      await until(() => cluster.isUsedUp("SLOW"));
      run.environment.cancel();
      expectCancelled(await run.end);
      await succeed(() => activities.restoreRemediationPolicy({ ...cluster.target, previous }));
      // That of the beginning, ours, and that which was put back.
      await until(async () => (await cluster.steps()).filter((step) => step === "POLICY_SET").length === 3);
      expect((await cluster.state()).policy).to.deep.equal(previous);
    });

    describe("has parallel remediation switched off, also where a run that was lost has done so before", () => {
      const previous: RemediationPolicy = { enable_quick_boot: true };
      const parallel = { parallel_remediation_action: { enabled: true, max_hosts: 4 } };
      const putTwice = async (recorded: RecordedPolicy) => {
        const put = () => cluster.activities().putRemediationPolicy({ ...cluster.target, options: {}, ...recorded });
        await succeed(put);
        await succeed(put);
        return (await cluster.state()).policy;
      };
      const off = { parallel_remediation_action: { enabled: false } };

      it("that of the cluster itself", async () => {
        const own = { ...previous, ...parallel };
        await succeed(() => cluster.activities().restoreRemediationPolicy({ ...cluster.target, previous: own }));
        expect(await putTwice({ previous: own })).to.deep.include(off);
      });

      it("that of the default of all clusters", async () => {
        expect(await putTwice({ previous, effective: parallel })).to.deep.include(off);
      });
    });

    it("is put through an outage, which uses up no attempt", async () => {
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE", method: "PUT", times: 3 });
      const input = { ...cluster.target, options: {}, previous: {} };
      const activities = cluster.activities();
      await succeed(() => activities.putRemediationPolicy(input));
      expect((await cluster.state()).policy).to.deep.equal({ failure_action: { action: "FAIL" } });
    });

    it("is to be put back, slowly after a refused login, for as long as an outage may last", async () => {
      const activities = cluster.activities({ clock: new ManualClock(), poll: defaultActivityLimits.poll });
      const restore = (target: ClusterTarget, scheduledTimestampMs = Date.now()) =>
        runActivity(() => activities.restoreRemediationPolicy({ ...target, previous: {} }), { scheduledTimestampMs });
      const gone = { ...cluster.target, cluster: { ...cluster.target.cluster, cluster: "domain-c99" } };
      const anOutageAgo = Date.now() - defaultActivityLimits.outage;
      expect(failureOf(await restore(gone))).to.include({ type: "RESOURCE_NOT_FOUND", nonRetryable: false });
      expect(failureOf(await restore(gone, anOutageAgo)).nonRetryable).to.equal(true);
      await cluster.fault({ kind: "LOGIN_REFUSED" });
      await cluster.fault({ kind: "SESSIONS_EXPIRED" });
      const refused = { type: "AUTHENTICATION", nonRetryable: false, nextRetryDelay: slowestTry };
      expect(failureOf(await restore(cluster.target))).to.include(refused);
      expect(failureOf(await restore(cluster.target, anOutageAgo)).nonRetryable).to.equal(true);
    });
  });

  it("names the holder of a lock, or none", async () => {
    const activities = cluster.activities();
    expect(await succeed(() => activities.readLockHolder({ workflowId: "cluster/c-1" }))).to.deep.equal({
      upgradeId: "upgrade-1",
    });
    expect(await succeed(() => activities.readLockHolder({ workflowId: "cluster/c-2" }))).to.deep.equal({});
  });

  async function until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds()));
  }
});
