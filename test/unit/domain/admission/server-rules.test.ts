import { expect } from "chai";
import { mgmtInputsValid, netvirtInputsValid } from "../../../../src/domain/admission/server-rules";
import type {
  MgmtUpgradeUserInputSpec,
  NetvirtUpgradeUserInputSpec,
  ResourceUpgradeSpec,
} from "../../../../src/domain/spec/upgrade-spec";
import { admissionRequest, refusals } from "./admission-request";

const netvirt = (...ids: string[]) =>
  ids.map((id) => ({ resourceId: id, name: id, componentManagerId: id, domain: "fra1", clusters: [] }));
const management = (...ids: string[]) =>
  ids.map((id) => ({
    resourceId: id,
    name: id,
    componentManagerId: "vc01",
    clusters: ["c0"],
    places: [{ domain: "fra1" }],
  }));

describe("netvirtInputsValid", () => {
  const list = "netvirtUpgradeUserInputSpecs";
  function refused(inputs: NetvirtUpgradeUserInputSpec[], instances = netvirt("n1")): string[] {
    return refusals(netvirtInputsValid, { spec: { [list]: inputs }, installations: { netvirt: instances } });
  }

  it("admits an input that names an instance, or need not because there is only one", () => {
    expect(refused([])).to.deep.equal([]);
    expect(refused([{}])).to.deep.equal([]);
    expect(refused([{ netvirtId: "n1" }])).to.deep.equal([]);
    expect(refused([{ netvirtId: "n1" }, { netvirtId: "n2" }], netvirt("n1", "n2"))).to.deep.equal([]);
  });

  it("refuses an instance that does not serve the clusters, none where there are two, and one twice", () => {
    const elsewhere = [...netvirt("n1"), { ...netvirt("far")[0]!, domain: "ams1" }];
    expect(refused([{ netvirtId: "far" }], elsewhere)).to.deep.equal([
      `BAD_REQUEST SERVER_UNKNOWN ${list}[0].netvirtId`,
    ]);
    expect(refused([{}], netvirt("n1", "n2"))).to.deep.equal([`BAD_REQUEST SERVER_UNKNOWN ${list}[0].netvirtId`]);
    expect(refused([{}], [])).to.deep.equal([`BAD_REQUEST SERVER_UNKNOWN ${list}[0].netvirtId`]);
    expect(refused([{ netvirtId: "n1" }, {}])).to.deep.equal([`BAD_REQUEST RESOURCE_DUPLICATE ${list}[1].netvirtId`]);
    const [rejection] = netvirtInputsValid(
      admissionRequest({ spec: { [list]: [{}] }, installations: { netvirt: netvirt("n1", "n2") } }),
    );
    expect(rejection?.message).to.contain("n1, n2");
  });

  it("wants each host cluster and edge cluster named, and once", () => {
    const input = {
      netvirtHostClusterUpgradeSpecs: [{ hostClusterId: "h" }, { liveUpgrade: true }, { hostClusterId: "h" }],
      netvirtEdgeClusterUpgradeSpecs: [{ edgeClusterId: "e" }, { edgeClusterId: "e" }],
    };
    expect(refused([input])).to.deep.equal([
      `BAD_REQUEST MISSING_FIELD ${list}[0].netvirtHostClusterUpgradeSpecs[1].hostClusterId`,
      `BAD_REQUEST RESOURCE_DUPLICATE ${list}[0].netvirtHostClusterUpgradeSpecs[2].hostClusterId`,
      `BAD_REQUEST RESOURCE_DUPLICATE ${list}[0].netvirtEdgeClusterUpgradeSpecs[1].edgeClusterId`,
    ]);
  });

  it("refuses what is about hosts in an edge only upgrade", () => {
    const input = {
      netvirtHostClusterUpgradeSpecs: [{ hostClusterId: "h" }],
      netvirtUpgradeOptions: { isEdgeOnlyUpgrade: true, isHostClustersUpgradeParallel: true },
    };
    expect(refused([input])).to.deep.equal([
      `BAD_REQUEST FIELD_NOT_FOR_EDGE_ONLY ${list}[0].netvirtHostClusterUpgradeSpecs`,
      `BAD_REQUEST FIELD_NOT_FOR_EDGE_ONLY ${list}[0].netvirtUpgradeOptions.isHostClustersUpgradeParallel`,
    ]);
    expect(
      refused([{ netvirtUpgradeOptions: { isEdgeOnlyUpgrade: true, isEdgeClustersUpgradeParallel: true } }]),
    ).to.deep.equal([]);
  });

  it("refuses an edge only upgrade of no edge cluster, and takes an empty list otherwise", () => {
    const input = { netvirtEdgeClusterUpgradeSpecs: [] };
    expect(refused([{ ...input, netvirtUpgradeOptions: { isEdgeOnlyUpgrade: true } }])).to.deep.equal([
      `BAD_REQUEST INVALID_FIELD ${list}[0].netvirtEdgeClusterUpgradeSpecs`,
    ]);
    expect(refused([{ ...input, netvirtHostClusterUpgradeSpecs: [] }])).to.deep.equal([]);
  });
});

