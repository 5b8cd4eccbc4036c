import { expect } from "chai";
import type { HealthLook } from "../../../activities/contract";
import { type SimulatedCluster, simulateCluster, succeed } from "./simulated-cluster";

describe("checkClusterHealth", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  afterEach(() => cluster.close());

  const look = (): Promise<HealthLook> => {
    const activities = cluster.activities();
    return succeed(() => activities.checkClusterHealth(cluster.target));
  };
  const firstHost = async () => (await cluster.state()).hosts[0]?.id ?? "";

  describe("of an image-managed cluster", () => {
    beforeEach(async () => {
      cluster = await simulateCluster("IMAGE", { hosts: 3 });
      await cluster.hostSeconds(0);
    });

    it("finds it healthy", async () => {
      expect(await look()).to.deep.equal({ healthy: true });
    });

    it("finds a host in maintenance mode without asking for the component manager's check", async () => {
      await cluster.put(await firstHost(), "IN");
      expect(await look()).to.deep.equal({ healthy: false });
    });

    it("takes what the check finds for not healthy", async () => {
      await cluster.fault({ kind: "CHECK_FAILS", host: "esx-02.example.com", issue: "vSAN objects are resyncing" });
      expect(await look()).to.deep.equal({ healthy: false });
    });

    it("leaves a check that takes its time to whoever waits for it", async () => {
      await cluster.hostSeconds(60);
      const { healthy, check } = await look();
      expect(healthy).to.equal(false);
      const { runningTasks } = await cluster.state();
      expect(runningTasks.map(({ id, kind }) => ({ id, kind }))).to.deep.equal([{ id: check, kind: "check" }]);
    });

    it("takes a component manager that does not answer for not healthy, at once and without an error", async () => {
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE" });
      expect(await look()).to.deep.equal({ healthy: false });
    });
  });

  describe("of a baseline-managed cluster", () => {
    beforeEach(async () => {
      cluster = await simulateCluster("BASELINE", { hosts: 3 });
    });
    const lookHere = () => {
      const activities = cluster.activities();
      return succeed(() => activities.checkClusterHealth({ ...cluster.target, kind: "BASELINE" }));
    };

    it("finds it healthy", async () => {
      expect(await lookHere()).to.deep.equal({ healthy: true });
    });

    it("finds the status red", async () => {
      await cluster.fault({ kind: "CHECK_FAILS", host: "esx-02.example.com" });
      expect(await lookHere()).to.deep.equal({ healthy: false });
    });
  });
});
