import { expect } from "chai";
import { platformVersion } from "../../../../src/domain/admission/bundle-rules";
import {
  clusterSize,
  clustersKnown,
  fieldsFitClusterKind,
  maximumHosts,
} from "../../../../src/domain/admission/cluster-rules";
import { resourcesFree } from "../../../../src/domain/admission/lock-rules";
import type { ClusterLookup } from "../../../../src/domain/plan/facts";
import { sampleBundle } from "../../../support/sample-plan";
import { admissionRequest, refusals } from "./admission-request";

const first = "resourceUpgradeSpecs[0]";
const second = "resourceUpgradeSpecs[1]";
const unknown: ClusterLookup = { _tag: "Unknown" };
const unreachable: ClusterLookup = {
  _tag: "Unread",
  name: "fra1-prod",
  componentManagerId: "vc01",
  silence: { code: "COMPONENT_MANAGER_UNREACHABLE", reason: "connection refused" },
};

describe("clustersKnown", () => {
  it("admits clusters of the inventory", () => {
    expect(refusals(clustersKnown, { resources: [{}, {}] })).to.deep.equal([]);
  });

  it("tells a wrong password and a missing privilege from a component manager that is away", () => {
    for (const code of ["AUTHENTICATION", "AUTHORIZATION"] as const) {
      const lookup = {
        _tag: "Unread",
        name: "fra1-prod",
        componentManagerId: "vc01",
        silence: { code, reason: "vc01 refuses" },
      } as const;
      expect(refusals(clustersKnown, { resources: [{}], lookups: { c0: lookup } })).to.deep.equal([
        `FAILED_DEPENDENCY ${code} ${first}.resourceId`,
      ]);
    }
  });

  it("tells an unknown cluster from one whose component manager is away", () => {
    const changes = { resources: [{}, {}, {}], lookups: { c0: unknown, c1: unreachable } };
    expect(refusals(clustersKnown, changes)).to.deep.equal([
      `BAD_REQUEST RESOURCE_UNKNOWN ${first}.resourceId`,
      `FAILED_DEPENDENCY COMPONENT_MANAGER_UNREACHABLE ${second}.resourceId`,
    ]);
    expect(clustersKnown(admissionRequest(changes))[1]?.message)
      .to.contain("vc01")
      .and.contain("connection refused");
  });

  it("takes a cluster that nobody has looked up for unknown", () => {
    expect(clustersKnown({ ...admissionRequest(), clusters: new Map() }).map(({ code }) => code)).to.deep.equal([
      "RESOURCE_UNKNOWN",
    ]);
  });

  it("says nothing of resources that are no clusters", () => {
    expect(refusals(clustersKnown, { spec: { resourceType: "DOMAIN" }, lookups: { c0: unknown } })).to.deep.equal([]);
  });
});

describe("clusterSize", () => {
  it("admits up to 128 hosts", () => {
    expect(maximumHosts).to.equal(128);
    expect(refusals(clusterSize, { cluster: { hostCount: 0 } })).to.deep.equal([]);
    expect(refusals(clusterSize, { cluster: { hostCount: 128 } })).to.deep.equal([]);
    expect(refusals(clusterSize, { cluster: { hostCount: 129 } })).to.deep.equal([
      `NOT_ALLOWED CLUSTER_TOO_LARGE ${first}.resourceId`,
    ]);
  });
});

