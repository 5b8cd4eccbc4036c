import { expect } from "chai";
import type { ClusterTarget, HostToRestore } from "../../../activities/contract";
import { runActivity, simulateCluster, type SimulatedCluster, startActivity, succeed } from "./simulated-cluster";

describe("restoreHosts", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  afterEach(() => cluster.close());

  const modes = async () => (await cluster.state()).hosts.map(({ maintenance }) => maintenance);
  const host = (n: number, left: Partial<HostToRestore> = {}): HostToRestore => ({
    host: `host-1${n}`,
    fqdn: `esx-0${n}.example.com`,
    inMaintenanceMode: true,
    vms: [],
    ...left,
  });
  const target = (): ClusterTarget => ({ ...cluster.target, kind: "BASELINE", options: {} });

  for (const kind of ["IMAGE", "BASELINE"] as const)
    it(`takes the hosts out of maintenance mode that it is asked to, and no other: ${kind}`, async () => {
      cluster = await simulateCluster(kind, { hosts: 3 });
      await cluster.put("host-11", "IN");
      await cluster.put("host-12", "IN");
      await succeed(() => cluster.activities().restoreHosts({ ...cluster.target, kind, hosts: [host(1)] }));
      expect(await modes()).to.deep.equal(["OUT", "IN", "OUT"]);
    });

  it("starts the virtual machines that it is asked to, and no other", async () => {
    cluster = await simulateCluster("BASELINE", { poweredOnVms: 2, poweredOffVms: 1 });
    const activities = cluster.activities();
    const own = { ...target(), options: { preRemediationPowerAction: "POWER_OFF_VMS" as const } };
    const named = { host: "host-11", fqdn: "esx-01.example.com" };
    const before = await succeed(() => activities.readHostBefore({ ...own, host: named }));
    const attempts = { maximumAttempts: 1, retryDelay: 0 };
    const run = startActivity(() => activities.remediateHosts({ ...own, hosts: [named], attempts, before }));
    await run.heartbeat(({ entered }) => "RECONNECT" in entered);
    await cluster.fault({ kind: "VM_POWER_FAILS" });
    await run.end;
    await cluster.repair();
    const [first = ""] = before.runningVms;
    await succeed(() => activities.restoreHosts({ ...own, hosts: [host(1, { vms: [first] })] }));
    expect((await cluster.state()).hosts[0]).to.include({ poweredOnVms: 1, poweredOffVms: 2 });
  });

  it("goes on with other hosts where one cannot be taken out", async () => {
    cluster = await simulateCluster("BASELINE");
    await cluster.put("host-12", "IN");
    const { error } = await runActivity(() =>
      cluster.activities().restoreHosts({ ...target(), hosts: [host(9), host(2)] }),
    );
    expect(error).to.equal(undefined);
    expect(await modes()).to.deep.equal(["OUT", "OUT"]);
  });

  it("leaves hosts in maintenance mode while a remediation of the cluster runs", async () => {
    cluster = await simulateCluster("IMAGE", { hosts: 3 });
    const activities = cluster.activities();
    await succeed(() => activities.setDesiredImage(cluster.target));
    await cluster.put("host-12", "IN");
    await cluster.hostSeconds(2);
    const attempts = { maximumAttempts: 1, retryDelay: 0 };
    const named = { host: "host-11", fqdn: "esx-01.example.com" };
    const remediation = startActivity(() => activities.remediateHosts({ ...cluster.target, hosts: [named], attempts }));
    for (;;) if ((await cluster.state()).runningTasks.some(({ kind }) => kind === "apply")) break;
    await succeed(() => activities.restoreHosts({ ...cluster.target, hosts: [host(2)] }));
    expect((await modes())[1]).to.equal("IN");
    await remediation.end;
  });
});
