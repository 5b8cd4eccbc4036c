import { expect } from "chai";
import type { ClusterKind } from "../../../src/domain/plan/upgrade-plan";
import { type ClustersOnSimulator, simulateClusters } from "../../support/clusters-on-simulator";
import { clusters, sampleBundle } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const older = "9.0.1-0.24957456";
const newer = "9.0.2-0.25148076";

describe("A request of both kinds of cluster, with the real Activities on the simulator", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  let simulated: ClustersOnSimulator;
  afterEach(() => simulated.close());

  for (const [image, baseline] of [
    [older, newer],
    [newer, older],
  ] as const)
    it(`brings each to its toVersion (${image} by image, ${baseline} by baselines), with its own options`, async () => {
      const kinds: ClusterKind[] = ["IMAGE", "BASELINE"];
      const [first, second] = clusters(2);
      const resources = [
        { resourceId: first?.resourceId ?? "", toVersion: image, shutdownVms: true, enableQuickboot: true },
        { resourceId: second?.resourceId ?? "", toVersion: baseline, shutdownVms: true, evacuateOfflineVms: true },
      ];
      simulated = await simulateClusters(
        resources.map(({ resourceId }, i) => ({ resourceId, kind: kinds[i] ?? "IMAGE" })),
        { hosts: 2, poweredOffVms: 1 },
      );
      const bundle = {
        ...sampleBundle,
        components: [newer, older].map((toVersion) => ({ type: "HOSTOS", toVersion })),
      };
      const upgrade = await bench().upgrade({ resources, kinds, bundle }, simulated.activities());
      expect(await upgrade.end()).to.equal("SUCCESSFUL");

      for (const [i, version] of [image, baseline].entries()) {
        const { hosts } = await simulated.state(upgrade.resourceId(i));
        expect(hosts.map((host) => host.version)).to.deep.equal([version, version]);
        expect(hosts.map(({ poweredOnVms }) => poweredOnVms)).to.deep.equal([2, 2]);
      }
      const ledger = await simulated.ledger();
      const told = (i: number, step: string) =>
        ledger
          .filter((entry) => entry.cluster === `domain-${upgrade.resourceId(i)}` && entry.step === step)
          .map(({ detail = "" }) => detail);
      for (const detail of told(0, "MAINTENANCE_ENTERED")) expect(detail).to.match(/2 VMs powered off/);
      expect(told(0, "REBOOTED")).to.deep.equal(["quick boot", "quick boot"]);
      expect(told(0, "VM_POWER_CHANGED")).to.deep.equal([]);
      expect(told(1, "MAINTENANCE_ENTERED")).to.deep.equal(["with offline VMs", "with offline VMs"]);
      const powered = told(1, "VM_POWER_CHANGED").map((detail) => detail.split(" ")[1]);
      expect(powered).to.deep.equal([2, 2].flatMap(() => ["poweredOff", "poweredOff", "poweredOn", "poweredOn"]));
      expect(told(1, "APPLY_STARTED")).to.deep.equal([baseline, baseline]);
    });
});