describe("resourcesFree", () => {
  it("refuses only what another upgrade holds, and names that one", () => {
    const changes = { resources: [{}, {}], lockHolders: { "cluster/c1": "the-other-upgrade" } };
    expect(refusals(resourcesFree, changes)).to.deep.equal([`NOT_ALLOWED RESOURCE_LOCKED ${second}.resourceId`]);
    expect(resourcesFree(admissionRequest(changes))[0]?.message).to.equal(
      "Cluster c1 is held by upgrade the-other-upgrade.",
    );
    const holder = { upgradeId: "u-1", upgradeName: "Upgrade prod to 9.0.2", resourceName: "prod" };
    expect(
      resourcesFree(admissionRequest({ ...changes, lockHolders: { "cluster/c1": holder } }))[0]?.message,
      "names, then ids",
    ).to.equal("Cluster prod (c1) is held by upgrade prod to 9.0.2 (u-1).");
  });

  it("refuses clusters whose management server another upgrade holds", () => {
    const changes = { cluster: { managementServer: "vc" }, lockHolders: { "mgmt/vc": "the-other-upgrade" } };
    expect(refusals(resourcesFree, changes)).to.deep.equal([`NOT_ALLOWED RESOURCE_LOCKED ${first}.resourceId`]);
  });

  it("refuses clusters whose NETVIRT instance another upgrade holds, each of them", () => {
    const netvirt = [
      { resourceId: "nsx", name: "nsx-name", componentManagerId: "nsx01", domain: "fra1", clusters: [] },
    ];
    const changes = { installations: { netvirt }, resources: [{}, {}], lockHolders: { "netvirt/nsx": "n" } };
    expect(refusals(resourcesFree, changes)).to.deep.equal(
      [first, second].map((path) => `NOT_ALLOWED RESOURCE_LOCKED ${path}.resourceId`),
    );
    const elsewhere = { ...changes, cluster: { domain: "ams1" } };
    expect(refusals(resourcesFree, elsewhere)).to.deep.equal([]);
  });

  it("refuses servers of which a cluster is held, where the bundle holds them", () => {
    const installations = {
      netvirt: [
        { resourceId: "nsx", name: "n", componentManagerId: "nsx01", domain: "fra1", clusters: ["c0", "near", "both"] },
      ],
      management: [
        {
          resourceId: "vc",
          name: "v",
          componentManagerId: "vc01",
          clusters: ["c0", "far", "both"],
          places: [{ domain: "fra1" }],
        },
      ],
    };
    const lockHolders = { "mgmt/vc": "m", "cluster/far": "f", "cluster/near": "e", "cluster/both": "b" };
    const of = (...types: string[]) => ({
      ...sampleBundle,
      components: types.map((type) => ({ type, toVersion: "9.0.2" })),
    });
    const codes = (...types: string[]) =>
      resourcesFree(admissionRequest({ installations, lockHolders, bundle: of(...types) })).map(({ path, message }) => [
        path,
        /upgrade (\w)\./.exec(message)?.[1],
      ]);
    expect(codes("HOSTOS")).to.deep.equal([]);
    const held = (...holders: string[]) => holders.map((holder) => ["bundleId", holder]);
    expect(codes("NETVIRT", "HOSTOS")).to.deep.equal(held("e", "b"));
    expect(codes("MGMT")).to.deep.equal(held("m", "f", "b"));
    expect(codes("NETVIRT", "MGMT")).to.deep.equal(held("e", "b", "m", "f"));
  });
});

describe("platformVersion", () => {
  it("admits 3.5 and above, by number and not by letter", () => {
    for (const version of ["3.5", "3.5.0", "3.5.0-1", "3.10", "4", "5.2.1"]) {
      expect(refusals(platformVersion, { cluster: { platformVersion: version } }), version).to.deep.equal([]);
    }
    for (const version of ["3.4.9", "3.4", "3", "2.10", "0", "unknown"]) {
      expect(refusals(platformVersion, { cluster: { platformVersion: version } }), version).to.deep.equal([
        `NOT_ALLOWED PLATFORM_TOO_OLD ${first}.resourceId`,
      ]);
    }
  });
});

