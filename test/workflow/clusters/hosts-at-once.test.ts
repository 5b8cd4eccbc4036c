import { expect } from "chai";
import type { ClusterKind } from "../../../src/domain/plan/upgrade-plan";
import type { HostRemediationOptions } from "../../../src/domain/task/host-remediation";
import { clusterIdOf, type ClustersOnSimulator, simulateClusters } from "../../support/clusters-on-simulator";
import { mostOutOfService } from "../../support/most-out-of-service";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("Several hosts of a cluster at once, with the real Activities on the simulator", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  let simulated: ClustersOnSimulator;
  afterEach(() => simulated.close());

  const [resource] = clusters(1, "cl-at-once-");
  const resourceId = resource?.resourceId ?? "";
  const cluster = clusterIdOf(resourceId);

  async function upgrade(kind: ClusterKind, options: HostRemediationOptions = {}, rollout: object = {}) {
    const failureAction = { action: "RETRY" as const, retryCount: 1, retryDelay: 0 };
    return bench().upgrade(
      {
        resources: [
          { resourceId, hostosUpgradeOptionsSpec: { ...options, hostosUpgradeFailureAction: failureAction } },
        ],
        kinds: [kind],
        rollout: { hostsAtOnce: 2, healthGate: true, ...rollout },
      },
      simulated.activities(),
    );
  }
  const details = async (step: string) =>
    (await simulated.ledger()).filter((entry) => entry.step === step).map(({ detail }) => detail ?? "");
  const attemptsOf = async () => {
    const started = (await simulated.ledger()).filter(({ step }) => step === "APPLY_STARTED");
    return started.map(({ host, attempt }) => `${host} ${attempt}`).sort();
  };

  for (const kind of ["IMAGE", "BASELINE"] as const)
    it(`never has more hosts of ${kind} out of service than allowed, through failures and retries`, async () => {
      simulated = await simulateClusters([{ resourceId, kind }], { hosts: 5 });
      // The first recovers with its retry; the second never does and is tolerated.
      await simulated.fault({ kind: "REMEDIATION_FAILS", host: "host-12", times: 1 });
      await simulated.fault({ kind: "REMEDIATION_FAILS", host: "host-14" });
      const running = await upgrade(kind, {}, { toleratedFailures: 1 });
      expect(await running.end()).to.equal("SUCCESSFUL_WITH_WARNING");
      expect(await running.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL", "FAILED", "SUCCESSFUL"]);
      expect(await attemptsOf()).to.deep.equal([
        "host-11 1",
        "host-12 1",
        "host-12 2",
        "host-13 1",
        "host-14 1",
        "host-14 2",
        "host-15 1",
      ]);
      expect(mostOutOfService(await simulated.ledger(), cluster)).to.equal(2);
      const { hosts, runningTasks } = await simulated.state(resourceId);
      expect(hosts.map(({ maintenance }) => maintenance)).to.deep.equal(Array(5).fill("OUT"));
      expect(runningTasks).to.deep.equal([]);
    });

  it("are remediated by one call that names them, on an image-managed cluster", async () => {
    simulated = await simulateClusters([{ resourceId, kind: "IMAGE" }], { hosts: 3 });
    const options = { preRemediationPowerAction: "DO_NOT_CHANGE_VMS_POWER_STATE", evacuateOfflineVms: true } as const;
    const running = await upgrade("IMAGE", options);
    expect(await running.end()).to.equal("SUCCESSFUL");
    expect(await details("APPLY_REQUESTED")).to.deep.equal(["hosts host-11, host-12", "hosts host-13"]);
    expect(await details("MAINTENANCE_ENTERED")).to.deep.equal(Array(3).fill("with offline VMs"));
    expect(mostOutOfService(await simulated.ledger(), cluster)).to.equal(2);
  });

  it("go one by one on an image-managed cluster that is to suspend to memory, which only the product can", async () => {
    simulated = await simulateClusters([{ resourceId, kind: "IMAGE" }]);
    const running = await upgrade("IMAGE", { preRemediationPowerAction: "SUSPEND_VMS_TO_MEMORY" });
    expect(await running.end()).to.equal("SUCCESSFUL");
    expect(await details("APPLY_REQUESTED")).to.deep.equal(["hosts host-11", "hosts host-12"]);
    for (const detail of await details("MAINTENANCE_ENTERED"))
      expect(detail).to.match(/^SUSPEND_VMS_TO_MEMORY: 2 VMs suspended to memory/);
    expect(mostOutOfService(await simulated.ledger(), cluster)).to.equal(1);
  });
});
