import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import pino from "pino";
import type { ClusterKind } from "../../../src/domain/plan/upgrade-plan";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { type ClustersOnSimulator, simulateClusters } from "../../support/clusters-on-simulator";
import { eventually } from "../../support/eventually";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("What a Task says while the rollout policy has it wait, with the real Activities on the simulator", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  let simulated: ClustersOnSimulator;
  afterEach(() => simulated.close());

  async function upgrade(kind: ClusterKind, rollout: object) {
    const resources = clusters(1);
    simulated = await simulateClusters(resources.map(({ resourceId }) => ({ resourceId, kind })));
    const running = () => bench().upgrade({ resources, kinds: [kind], rollout }, simulated.activities());
    return { running, resourceId: resources[0]?.resourceId ?? "" };
  }

  /** The cluster's SubTask as a client reads it, with what its running Activities say. */
  async function clusterOf(id: string) {
    const read = await temporalUpgradeExecutions(bench().env.client, pino({ level: "silent" })).readTask(id)();
    if (!isRight(read)) throw new Error("The Task cannot be read");
    return read.right.subTasks?.at(-1)?.subTasks?.[0];
  }

  for (const [kind, told] of [
    ["IMAGE", /^Waiting until \S+ is healthy: \S+: .+: vSAN objects are resyncing/],
    ["BASELINE", /^Waiting until \S+ is healthy: Host \S+ has the status red\. Cluster \S+ has the status red\.$/],
  ] as const)
    it(`names what keeps the health gate of ${kind} closed, and begins no host meanwhile`, async () => {
      const { running, resourceId } = await upgrade(kind, { healthGate: true });
      const begun = await running();
      // The prechecks find a cluster that is well; its first host is upgraded, and then the other one falls ill.
      await eventually(simulated.ledger, (entries) => entries.some(({ step }) => step === "MAINTENANCE_ENTERED"));
      await simulated.fault({ kind: "CHECK_FAILS", host: "host-12", issue: "vSAN objects are resyncing" });
      const waiting = await eventually(
        () => clusterOf(begun.id),
        (cluster) => told.test(cluster?.description ?? ""),
      );
      expect(waiting?.status).to.equal("IN_PROGRESS");
      expect(waiting?.subTasks?.map(({ status }) => status)).to.deep.equal(["SUCCESSFUL", "PENDING"]);
      expect((await simulated.state(resourceId)).hosts.map(({ maintenance }) => maintenance)).to.deep.equal([
        "OUT",
        "OUT",
      ]);
      await simulated.repair();
      expect(await begun.end()).to.equal("SUCCESSFUL");
    });

  for (const kind of ["IMAGE", "BASELINE"] as const)
    it(`names the time until which a host of ${kind} is watched, and ends at once when it is cancelled then`, async () => {
      const { running } = await upgrade(kind, { soakSeconds: 3600, healthGate: true });
      const begun = await running();
      const waiting = await eventually(
        () => clusterOf(begun.id),
        (cluster) => /^Waiting until [0-9T:.-]+Z: 3600 s after each host/.test(cluster?.description ?? ""),
      );
      expect(waiting?.subTasks?.map(({ status }) => status)).to.deep.equal(["SUCCESSFUL", "PENDING"]);
      await begun.handle.cancel();
      expect(await begun.end()).to.equal("CANCELLED");
      expect((await simulated.ledger()).filter(({ step }) => step === "MAINTENANCE_EXITED")).to.have.length(1);
    });
});