describe("mgmtInputsValid", () => {
  const list = "mgmtUpgradeUserInputSpecs";
  const migration = "ReducedDowntimeMigration" as const;
  function refused(...inputs: MgmtUpgradeUserInputSpec[]): string[] {
    return refusals(mgmtInputsValid, { spec: { [list]: inputs }, installations: { management: management("m1") } });
  }
  const address = { ipAddress: "192.0.2.10", subnetMask: "255.255.255.0", gateway: "192.0.2.1" };

  it("admits both mechanisms with what belongs to them", () => {
    const startSwitchoverTimestamp = "2026-12-01T00:00:00.000Z";
    expect(refused({})).to.deep.equal([]);
    expect(refused({ resourceId: "m1", upgradeMechanism: "InPlace" })).to.deep.equal([]);
    expect(
      refused({
        upgradeMechanism: migration,
        startSwitchoverTimestamp,
        temporaryNetwork: { networkMode: "AUTOMATIC" },
      }),
    ).to.deep.equal([]);
    expect(refused({ temporaryNetwork: { networkMode: "STATIC", ...address } })).to.deep.equal([]);
  });

  it("refuses a server that does not serve the clusters, and one twice", () => {
    expect(refused({ resourceId: "far" })).to.deep.equal([`BAD_REQUEST SERVER_UNKNOWN ${list}[0].resourceId`]);
    expect(refused({ resourceId: "m1" }, {})).to.deep.equal([`BAD_REQUEST RESOURCE_DUPLICATE ${list}[1].resourceId`]);
  });

  it("refuses a switchover and a second network in place", () => {
    const input = {
      upgradeMechanism: "InPlace" as const,
      startSwitchoverTimestamp: "2026-12-01T00:00:00.000Z",
      temporaryNetwork: { networkMode: "AUTOMATIC" as const },
    };
    expect(refused(input)).to.deep.equal([
      `BAD_REQUEST FIELD_NOT_FOR_MECHANISM ${list}[0].startSwitchoverTimestamp`,
      `BAD_REQUEST FIELD_NOT_FOR_MECHANISM ${list}[0].temporaryNetwork`,
    ]);
  });

  it("refuses a switchover in the past", () => {
    expect(refused({ startSwitchoverTimestamp: "2026-10-01T00:00:00.000Z" })).to.deep.equal([
      `BAD_REQUEST SCHEDULE_IN_THE_PAST ${list}[0].startSwitchoverTimestamp`,
    ]);
  });

  it("refuses a switchover before the first cluster may begin", () => {
    const refusedFor = (startSwitchoverTimestamp: string, ...resources: ResourceUpgradeSpec[]) =>
      refusals(mgmtInputsValid, {
        spec: { [list]: [{ startSwitchoverTimestamp }] },
        installations: { management: management("m1") },
        resources,
      });
    const [first, second] = ["2026-12-02T00:00:00.000Z", "2026-12-03T00:00:00.000Z"];
    const later = [
      { resourceId: "c0", scheduledTimestamp: second },
      { resourceId: "c1", scheduledTimestamp: first },
    ];
    expect(refusedFor("2026-12-01T23:59:59.000Z", ...later)).to.deep.equal([
      `BAD_REQUEST SWITCHOVER_BEFORE_UPGRADE ${list}[0].startSwitchoverTimestamp`,
    ]);
    expect(refusedFor(first, ...later)).to.deep.equal([]);
    expect(refusedFor("2026-12-01T00:00:00.000Z", ...later, { resourceId: "c2" })).to.deep.equal([]);
    const now = { resourceId: "c2", scheduledTimestamp: second, upgradeNow: true };
    expect(refusedFor("2026-12-01T00:00:00.000Z", ...later, now)).to.deep.equal([]);
  });

  it("wants all of a static network, each field a right one, and the gateway within reach", () => {
    const network = (temporaryNetwork: MgmtUpgradeUserInputSpec["temporaryNetwork"] = {}) =>
      refused({ temporaryNetwork }).map((line) => line.replace(`${list}[0].temporaryNetwork.`, ""));
    expect(network({})).to.deep.equal(["BAD_REQUEST MISSING_FIELD networkMode"]);
    expect(network({ networkMode: "STATIC" })).to.deep.equal([
      "BAD_REQUEST MISSING_FIELD ipAddress",
      "BAD_REQUEST MISSING_FIELD subnetMask",
      "BAD_REQUEST MISSING_FIELD gateway",
    ]);
    expect(
      network({ networkMode: "STATIC", ipAddress: "192.0.2.999", subnetMask: "255.0.255.0", gateway: "x" }),
    ).to.deep.equal([
      "BAD_REQUEST INVALID_FIELD ipAddress",
      "BAD_REQUEST INVALID_FIELD subnetMask",
      "BAD_REQUEST INVALID_FIELD gateway",
    ]);
    for (const [field, value] of [
      ["ipAddress", "192.0.2.0"],
      ["ipAddress", "192.0.2.255"],
      ["ipAddress", "127.0.0.1"],
      ["ipAddress", "224.0.0.5"],
      ["gateway", "192.0.2.255"],
      ["subnetMask", "255.255.255.255"],
      ["subnetMask", "0.0.0.0"],
    ] as const) {
      expect(network({ networkMode: "STATIC", ...address, [field]: value }), value).to.deep.equal([
        `BAD_REQUEST INVALID_FIELD ${field}`,
      ]);
    }
    for (const gateway of ["198.51.100.1", address.ipAddress]) {
      expect(network({ networkMode: "STATIC", ...address, gateway })).to.deep.equal([
        "BAD_REQUEST INVALID_FIELD gateway",
      ]);
    }
  });

  it("refuses addresses of an automatic network", () => {
    expect(refused({ temporaryNetwork: { networkMode: "AUTOMATIC", ipAddress: "192.0.2.10" } })).to.deep.equal([
      `BAD_REQUEST FIELD_NOT_FOR_NETWORK_MODE ${list}[0].temporaryNetwork.ipAddress`,
    ]);
  });
});
