import { expect } from "chai";
import { obstacleOf } from "../../../src/console/model/cluster-obstacle";
import { localTimeOf, timestampOf } from "../../../src/console/model/local-time";
import { factsOf, warningsOf } from "../../../src/console/model/plan-words";
import type { PreviewedResource, UpgradePreview } from "../../../src/domain/plan/preview";
import type { Cluster } from "../../../src/domain/spec/cluster";

const cluster: Cluster = {
  id: "c",
  name: "cl01",
  domain: { id: "d", name: "d" },
  platformVersion: "5.2",
  componentManagerId: "cm",
  hostCount: 10,
};
const resource: PreviewedResource = {
  resourceId: "c",
  name: "cl01",
  kind: "IMAGE",
  targetVersion: "9",
  maximumAttempts: 1,
  retryDelay: 0,
  hostsAtOnce: 4,
};
const preview = (...resources: PreviewedResource[]): UpgradePreview => ({
  name: "n",
  bundleId: "b",
  draftMode: true,
  products: [{ product: "HOSTOS", resources }],
  waves: [],
});
const warnings = (shown: UpgradePreview, leftOut = new Map<string, string[]>()) =>
  warningsOf(shown, leftOut).join("\n");

describe("the words of a plan", () => {
  it("tell times here and in UTC, waves and attempts", () => {
    expect(factsOf(resource, cluster)).to.deep.equal([
      "as soon as it is due",
      "10 hosts, 4 hosts at a time: 3 waves",
      "one attempt",
    ]);
    const later = { ...resource, scheduledTimestamp: "2026-12-01T09:30:00.000Z", maximumAttempts: 4, retryDelay: 30 };
    const facts = factsOf({ ...later, hostsAtOnce: 1 }, undefined);
    expect(facts[0]).to.match(/^not before .*(1 Dec 2026, 09:30:00|2026-12-01 09:30:00) UTC/);
    expect(facts.slice(1)).to.deep.equal(["one host at a time", "up to 4 attempts, 30 s apart"]);
  });

  it("warn of what is hard to undo, and name whom it concerns", () => {
    expect(warnings(preview({ ...resource, hostsAtOnce: 1 }))).to.equal("");
    const hostosUpgradeOptionsSpec = { preRemediationPowerAction: "POWER_OFF_VMS", disableHac: true } as const;
    expect(warnings({ ...preview({ ...resource, hostosUpgradeOptionsSpec }), draftMode: false }))
      .to.contain("not a draft")
      .and.contain("powered off: cl01")
      .and.contain("Admission control is off")
      .and.contain("Several hosts");
    expect(warnings(preview(resource), new Map([["c", ["personalitySpec"]]]))).to.contain(
      "Not sent for cl01, because its kind of cluster does not support it: personalitySpec",
    );
    const server = { ...resource, kind: "MGMT", name: "vc01", upgradeMechanism: "InPlace" } as const;
    expect(warnings(preview(server))).to.contain("in-place upgrade: vc01");
  });

  it("make of a local time the same moment again", () => {
    for (const timestamp of ["2026-12-01T09:30:00.000Z", "2026-07-01T00:00:59.123Z"])
      expect(timestampOf(localTimeOf(timestamp))).to.equal(timestamp);
    expect([localTimeOf(""), timestampOf(""), timestampOf("2026-12-01T")]).to.deep.equal(["", "", ""]);
  });

  it("say why a cluster cannot be chosen", () => {
    expect(obstacleOf(cluster)).to.equal(undefined);
    expect(obstacleOf({ ...cluster, heldBy: "u" })).to.contain("Locked");
    expect(obstacleOf({ ...cluster, platformVersion: "3.1" })).to.contain("3.5");
    expect(obstacleOf({ ...cluster, hostCount: 129 })).to.contain("128");
  });
});
