import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { Document } from "openapi-backend";
import { createVlcmClient } from "../../../activities/drivers/vlcm/vlcm-client";
import { leased } from "../../support/activity-environment";
import {
  depotAddOn,
  depotFirmware,
  quickLimits,
  remediateHost,
  runActivity,
  simulateCluster,
  type SimulatedCluster,
  startActivity,
  succeed,
  targetVersion,
} from "../../unit/activities/simulated-cluster";
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
  /** The management interface, which prechecks ask as well, is SOAP and has no such contract. */
  const violations = () => proxy.violations.filter(({ call }) => call !== "POST /sdk");
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

    const recorded = await succeed(() => activities().readRemediationPolicy(target));
    const options = {
      preRemediationPowerAction: "SUSPEND_VMS",
      enableQuickboot: true,
      disableDpm: true,
      disableHac: true,
      evacuateOfflineVms: true,
      enforceHclValidation: true,
      enableQuickPatch: false,
    } as const;
    await succeed(() => activities().putRemediationPolicy({ ...target, ...recorded, options }));
    const { commit } = await succeed(() => activities().setDesiredImage(target));
    for (const { host, fqdn } of await succeed(() => activities().readClusterHosts(target))) {
      const attempts = { maximumAttempts: 1, retryDelay: 0 };
      const input = { ...target, host: { host, fqdn }, attempts, ...(commit !== undefined && { commit }) };
      expect(await succeed(() => remediateHost(activities(), input))).to.include({ outcome: "UPGRADED" });
    }
    await succeed(() => activities().restoreRemediationPolicy({ ...target, ...recorded }));

    const { hosts, policy } = await cluster.state();
    expect(hosts.map(({ version }) => version)).to.deep.equal([targetVersion, targetVersion]);
    expect(policy).to.deep.equal(recorded.previous);
    expect(violations()).to.deep.equal([]);
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

  describe("options of hosts", () => {
    const all = {
      preRemediationPowerAction: "POWER_OFF_VMS",
      enableQuickboot: true,
      disableDpm: true,
      disableHac: true,
      evacuateOfflineVms: true,
      enforceHclValidation: true,
      enableQuickPatch: true,
    } as const;
    const common = {
      failure_action: { action: "FAIL" },
      pre_remediation_power_action: "POWER_OFF_VMS",
      enable_quick_boot: true,
      disable_dpm: true,
      disable_hac: true,
      evacuate_offline_vms: true,
    };
    const powerActions = [
      "POWER_OFF_VMS",
      "SUSPEND_VMS",
      "DO_NOT_CHANGE_VMS_POWER_STATE",
      "SUSPEND_VMS_TO_MEMORY",
    ] as const;
    const arrivals = [
      {
        what: "where older products have them",
        previous: {},
        arrived: {
          ...common,
          enforce_hcl_validation: true,
          enforce_quick_patch: true,
          parallel_remediation_action: { enabled: true, max_hosts: 3 },
        },
      },
      {
        what: "where products from 9.1 have them",
        previous: { software_policy_spec: { skip_reserved_vibs_caching: true } },
        arrived: {
          ...common,
          software_policy_spec: {
            skip_reserved_vibs_caching: true,
            enforce_hcl_validation: true,
            live_patch_action: { live_patch_mode: "ENFORCE_LIVE_PATCH" },
            parallel_remediation_action: { enabled: true, max_hosts: 3 },
          },
        },
      },
    ];
    // One test, because making the checker of a contract takes longer than all that it checks here.
    it("arrive all together where the product has them, each value as it is, and nothing else does", async () => {
      const { target } = cluster;
      for (const { what, previous, arrived } of arrivals) {
        await succeed(() => activities().restoreRemediationPolicy({ ...target, previous }));
        const recorded = await succeed(() => activities().readRemediationPolicy(target));
        await succeed(() =>
          activities().putRemediationPolicy({ ...target, ...recorded, options: all, hostsAtOnce: 3 }),
        );
        expect((await cluster.state()).policy, what).to.deep.equal(arrived);
        await succeed(() => activities().restoreRemediationPolicy({ ...target, ...recorded }));
        expect((await cluster.state()).policy, what).to.deep.equal(previous);
      }
      for (const preRemediationPowerAction of powerActions) {
        const input = { ...target, previous: {}, options: { preRemediationPowerAction } };
        await succeed(() => activities().putRemediationPolicy(input));
        expect((await cluster.state()).policy).to.deep.equal({
          failure_action: { action: "FAIL" },
          pre_remediation_power_action: preRemediationPowerAction,
        });
      }
      expect(violations()).to.deep.equal([]);
    });
  });

  it("keeps to it with a personality, several hosts at once and the health gate", async () => {
    const image = {
      name: "PowerEdge",
      addOn: depotAddOn,
      components: { bnxt: "234.0-1" },
      hardwareSupport: [depotFirmware],
    };
    const target = { ...cluster.target, image };
    const { stages } = await succeed(() => activities().runClusterPrechecks(target));
    expect(stages.filter(({ status }) => status !== "SUCCESSFUL")).to.deep.equal([]);
    const options = { preRemediationPowerAction: "SUSPEND_VMS" } as const;
    const recorded = await succeed(() => activities().readRemediationPolicy(target));
    await succeed(() => activities().putRemediationPolicy({ ...target, ...recorded, options, hostsAtOnce: 2 }));
    await succeed(() => activities().setDesiredImage(target));
    await succeed(() => activities().awaitClusterHealth(target));
    const hosts = await succeed(() => activities().readClusterHosts(target));
    const attempts = { maximumAttempts: 1, retryDelay: 0 };
    const { upgraded } = await succeed(() =>
      activities().remediateHosts({ ...target, hosts, emptying: options, attempts }),
    );
    expect(upgraded.map(({ host }) => host)).to.deep.equal(hosts.map(({ host }) => host));
    expect((await cluster.state()).hosts[0]?.extras).to.deep.include({ addOn: depotAddOn });
    expect(violations()).to.deep.equal([]);
    for (const call of [/action=import-software-spec/, /policies\/apply\/effective/])
      expect(called(call), String(call)).to.equal(true);
  });

  it("keeps to it when things go wrong", async () => {
    const { target } = cluster;
    const access = { id: "vc-01", url: proxy.url, username: "svc", password: "s" };
    const client = leased(createVlcmClient(access, quickLimits));
    const left = await client.createDraft(target.cluster.cluster);
    expect((await client.listDrafts(target.cluster.cluster)).map(({ draft }) => draft)).to.deep.equal([left]);
    await succeed(() => activities().setDesiredImage({ ...target }));
    await client.close();

    const failing = await inputOfHost(0);
    await cluster.fault({ kind: "REMEDIATION_FAILS", host: failing.host.fqdn, times: 1 });
    const failed = await runActivity(() => remediateHost(activities(), failing));
    await cluster.fault({ kind: "OPERATION_IN_PROGRESS", times: 1 });
    await cluster.fault({ kind: "CONNECTION_DROPPED", method: "POST", path: "action=apply", times: 1, after: true });
    await cluster.fault({ kind: "SESSIONS_EXPIRED" });
    const again = { attempt: 2, heartbeatDetails: failed.heartbeats.at(-1) };
    const { result } = await runActivity(() => remediateHost(activities(), failing), again);
    expect(result).to.include({ outcome: "UPGRADED" });

    const cancelled = await inputOfHost(1);
    await cluster.hostSeconds(60);
    const run = startActivity(() => remediateHost(activities(), cancelled));
    await run.heartbeat(({ activity }) => /entering maintenance mode/.test(activity));
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE", times: 1 });
    run.environment.cancel();
    await run.end;
    expect((await cluster.state()).runningTasks).to.deep.equal([]);

    expect(violations()).to.deep.equal([]);
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
    expect(violations()).to.deep.equal([]);
  });
});
