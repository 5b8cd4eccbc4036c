import { expect } from "chai";
import { type ClusterFacts, defaultRolloutPolicy } from "../../../src/domain/plan/facts";
import { planUpgrade } from "../../../src/domain/plan/plan-upgrade";
import { clustersOf, resourcesOf, type UpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import { conflictingLocks } from "../../../src/domain/resource-lock";
import type { ResourceUpgradeSpec, UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { defaultActivityWaits } from "../../../src/domain/time-limits";
import { noInstallations, sampleBundle, sampleCluster, samplePlan } from "../../support/sample-plan";

const identity = {
  id: "the-id",
  now: Date.parse("2026-11-01T12:00:00.000Z"),
  resolutionDays: 7,
  lateStartMinutes: 60,
  lockLeadMinutes: 60,
  waits: defaultActivityWaits,
};

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
      installations: noInstallations,
    },
    identity,
  );
}

/** The plan of the only resource. */
function planned(resource: Omit<ResourceUpgradeSpec, "resourceId">) {
  const [cluster] = clustersOf(plan([resource]));
  if (!cluster) throw new Error("no cluster was planned");
  return cluster;
}

describe("planUpgrade", () => {
  it("is pure: the same input gives the same plan, and the input stays as it was", () => {
    const input = {
      spec: { bundleId: "b", resourceType: "CLUSTER" as const, resourceUpgradeSpecs: [{ resourceId: "c" }] },
      bundle: sampleBundle,
      clusters: [sampleCluster("c")],
      installations: noInstallations,
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
      netvirtInstances: [],
      places: [{ domain: "fra1", clusters: ["c0"] }],
      attempts: { maximumAttempts: 1, retryDelay: 0 },
      options: {},
      rollout: defaultRolloutPolicy,
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

  describe("with servers in the bundle", () => {
    const bundle = {
      ...sampleBundle,
      components: [
        { type: "HOSTOS", toVersion: "9.0.2-0.25148076" },
        { type: "MGMT", toVersion: "9.0.2.100" },
        { type: "NETVIRT", toVersion: "9.0.2.0" },
      ],
    };
    const installations = {
      ...noInstallations,
      netvirt: [
        { resourceId: "n1", name: "nsx-01", componentManagerId: "nsx01", domain: "fra1", clusters: ["c0", "other"] },
        { resourceId: "far", name: "nsx-far", componentManagerId: "nsx02", domain: "ams1", clusters: [] },
      ],
      management: [
        {
          resourceId: "m1",
          name: "vc-01",
          componentManagerId: "vc01",
          clusters: ["c0", "c1", "other"],
          places: [{ domain: "fra1" }],
        },
      ],
    };
    const retry = (retryCount: number) => ({
      hostosUpgradeFailureAction: { action: "RETRY" as const, retryCount, retryDelay: 60 },
    });

    const servers = (spec: Partial<UpgradeSpec> = {}) => planned(spec).products;

    function planned(spec: Partial<UpgradeSpec> = {}) {
      const resourceUpgradeSpecs = [
        { resourceId: "c0", scheduledTimestamp: "2026-12-02T00:00:00.000Z", hostosUpgradeOptionsSpec: retry(5) },
        { resourceId: "c1", scheduledTimestamp: "2026-12-01T00:00:00.000Z", hostosUpgradeOptionsSpec: retry(2) },
      ];
      return planUpgrade(
        {
          spec: { bundleId: bundle.id, resourceType: "CLUSTER", resourceUpgradeSpecs, ...spec },
          bundle,
          clusters: resourceUpgradeSpecs.map(({ resourceId }) => sampleCluster(resourceId)),
          installations,
        },
        identity,
      );
    }

    it("names the upgrade after all that it upgrades", () => {
      expect(planned().name).to.equal("Upgrade NETVIRT nsx-01, then management server vc-01, then 2 clusters to 9.0.2");
    });

    it("plans NETVIRT, then MGMT, then HOSTOS, for the servers of the clusters", () => {
      const ids = servers().map(({ product, resources }) => [product, resources.map(({ resourceId }) => resourceId)]);
      expect(ids).to.deep.equal([
        ["NETVIRT", ["n1"]],
        ["MGMT", ["m1"]],
        ["HOSTOS", ["c0", "c1"]],
      ]);
    });

    it("has each side of a conflict know the other: servers their clusters, clusters their servers", () => {
      const [netvirt, mgmt, hosts] = servers();
      const locks = (product: typeof netvirt) => product?.resources.map(conflictingLocks);
      expect(locks(netvirt)).to.deep.equal([["cluster/c0", "cluster/other"]]);
      expect(locks(mgmt)).to.deep.equal([["cluster/c0", "cluster/c1", "cluster/other"]]);
      expect(locks(hosts)).to.deep.equal([["netvirt/n1"], ["netvirt/n1"]]);
    });

    it("gives a server the strictest attempts and the earliest time of its clusters", () => {
      for (const { resources } of servers().slice(0, 2)) {
        expect(resources[0]).to.deep.include({
          attempts: { maximumAttempts: 3, retryDelay: 60 },
          scheduledTimestamp: "2026-12-01T00:00:00.000Z",
        });
      }
    });

    it("takes every field of the inputs over", () => {
      const [netvirt, mgmt] = servers({
        netvirtUpgradeUserInputSpecs: [
          {
            netvirtId: "n1",
            netvirtHostClusterUpgradeSpecs: [{ hostClusterId: "h", hostParallelUpgrade: true, liveUpgrade: false }],
            netvirtEdgeClusterUpgradeSpecs: [{ edgeClusterId: "e", edgeParallelUpgrade: false }],
            netvirtUpgradeOptions: { isHostClustersUpgradeParallel: true, isEdgeClustersUpgradeParallel: false },
          },
        ],
        mgmtUpgradeUserInputSpecs: [
          {
            startSwitchoverTimestamp: "2026-12-05T00:00:00.000Z",
            temporaryNetwork: {
              networkMode: "STATIC",
              ipAddress: "192.0.2.10",
              subnetMask: "255.255.254.0",
              gateway: "192.0.2.1",
            },
          },
        ],
      }).map(({ resources }) => resources[0]);
      expect(netvirt).to.deep.include({
        targetVersion: "9.0.2.0",
        options: {
          edgeOnly: false,
          hostClusters: [{ id: "h", parallel: true, liveUpgrade: false }],
          edgeClusters: [{ id: "e", parallel: false }],
          hostClustersParallel: true,
          edgeClustersParallel: false,
        },
      });
      expect(mgmt).to.deep.include({
        targetVersion: "9.0.2.100",
        mechanism: "ReducedDowntimeMigration",
        startSwitchoverTimestamp: "2026-12-05T00:00:00.000Z",
        temporaryNetwork: { mode: "STATIC", ipAddress: "192.0.2.10", prefix: 23, gateway: "192.0.2.1" },
        clusters: ["c0", "c1", "other"],
      });
    });

    it("upgrades a server in place, all of NETVIRT, where there is no input", () => {
      const [netvirt, mgmt] = servers().map(({ resources }) => resources[0]);
      expect(netvirt).to.have.deep.property("options", { edgeOnly: false });
      expect(mgmt).to.have.property("mechanism", "InPlace");
      expect(mgmt).to.not.have.property("temporaryNetwork");
    });
  });

  it("brings each cluster to its toVersion where the bundle has several, else to the first", () => {
    const bundle = {
      ...sampleBundle,
      components: ["9.0.2-0.25148076", "9.0.1-0.24957456"].map((toVersion) => ({ type: "HOSTOS", toVersion })),
    };
    const versions = [undefined, "9.0.2", "9.0.1-0.24957456", "9.0.2-0.25148076"];
    const resources = versions.map((toVersion, i) => ({ resourceId: `c${i}`, ...(toVersion && { toVersion }) }));
    const plan = samplePlan({ bundle, resources });
    expect(clustersOf(plan).map(({ targetVersion }) => targetVersion)).to.deep.equal([
      "9.0.2-0.25148076",
      "9.0.2-0.25148076",
      "9.0.1-0.24957456",
      "9.0.2-0.25148076",
    ]);
  });

  it("brings a cluster to its personality with the firmware named, or to its ISO", () => {
    const input = (resource: Omit<ResourceUpgradeSpec, "resourceId">) => ({
      spec: {
        bundleId: "b",
        resourceType: "CLUSTER" as const,
        resourceUpgradeSpecs: [{ resourceId: "c", ...resource }],
      },
      bundle: sampleBundle,
      clusters: [sampleCluster("c")],
      installations: {
        ...noInstallations,
        personalities: [{ id: "p", name: "golden", version: "9.0.1-1", addOn: { name: "vendor", version: "7" } }],
        isos: [{ id: "i", name: "custom", version: "9.0.1-2" }],
      },
    });
    const hardwareSupportSpecs = [{ name: "hsm", packageSpec: { name: "fw", version: "3" } }];
    const personality = planUpgrade(input({ personalitySpec: { personalityId: "p", hardwareSupportSpecs } }), identity);
    expect(clustersOf(personality)[0]).to.deep.include({
      targetVersion: "9.0.1-0.1",
      image: {
        name: "golden",
        addOn: { name: "vendor", version: "7" },
        hardwareSupport: [{ manager: "hsm", package: "fw", version: "3" }],
      },
    });
    expect(clustersOf(planUpgrade(input({ customIsoSpec: { id: "i" } }), identity))[0]).to.deep.include({
      targetVersion: "9.0.1-0.2",
      customIsoId: "i",
    });
  });
});
