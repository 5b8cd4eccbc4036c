import { expect } from "chai";
import type { ClusterTarget } from "../../../activities/contract";
import { createActivities } from "../../../activities/create-activities";
import { DriverError } from "../../../activities/drivers/driver-error";
import { createVim25Client, type Vim25Client } from "../../../activities/drivers/vim25/vim25-client";
import { hasEnded, type TaskInfo } from "../../../activities/drivers/vim25/vim25-models";
import { leased } from "../../support/activity-environment";
import { defaultActivityLimits } from "../../support/default-limits";
import { failureOf, remediateHost, runActivity, succeed } from "../../unit/activities/simulated-cluster";
import { startVcsim, type Vcsim } from "./vcsim-process";

const credentials = { username: "svc-upgrade", password: "secret" };

// vcsim implements neither the installation of patches nor restarts, and it enters maintenance mode at once without
// moving anything: what it proves is that a server which we did not write understands us, and we it.
describe("the driver against vcsim of the govmomi project", function () {
  this.timeout(20_000);
  let vcsim: Vcsim;
  let client: Vim25Client;
  let cluster: string;
  let host: string;

  beforeEach(async () => {
    vcsim = await startVcsim();
    client = clientOf(vcsim.url);
    const [first] = await client.listClusters();
    cluster = first?.cluster ?? "";
    const [one] = await client.listHosts(cluster);
    host = one?.host ?? "";
  });
  afterEach(async () => {
    await client.close();
    await vcsim.stop();
  });

  const clientOf = (url: string, more: object = {}) =>
    leased(createVim25Client({ id: "vcsim", url, ...credentials, ...more }, { callTimeout: 5_000 }));

  async function ended(task: string): Promise<TaskInfo> {
    for (;;) {
      const info = await client.readTask(task);
      if (hasEnded(info)) return info;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const failing = async (work: Promise<unknown>): Promise<DriverError> => {
    const error: unknown = await work.catch((thrown: unknown) => thrown);
    if (!(error instanceof DriverError)) throw new Error("there was no error");
    return error;
  };

  it("logs in, and is refused with a wrong password", async () => {
    expect(await client.readProduct()).to.match(/^VMware vCenter Server/);
    expect(Math.abs(Date.parse(await client.readTime()) - Date.now())).to.be.below(60_000);
    const stranger = clientOf(vcsim.url, { password: "wrong" });
    expect(await failing(stranger.readTime())).to.include({ kind: "permanent", code: "AUTHENTICATION" });
    await stranger.close();
  });

  it("logs in again where its session is unknown after a restart", async () => {
    const { port } = new URL(vcsim.url);
    await vcsim.stop();
    expect(await failing(client.readTime())).to.include({ kind: "transient", code: "COMPONENT_MANAGER_UNREACHABLE" });
    vcsim = await startVcsim({ port: Number(port) });
    expect(await client.listHosts(cluster)).to.have.length(2);
  });

  it("does not speak to a manager whose certificate nobody vouches for", async () => {
    const secure = await startVcsim({ plain: false });
    const wary = clientOf(secure.url);
    expect(await failing(wary.readTime())).to.include({ kind: "permanent", code: "COMPONENT_MANAGER_CERTIFICATE" });
    await wary.close();
    await secure.stop();
  });

  it("reads clusters, hosts and virtual machines", async () => {
    expect((await client.listClusters()).map(({ name }) => name)).to.deep.equal(["DC0_C0", "DC0_C1"]);
    const hosts = await client.listHosts(cluster);
    expect(hosts.map(({ name }) => name)).to.deep.equal(["DC0_C0_H0", "DC0_C0_H1"]);
    for (const found of hosts) {
      expect(found).to.deep.include({ connection: "connected", power: "poweredOn", inMaintenanceMode: false });
      expect(found.product?.version).to.match(/^\d+\.\d+\.\d+$/);
      expect(found.product?.build).to.match(/^\d+$/);
      expect(Date.parse(found.bootTime ?? "")).to.be.above(0);
    }
    const vms = await client.listVms(cluster);
    expect(vms).to.have.length(2);
    for (const vm of vms) {
      expect(vm.power).to.equal("poweredOn");
      expect(hosts.map((found) => found.host)).to.include(vm.host);
    }
  });

  it("reads the certificates of hosts, and is told that there are neither clocks nor a scheduler's plan", async () => {
    const hosts = (await client.listHosts(cluster)).map((one) => one.host);
    const certificates = await client.listCertificates(cluster);
    expect(certificates.map((one) => one.host)).to.have.members(hosts);
    expect(certificates.every(({ expiresAt }) => Date.parse(expiresAt) > 0)).to.equal(true);
    expect(await failing(client.planEvacuation(cluster, hosts))).to.include({ kind: "permanent" });
    expect(await failing(client.listHostTimes(cluster, hosts))).to.include({ kind: "permanent" });
  });

  it("brings a host into maintenance mode and out of it, and finds the tasks of that on the host", async () => {
    expect((await ended(await client.enterMaintenanceMode(host, { evacuatePoweredOffVms: true }))).state).to.equal(
      "success",
    );
    const inside = await client.readHost(host);
    expect(inside.inMaintenanceMode).to.equal(true);
    expect(inside.tasks.map(({ descriptionId }) => descriptionId)).to.deep.equal(["HostSystem.enterMaintenanceMode"]);
    const others = (await client.listHosts(cluster)).filter((found) => found.host !== host);
    expect(others.flatMap(({ tasks }) => tasks)).to.deep.equal([]);
    await ended(await client.exitMaintenanceMode(host));
    expect((await client.readHost(host)).inMaintenanceMode).to.equal(false);
  });

  it("suspends, powers off and powers on virtual machines, and knows what is so already", async () => {
    const [vm] = await client.listVms(cluster);
    const id = vm?.vm ?? "";
    const power = async () => (await client.listVms(cluster)).find((found) => found.vm === id)?.power;
    for (const [action, after] of [
      ["SuspendVM", "suspended"],
      ["PowerOnVM", "poweredOn"],
      ["PowerOffVM", "poweredOff"],
      ["PowerOnVM", "poweredOn"],
    ] as const) {
      expect((await ended(await client.changeVmPower(id, action))).error).to.equal(undefined);
      expect(await power()).to.equal(after);
    }
    const again = await ended(await client.changeVmPower(id, "PowerOnVM"));
    expect(again.error?.type).to.equal("InvalidPowerState");
    expect(again.error?.detail).to.include({ requestedState: "poweredOn", existingState: "poweredOn" });
  });

  it("switches admission control and DRS, and nothing else with them", async () => {
    expect(await client.listReconfigurations(cluster)).to.deep.equal([]);
    await ended(await client.reconfigureCluster(cluster, { admissionControl: true }));
    const before = (await client.readCluster(cluster)).settings;
    expect(before).to.deep.include({ admissionControl: true });
    await ended(await client.reconfigureCluster(cluster, { admissionControl: false }));
    expect((await client.readCluster(cluster)).settings).to.deep.equal({ ...before, admissionControl: false });
    await ended(await client.reconfigureCluster(cluster, { drs: { enabled: true, automation: "manual" } }));
    expect((await client.readCluster(cluster)).settings).to.deep.equal({
      ...before,
      admissionControl: false,
      drs: { enabled: true, automation: "manual" },
    });
    const changes = await client.listReconfigurations(cluster);
    expect(changes.map(({ state, entity }) => `${state} ${entity?.id}`)).to.deep.equal(
      Array(3).fill(`success ${cluster}`),
    );
  });

  it("is told what there is not", async () => {
    expect(await failing(client.readHost("host-99999"))).to.include({ kind: "permanent", code: "RESOURCE_NOT_FOUND" });
    expect(await failing(client.readTask("task-99999"))).to.include({ kind: "permanent", code: "RESOURCE_NOT_FOUND" });
    expect(await failing(client.rebootHost(host))).to.include({
      kind: "permanent",
      code: "COMPONENT_MANAGER_REFUSED",
      errorType: "MethodNotFound",
    });
  });

  describe("by the Activities", () => {
    const activities = () =>
      createActivities({
        componentManager: (id) => ({ id, url: vcsim.url, ...credentials }),
        patchFor: (_id, { version }) => ({ version, metadataUrls: ["http://depot.example.com/metadata.zip"] }),
        managementServer: () => undefined,
        readFreezes: () => Promise.resolve([]),
        readHolds: () => Promise.resolve([]),
        openingOf: () => ({ isOpen: true }),
        readLockHolder: () => Promise.resolve({}),
        limits: { ...defaultActivityLimits, poll: { min: 5, max: 20 } },
      });
    const target = (): ClusterTarget => ({
      cluster: { resourceId: "c-1", name: "DC0_C0", componentManagerId: "vcsim", cluster },
      kind: "BASELINE",
      targetVersion: "9.0.1-0.24957456",
      places: [{ domain: "fra1" }],
      options: { disableHac: true, preRemediationPowerAction: "POWER_OFF_VMS" },
    });

    it("admission control is switched off and put back as it was", async () => {
      await ended(await client.reconfigureCluster(cluster, { admissionControl: true }));
      const options = { disableHac: true };
      const { previous } = await succeed(() => activities().readRemediationPolicy(target()));
      await succeed(() => activities().putRemediationPolicy({ ...target(), options, previous }));
      expect((await client.readCluster(cluster)).settings.admissionControl).to.equal(false);
      await succeed(() => activities().restoreRemediationPolicy({ ...target(), previous }));
      expect((await client.readCluster(cluster)).settings.admissionControl).to.equal(true);
    });

    it("a host that cannot install the patch is in service again, with its virtual machines running", async () => {
      const [vm] = await client.listVms(cluster);
      const named = { host: vm?.host ?? "", fqdn: "DC0_C0_H0" };
      const before = await succeed(() => activities().readHostBefore({ ...target(), host: named }));
      expect(before).to.deep.include({ inMaintenanceMode: false, atTarget: false });
      expect(before.runningVms).to.include(vm?.vm);
      const attempts = { maximumAttempts: 1, retryDelay: 0 };
      const end = await runActivity(() => remediateHost(activities(), { ...target(), host: named, attempts, before }));
      const failure = failureOf(end);
      expect(failure.type).to.equal("RESOURCE_NOT_FOUND");
      expect(failure.told.error.message).to.match(/out of maintenance mode again/);
      const tasks = (await client.readHost(named.host)).tasks.map(({ descriptionId }) => descriptionId);
      expect(tasks).to.include.members(["HostSystem.enterMaintenanceMode", "HostSystem.exitMaintenanceMode"]);
      expect((await client.readHost(named.host)).inMaintenanceMode).to.equal(false);
      const powers = (await client.listVms(cluster)).filter((found) => before.runningVms.includes(found.vm));
      expect(powers.every(({ power }) => power === "poweredOn")).to.equal(true);
    });
  });
});
