import { expect } from "chai";
import type { ClusterFacts } from "../../../src/domain/cluster-facts";
import { planUpgrade } from "../../../src/domain/plan-upgrade";
import { resourcesOf, type UpgradePlan } from "../../../src/domain/upgrade-plan";
import type { ResourceUpgradeSpec, UpgradeSpec } from "../../../src/domain/upgrade-spec";
import { sampleBundle, sampleCluster } from "../../support/sample-plan";

const identity = { id: "the-id", now: Date.parse("2026-11-01T12:00:00.000Z"), resolutionDays: 7 };

function plan(
  resources: readonly Omit<ResourceUpgradeSpec, "resourceId">[],
  spec: Partial<UpgradeSpec> = {},
  facts: Partial<ClusterFacts> = {},
): UpgradePlan {
  const resourceUpgradeSpecs = resources.map((resource, i) => ({ resourceId: `c${i}`, ...resource }));
  return planUpgrade(
    {
      spec: { bundleId: sampleBundle.id, resourceType: "CLUSTER", resourceUpgradeSpecs, ...spec },
      bundle: sampleBundle,
      clusters: resourceUpgradeSpecs.map(({ resourceId }) => sampleCluster(resourceId, facts)),
    },
    identity,
  );
}

/** The plan of the only resource. */
function planned(resource: Omit<ResourceUpgradeSpec, "resourceId">) {
  const [cluster] = resourcesOf(plan([resource]));
  if (!cluster) throw new Error("no cluster was planned");
  return cluster;
}

describe("planUpgrade", () => {
  it("is pure: the same input gives the same plan, and the input stays as it was", () => {
    const input = {
      spec: { bundleId: "b", resourceType: "CLUSTER" as const, resourceUpgradeSpecs: [{ resourceId: "c" }] },
      bundle: sampleBundle,
      clusters: [sampleCluster("c")],
    };
    const before = structuredClone(input);
    expect(planUpgrade(input, identity)).to.deep.equal(planUpgrade(input, identity));
    expect(input).to.deep.equal(before);
  });

  it("says who it is, when it was accepted and what it is about", () => {
    const { id, name, creationTimestamp, draft, bundle, resolutionDays } = plan([{}]);
    expect({ id, name, creationTimestamp, draft, resolutionDays }).to.deep.equal({
      id: "the-id",
      name: "Upgrade c0-name to 9.0.2",
      creationTimestamp: "2026-11-01T12:00:00.000Z",
      draft: false,
      resolutionDays: 7,
    });
    expect(bundle).to.equal(sampleBundle);
    expect(plan([{}, {}]).name).to.equal("Upgrade 2 clusters to 9.0.2");
    expect(plan([{}], { draftMode: true }).draft).to.equal(true);
  });

  it("plans HOSTOS for every cluster, in the order of the request", () => {
    const { products } = plan([{}, {}]);
    expect(products.map(({ product }) => product)).to.deep.equal(["HOSTOS"]);
    expect(products[0]?.resources.map(({ resourceId }) => resourceId)).to.deep.equal(["c0", "c1"]);
    expect(products[0]?.resources[0]).to.deep.equal({
      resourceId: "c0",
      name: "c0-name",
      componentManagerId: "vc01",
      cluster: "domain-c0",
      kind: "IMAGE",
      targetVersion: "9.0.2-0.25148076",
      attempts: { maximumAttempts: 1, retryDelay: 0 },
      options: {},
    });
  });

  it("keeps each resource's own time, which upgradeNow overrules", () => {
    const scheduledTimestamp = "2026-12-01T00:00:00.000Z";
    const resources = resourcesOf(plan([{}, { scheduledTimestamp }, { scheduledTimestamp, upgradeNow: true }]));
    expect(resources.map((resource) => resource.scheduledTimestamp)).to.deep.equal([
      undefined,
      scheduledTimestamp,
      undefined,
    ]);
    expect(resources[2]).not.to.have.property("scheduledTimestamp");
  });

  describe("options of the remediation", () => {
    it("are those of the request without the failure action, which is ours", () => {
      const options = {
        enforceHclValidation: true,
        enableQuickPatch: false,
        disableHac: true,
        disableDpm: false,
        preRemediationPowerAction: "SUSPEND_VMS" as const,
      };
      const cluster = planned({
        hostosUpgradeOptionsSpec: { ...options, hostosUpgradeFailureAction: { action: "RETRY", retryCount: 2 } },
      });
      expect(cluster.options).to.deep.equal(options);
      expect(cluster.attempts).to.deep.equal({ maximumAttempts: 3, retryDelay: 300 });
    });

    it("take the flags that exist twice from the inner options", () => {
      const outer = { enableQuickboot: true, evacuateOfflineVms: false };
      expect(planned(outer).options).to.deep.equal(outer);
      expect(planned({ ...outer, hostosUpgradeOptionsSpec: {} }).options).to.deep.equal(outer);
      const inner = { enableQuickboot: false, evacuateOfflineVms: true };
      expect(planned({ ...outer, hostosUpgradeOptionsSpec: inner }).options).to.deep.equal(inner);
    });

    it("power off virtual machines for shutdownVms, but not for its false", () => {
      expect(planned({ shutdownVms: true }).options).to.deep.equal({ preRemediationPowerAction: "POWER_OFF_VMS" });
      expect(planned({ shutdownVms: false }).options).to.deep.equal({});
      expect(
        planned({ shutdownVms: false, hostosUpgradeOptionsSpec: { preRemediationPowerAction: "SUSPEND_VMS" } }).options,
      ).to.deep.equal({ preRemediationPowerAction: "SUSPEND_VMS" });
    });
  });
});