describe("fieldsFitClusterKind", () => {
  const personality = { personalitySpec: { personalityId: "p" } };
  const iso = { customIsoSpec: { id: "i" } };
  const imageOptions = { hostosUpgradeOptionsSpec: { enforceHclValidation: true, enableQuickPatch: true } };
  const offOptions = { hostosUpgradeOptionsSpec: { enforceHclValidation: false, enableQuickPatch: false } };
  const sharedOptions = {
    shutdownVms: true,
    evacuateOfflineVms: true,
    hostosUpgradeOptionsSpec: { disableHac: true, disableDpm: true, enableQuickboot: false },
  };

  it("gives an image-managed cluster no ISO", () => {
    const resources = [{ ...personality, ...imageOptions }, iso];
    expect(refusals(fieldsFitClusterKind, { resources })).to.deep.equal([
      `BAD_REQUEST FIELD_NOT_FOR_CLUSTER_KIND ${second}.customIsoSpec`,
    ]);
    expect(fieldsFitClusterKind(admissionRequest({ resources }))[0]?.message).to.contain("managed by an image");
  });

  it("gives a baseline-managed cluster no personality and no image options", () => {
    const cluster = { kind: "BASELINE" } as const;
    const allowed = [{ ...iso, ...offOptions }, sharedOptions];
    expect(refusals(fieldsFitClusterKind, { cluster, resources: allowed })).to.deep.equal([]);
    const [refused] = fieldsFitClusterKind(admissionRequest({ cluster, resources: [personality] }));
    expect(refused?.message).to.contain("managed by baselines");
    expect(refusals(fieldsFitClusterKind, { cluster, resources: [{ ...personality, ...imageOptions }] })).to.deep.equal(
      [
        `BAD_REQUEST FIELD_NOT_FOR_CLUSTER_KIND ${first}.personalitySpec`,
        `BAD_REQUEST FIELD_NOT_FOR_CLUSTER_KIND ${first}.hostosUpgradeOptionsSpec.enforceHclValidation`,
        `BAD_REQUEST FIELD_NOT_FOR_CLUSTER_KIND ${first}.hostosUpgradeOptionsSpec.enableQuickPatch`,
      ],
    );
  });

  it("refuses a baseline-managed cluster what its interface cannot do, wherever that is said", () => {
    const cluster = { kind: "BASELINE" } as const;
    const paths = (resource: object, of: object = cluster) =>
      refusals(fieldsFitClusterKind, { cluster: of, resources: [resource] });
    const refusal = (field: string) => [`BAD_REQUEST FIELD_NOT_FOR_CLUSTER_KIND ${first}.${field}`];
    const inner = (options: object) => ({ hostosUpgradeOptionsSpec: options });
    const toMemory = inner({ preRemediationPowerAction: "SUSPEND_VMS_TO_MEMORY" });
    expect(paths({ enableQuickboot: true })).to.deep.equal(refusal("enableQuickboot"));
    expect(paths(inner({ enableQuickboot: true }))).to.deep.equal(refusal("hostosUpgradeOptionsSpec.enableQuickboot"));
    expect(paths(toMemory)).to.deep.equal(refusal("hostosUpgradeOptionsSpec.preRemediationPowerAction"));
    // The inner flag wins, so that nothing is asked for.
    expect(paths({ enableQuickboot: true, ...inner({ enableQuickboot: false }) })).to.deep.equal([]);
    for (const preRemediationPowerAction of ["POWER_OFF_VMS", "SUSPEND_VMS", "DO_NOT_CHANGE_VMS_POWER_STATE"])
      expect(paths(inner({ preRemediationPowerAction }))).to.deep.equal([]);
    for (const resource of [{ enableQuickboot: true }, inner({ enableQuickboot: true }), toMemory])
      expect(paths(resource, { kind: "IMAGE" })).to.deep.equal([]);
    const [refused] = fieldsFitClusterKind(admissionRequest({ cluster, resources: [toMemory] }));
    expect(refused?.message).to.match(
      /^preRemediationPowerAction SUSPEND_VMS_TO_MEMORY does not apply to cluster .*by/,
    );
  });

  it("says nothing of clusters that are not known", () => {
    expect(refusals(fieldsFitClusterKind, { resources: [iso], lookups: { c0: unknown } })).to.deep.equal([]);
  });
});
