import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { Document } from "openapi-backend";
import { createVlcmClient } from "../../activities/drivers/vlcm/vlcm-client";
import {
  quickLimits,
  runActivity,
  type SimulatedCluster,
  simulateCluster,
  startActivity,
  succeed,
  targetVersion,
} from "../unit/activities/simulated-cluster";
import { startValidatingProxy, type ValidatingProxy } from "./validating-proxy";

const document = JSON.parse(readFileSync(join(__dirname, "vlcm.openapi.json"), "utf8")) as Document;

describe("the lifecycle driver against its contract", function () {
  this.timeout(30_000);
  let cluster: SimulatedCluster;
  let proxy: ValidatingProxy;

  beforeEach(async () => {
    cluster = await simulateCluster();
    proxy = await startValidatingProxy({ target: cluster.url, document });
  });
  afterEach(async () => {
    await proxy.close();
    await cluster.close();
  });

  const activities = () => cluster.activities({}, proxy.url);
  const called = (call: RegExp) => proxy.calls.some((made) => call.test(made));
  async function inputOfHost(index: number) {
    const host = (await cluster.state()).hosts[index];
    if (!host) throw new Error(`the cluster has no host ${index}`);
    const attempts = { maximumAttempts: 3, retryDelay: 0 };
    return { ...cluster.target, host: { host: host.id, fqdn: host.name }, attempts };
  }

  it("keeps to it from the first precheck to the last host", async () => {
    const { target } = cluster;
    const { stages } = await succeed(() => activities().runClusterPrechecks(target));
    expect(stages.filter(({ status }) => status !== "SUCCESSFUL")).to.deep.equal([]);

    const previous = await succeed(() => activities().readRemediationPolicy(target));
    const options = {
      preRemediationPowerAction: "SUSPEND_VMS",
      enableQuickboot: true,
      disableDpm: true,
      disableHac: true,
      evacuateOfflineVms: true,
      enforceHclValidation: true,
      enableQuickPatch: false,
    } as const;
    await succeed(() => activities().putRemediationPolicy({ ...target, previous, options }));
    const { commit } = await succeed(() => activities().setDesiredImage(target));
    for (const { host, fqdn } of await succeed(() => activities().readClusterHosts(target))) {
      const attempts = { maximumAttempts: 1, retryDelay: 0 };
      const input = { ...target, host: { host, fqdn }, attempts, ...(commit !== undefined && { commit }) };
      expect(await succeed(() => activities().remediateHost(input))).to.include({ outcome: "UPGRADED" });
    }
    await succeed(() => activities().restoreRemediationPolicy({ ...target, previous }));

    const { hosts, policy } = await cluster.state();
    expect(hosts.map(({ version }) => version)).to.deep.equal([targetVersion, targetVersion]);
    expect(policy).to.deep.equal(previous);
    expect(proxy.violations).to.deep.equal([]);
    for (const call of [
      /action=validate/,
      /action=commit/,
      /action=check/,
      /action=apply/,
      /action=scan/,
      /cis\/tasks\?/,
    ]) {
      expect(called(call), String(call)).to.equal(true);
    }
  });

  it("keeps to it when things go wrong", async () => {
    const { target } = cluster;
    const client = createVlcmClient({ id: "vc-01", url: proxy.url, username: "svc", password: "s" }, quickLimits);
    const left = await client.createDraft(target.cluster.cluster);
    expect((await client.listDrafts(target.cluster.cluster)).map(({ draft }) => draft)).to.deep.equal([left]);
    await succeed(() => activities().setDesiredImage({ ...target }));
    await client.close();

    const failing = await inputOfHost(0);
    await cluster.fault({ kind: "REMEDIATION_FAILS", host: failing.host.fqdn, times: 1 });
    const failed = await runActivity(() => activities().remediateHost(failing));
    await cluster.fault({ kind: "OPERATION_IN_PROGRESS", times: 1 });
    await cluster.fault({ kind: "CONNECTION_DROPPED", method: "POST", path: "action=apply", times: 1, after: true });
    await cluster.fault({ kind: "SESSIONS_EXPIRED" });
    const again = { attempt: 2, heartbeatDetails: failed.heartbeats.at(-1) };
    const { result } = await runActivity(() => activities().remediateHost(failing), again);
    expect(result).to.include({ outcome: "UPGRADED" });

    const cancelled = await inputOfHost(1);
    await cluster.hostSeconds(60);
    const run = startActivity(() => activities().remediateHost(cancelled));
    await run.heartbeat(({ activity }) => /entering maintenance mode/.test(activity));
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE", times: 1 });
    run.environment.cancel();
    await run.end;
    expect((await cluster.state()).runningTasks).to.deep.equal([]);

    expect(proxy.violations).to.deep.equal([]);
    for (const call of [/last-apply-result/, /action=cancel/, /DELETE .*\/drafts\//, /GET \/api\/session/]) {
      expect(called(call), String(call)).to.equal(true);
    }
  });

  it("keeps to it in what the inventory reads", async () => {
    const client = createVlcmClient({ id: "vc-01", url: proxy.url, username: "svc", password: "s" }, quickLimits);
    const clusters = await client.listClusters();
    expect(clusters.map(({ name }) => name)).to.include.members(["cluster-01", "cluster-02"]);
    expect(await client.isImageManaged("domain-c8")).to.equal(true);
    expect((await client.listHosts("domain-c8")).map(({ name }) => name)).to.deep.equal([
      "esx-01.example.com",
      "esx-02.example.com",
    ]);
    await client.close();
    expect(called(/DELETE \/api\/session/)).to.equal(true);
    expect(proxy.violations).to.deep.equal([]);
  });
});
