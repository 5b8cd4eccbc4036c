import { expect } from "chai";
import type { ClusterTarget, PrecheckOptions } from "../../../activities/contract";
import { createVim25Client } from "../../../activities/drivers/vim25/vim25-client";
import type { ClusterConfig } from "../../../src/simulator/config/simulator-config";
import { leased } from "../../support/activity-environment";
import { type SimulatedCluster, simulateCluster, succeed } from "./simulated-cluster";

const advice = ["ROOM_FOR_ROLLOUT", "CERTIFICATES_VALID", "CLOCKS_IN_SYNC"];

for (const management of ["IMAGE", "BASELINE"] as const) {
  describe(`what prechecks advise on a cluster: ${management}`, function () {
    this.timeout(20_000);
    let cluster: SimulatedCluster;
    const start = async (more: Partial<ClusterConfig> = {}) => {
      cluster = await simulateCluster(management, { hosts: 3, ...more });
      await cluster.hostSeconds(0.05);
    };
    afterEach(() => cluster.close());

    async function run(target: Partial<ClusterTarget & PrecheckOptions> = {}) {
      const asked = { ...cluster.target, kind: management, ...target };
      const { stages } = await succeed(() => cluster.activities().runClusterPrechecks(asked));
      const advised = stages.filter(({ type }) => advice.includes(type));
      expect(advised.map(({ type, status }) => `${type} ${status}`)).to.deep.equal(
        advice.map((type) => `${type} SUCCESSFUL`),
      );
      return advised.flatMap(({ findings = [] }) => findings);
    }

    it("is nothing where all is well, and nothing is moved", async () => {
      await start();
      expect(await run({ hostsAtOnce: 2 })).to.deep.equal([]);
      expect(await cluster.steps()).to.deep.equal([]);
    });

    it("warns of a rollout that takes more hosts than can be emptied", async () => {
      await start();
      const [finding, ...more] = await run({ hostsAtOnce: 3 });
      expect(more).to.deep.equal([]);
      expect(finding).to.deep.include({
        severity: "WARNING",
        code: "CAPACITY_INSUFFICIENT",
        resourceId: "c-1",
        isAcknowledgeable: true,
        message:
          "Cluster cluster-01 can empty 2 hosts at a time, and the upgrade takes 3: The other hosts have not enough unreserved memory for the VMs.",
        remediationMessage: "Upgrade at most 2 at once (rollout.hostsAtOnce), or free capacity in the cluster.",
      });
      await cluster.fault({ kind: "EVACUATION_IMPOSSIBLE", others: 1 });
      expect((await run({ hostsAtOnce: 2 })).map(({ code }) => code)).to.deep.equal(["CAPACITY_INSUFFICIENT"]);
      expect(await run({ hostsAtOnce: 1 })).to.deep.equal([]);
    });

    it("counts the hosts that the upgrade is about, and none where virtual machines are switched off", async () => {
      await start();
      const { hosts } = await cluster.state();
      expect(await run({ hostsAtOnce: 3, scope: { exclude: [hosts[0]?.id ?? ""] } })).to.deep.equal([]);
      expect(await run()).to.deep.equal([]);
    });

    it("warns of virtual machines that nothing moves", async () => {
      await start();
      const access = { id: "vc-01", url: cluster.url, username: "operator", password: "any" };
      const vim25 = leased(createVim25Client(access, { callTimeout: 5_000 }));
      await vim25.reconfigureCluster("domain-c8", { drs: { enabled: false, automation: "" } });
      cluster.clock.pass(60_000);
      const found = await run({ hostsAtOnce: 1 });
      await vim25.close();
      // Of a baseline-managed cluster it is an error of another check.
      expect(found.map(({ severity, code }) => `${severity} ${code}`)).to.deep.equal(
        management === "IMAGE" ? ["WARNING HOSTS_CANNOT_BE_EMPTIED"] : [],
      );
    });

    it("names the virtual machine that is bound to its host", async () => {
      await start();
      await cluster.fault({ kind: "EVACUATION_BLOCKED", host: "host-12", message: "It uses a device of the host." });
      const [finding, ...more] = await run({ hostsAtOnce: 1 });
      expect(more).to.deep.equal([]);
      expect(finding).to.deep.include({
        severity: "WARNING",
        code: "VM_CANNOT_MOVE",
        hostId: "host-12",
        hostName: "esx-02.example.com",
        subject: "esx-02-vm-001",
        isAcknowledgeable: true,
      });
      expect(finding?.message).to.equal(
        "Virtual machine esx-02-vm-001 cannot leave host esx-02.example.com: It uses a device of the host.",
      );
    });

    it("warns of hosts whose certificate expires, and of clocks that are wrong", async () => {
      await start();
      await cluster.fault({ kind: "HOST_CERTIFICATE_EXPIRES", host: "host-11", seconds: 3600 });
      await cluster.fault({ kind: "HOST_CERTIFICATE_EXPIRES", host: "host-13", seconds: 0 });
      await cluster.fault({ kind: "HOST_CLOCK_WRONG", host: "host-12", seconds: 300 });
      const found = await run({ hostsAtOnce: 1 });
      expect(found.map(({ severity, code, hostId }) => `${severity} ${code} ${hostId}`)).to.deep.equal([
        "WARNING CERTIFICATE_EXPIRES host-11",
        "WARNING CERTIFICATE_EXPIRES host-13",
        "WARNING CLOCK_OUT_OF_SYNC host-12",
      ]);
      const [soon, late, clock] = found.map(({ message }) => message);
      expect(soon).to.match(/^The certificate of host esx-01\.example\.com expires 20/);
      expect(late).to.match(/^The certificate of host esx-03\.example\.com expired 20/);
      expect(clock).to.equal("The clock of host esx-02.example.com is 300 s behind that of component manager vc-01.");
      expect(found.every(({ isAcknowledgeable }) => isAcknowledgeable)).to.equal(true);
    });

    it("warns of a component manager whose clock is not that of the service", async () => {
      await start();
      const timeOfDay = () => cluster.clock.timeOfDay() + 120_000;
      const clock = { ...cluster.clock, timeOfDay, sleep: cluster.clock.sleep.bind(cluster.clock) };
      const asked = { ...cluster.target, kind: management };
      const { stages } = await succeed(() => cluster.activities({ clock }).runClusterPrechecks(asked));
      const messages = stages.flatMap(({ findings = [] }) => findings).map(({ message }) => message);
      expect(messages).to.deep.equal(["The clock of component manager vc-01 is 120 s behind that of the service."]);
    });

    it("passes over a host that cannot be asked", async () => {
      await start();
      await cluster.fault({ kind: "HOST_CLOCK_WRONG", host: "host-12", seconds: 300 });
      await cluster.put("host-12", "IN");
      const { stages } = await succeed(() =>
        cluster.activities().runClusterPrechecks({ ...cluster.target, kind: management }),
      );
      const clocks = stages.find(({ type }) => type === "CLOCKS_IN_SYNC");
      expect(clocks?.findings).to.equal(undefined);
    });

    it("notes what the component manager does not tell, and blocks nothing", async () => {
      await start();
      for (const method of ["ClusterEnterMaintenanceMode", "QueryDateTime"])
        await cluster.fault({ kind: "ANSWERS", path: `/sdk/${method}`, status: 404 });
      const found = await run({ hostsAtOnce: 1 });
      expect(found.map(({ severity, code }) => `${severity} ${code}`)).to.deep.equal([
        "INFO CHECK_NOT_POSSIBLE",
        "INFO CHECK_NOT_POSSIBLE",
      ]);
      expect(found[0]?.message).to.match(
        /^Could not find out which hosts of domain-c8 can be emptied: vc-01 answered 404/,
      );
      expect(found.some(({ isAcknowledgeable }) => isAcknowledgeable)).to.equal(false);
    });

    it("reads a little longer what is not answered for a moment", async () => {
      await start();
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE", path: "/sdk/ClusterEnterMaintenanceMode", times: 2 });
      expect(await run({ hostsAtOnce: 1 })).to.deep.equal([]);
    });
  });
}
