import { expect } from "chai";
import type { PolicyChange, RemediationPolicy } from "../../../activities/contract";
import {
  failureOf,
  runActivity,
  type SimulatedCluster,
  simulateCluster,
  succeed,
  targetVersion,
} from "./simulated-cluster";

describe("a cluster that is prepared by one Activity", function () {
  this.timeout(20_000);
  const previous: RemediationPolicy = { failure_action: { action: "RETRY", retry_count: 4, retry_delay: 400 } };
  const ours = { failure_action: { action: "FAIL" } };
  let cluster: SimulatedCluster;
  beforeEach(async () => {
    cluster = await simulateCluster();
    await cluster.hostSeconds(0.05);
    await succeed(() => cluster.activities().restoreRemediationPolicy({ ...cluster.target, previous }));
  });
  afterEach(() => cluster.close());

  const prepare = (healthGate = true) => {
    const activities = cluster.activities();
    return () => activities.setDesiredImage({ ...cluster.target, policy: { options: {}, previous }, healthGate });
  };

  it("has our policy and the image, and is looked at", async () => {
    const { commit, ...prepared } = await succeed(prepare());
    expect(prepared).to.deep.equal({ changed: true, policy: "PUT", look: { healthy: true } });
    const { policy, desiredImage } = await cluster.state();
    expect([policy, desiredImage.version]).to.deep.equal([ours, targetVersion]);
    expect(commit).to.equal(desiredImage.commit);
  });

  it("is not looked at where no health gate asks for it", async () => {
    expect(await succeed(prepare(false))).to.have.keys(["changed", "policy", "commit"]);
  });

  it("is told to be unhealthy where a host is away", async () => {
    await cluster.put("host-11", "IN");
    expect((await succeed(prepare())).look).to.deep.equal({ healthy: false });
  });

  it("is left as it is where the policy is not taken at once", async () => {
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE", method: "PUT", path: "policies/apply" });
    expect(await succeed(prepare())).to.deep.equal({ changed: false, policy: "LEFT" });
    const { policy, desiredImage } = await cluster.state();
    expect(policy).to.deep.equal(previous);
    expect(desiredImage.version).to.not.equal(targetVersion);
  });

  it("fails as setting the image alone does, after its policy was put", async () => {
    const activities = cluster.activities();
    const input = { ...cluster.target, targetVersion: "9.9.9-1", policy: { options: {}, previous } };
    const failure = failureOf(await runActivity(() => activities.setDesiredImage(input)));
    expect(failure).to.include({ type: "TARGET_IMAGE_INVALID", nonRetryable: true });
    expect((await cluster.state()).policy).to.deep.equal(ours);
  });

  it("is not told to have its policy by a later attempt at its image, which does not know what the first has done", async () => {
    const { result } = await runActivity(prepare(), { attempt: 2 });
    expect(result).to.have.keys(["changed", "commit", "look"]);
    expect((await cluster.state()).policy).to.deep.equal(previous);
  });

  describe("has parallel remediation switched off also where a run that was lost has done so before", () => {
    const parallel = { parallel_remediation_action: { enabled: true, max_hosts: 4 } };
    const off = { ...ours, parallel_remediation_action: { enabled: false } };
    const putTwice = async (change: Pick<PolicyChange, "previous" | "effective">) => {
      const activities = cluster.activities();
      const put = () => activities.putRemediationPolicy({ ...cluster.target, options: {}, ...change });
      await succeed(put);
      await succeed(put);
      return (await cluster.state()).policy;
    };

    it("of the cluster itself", async () => {
      const own = { ...previous, ...parallel };
      await succeed(() => cluster.activities().restoreRemediationPolicy({ ...cluster.target, previous: own }));
      expect(await putTwice({ previous: own })).to.deep.equal(off);
    });

    it("of the default of all clusters, by what was read with the policy", async () => {
      expect(await putTwice({ previous, effective: parallel })).to.deep.equal(off);
    });
  });

  it("gives its policy with the hosts that are known at once, where that is asked for", async () => {
    const activities = cluster.activities();
    const hosts = await succeed(() => activities.readClusterHosts(cluster.target));
    const known = await succeed(() => activities.readKnownHosts({ ...cluster.target, withPolicy: true }));
    expect(known.hosts).to.deep.equal(hosts);
    expect(known.policy?.previous).to.deep.equal(previous);
    expect(known.policy?.effective).to.deep.include({ ...previous, parallel_remediation_action: { enabled: false } });
    expect(await succeed(() => activities.readKnownHosts(cluster.target))).to.deep.equal({ hosts });
  });
});
