import { expect } from "chai";
import { obstacleOf } from "../../../src/console/model/cluster-obstacle";
import { localTimeOf, timestampOf } from "../../../src/console/model/local-time";
import {
  hostWords,
  lastOfSame,
  planFacts,
  resourceGroups,
  warningsOf,
  wavePartWords,
  waveRuns,
} from "../../../src/console/model/plan-words";
import type { ExpectedWave, PreviewedResource, UpgradePreview } from "../../../src/domain/plan/preview";
import type { Cluster } from "../../../src/domain/spec/cluster";
import type { Upgrade } from "../../../src/domain/spec/upgrade";

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
  it("put together what is upgraded alike, with times here and in UTC, hosts at once and attempts", () => {
    const later = {
      scheduledTimestamp: "2026-12-01T09:30:00.000Z",
      maximumAttempts: 4,
      retryDelay: 30,
      hostsAtOnce: 1,
    };
    const [alike, other] = resourceGroups([
      resource,
      { ...resource, ...later, resourceId: "d" },
      { ...resource, resourceId: "e" },
    ]);
    expect(alike?.resources.map(({ resourceId }) => resourceId)).to.deep.equal(["c", "e"]);
    expect(alike?.facts).to.deep.equal(["as soon as it is due", "4 hosts at a time", "one attempt"]);
    expect(other?.facts[0]).to.match(/^not before .*(1 Dec 2026, 09:30:00|2026-12-01 09:30:00) UTC/);
    expect(other?.facts.slice(1)).to.deep.equal(["one host at a time", "up to 4 attempts, 30 s apart"]);
    const policy = { soakSeconds: 90, healthGate: true, toleratedFailures: 1 };
    expect(resourceGroups([{ ...resource, ...policy }])[0]?.facts).to.include.members([
      ...["1 min 30 s between hosts", "the cluster must be healthy before the next host"],
      "goes on after 1 failed host",
    ]);
  });

  it("tell what the plan comes to, and what hosts there are", () => {
    const known = {
      hostCount: 4,
      hostsAtTarget: 1,
      hostVersions: [
        { version: "9.0.0", hosts: 3 },
        { version: "9.0.2", hosts: 1 },
      ],
    };
    const unknown = { ...resource, resourceId: "d", errors: [{ message: "away" }] };
    const shown = preview({ ...resource, ...known }, { ...resource, ...known, resourceId: "e" }, unknown);
    expect(planFacts({ ...shown, waves: [{ product: "HOSTOS", wave: 1, parts: [] }] })).to.deep.equal([
      { term: "Upgrades", words: "3 clusters" },
      { term: "Hosts", words: "6 to upgrade, 2 done already, those of 1 cluster not known" },
      { term: "Now on", words: "9.0.0 (6 hosts), 9.0.2 (2 hosts)" },
      { term: "To", words: "9" },
      { term: "Waves", words: "1" },
    ]);
    expect(hostWords({ ...resource, ...known })).to.equal("3 of 4 hosts, 1 done already, on 9.0.0, 9.0.2");
    expect(planFacts({ ...shown, expectedSeconds: 7500 }).at(-1)).to.deep.equal({
      term: "Expected work",
      words: "2 h 5 min, by earlier upgrades",
    });
    expect(hostWords({ ...resource, hostCount: 2 })).to.equal("2 hosts");
    expect(hostWords({ ...resource, hostCount: 2, expectedSeconds: 3600 })).to.equal("2 hosts, expected to take 1 h");
    expect(hostWords({ ...resource, hostCount: 4, hostsAtTarget: 1, hostsNotInScope: ["esx-4"] })).to.equal(
      "2 of 4 hosts, 1 done already, without esx-4",
    );
    expect([hostWords(unknown), hostWords(resource)]).to.deep.equal(["its hosts are not known", ""]);
  });

  it("fold waves that are alike, however many hosts there are", () => {
    const clusters = Array.from({ length: 64 }, (_, i) => `cl${i}`);
    const wave = (number: number, names: readonly string[]): ExpectedWave => ({
      product: "HOSTOS",
      wave: number,
      parts: names.map((name) => ({ resourceId: name, name, hosts: [`${name}-esx-${number}`] })),
    });
    const waves = Array.from({ length: 100 }, (_, i) => wave(i + 1, i < 90 ? clusters : clusters.slice(0, 2)));
    const runs = waveRuns([{ product: "MGMT", wave: 1, parts: [{ resourceId: "m", name: "vc01" }] }, ...waves]);
    expect(runs.map(({ product, first, waves: { length }, words }) => [product, first, length, words])).to.deep.equal([
      ["MGMT", 1, 1, "vc01"],
      ["HOSTOS", 1, 90, "64 hosts of cl0, cl1, cl2 and 61 more"],
      ["HOSTOS", 91, 10, "2 hosts of cl0 and cl1"],
    ]);
    expect(wavePartWords(waves[99]!)).to.equal("cl0: cl0-esx-100; cl1: cl1-esx-100");
  });

  it("find the last upgrade of just the same resources that has worked", () => {
    const upgrade = (id: string, workSeconds: number, ...ids: string[]): Upgrade => ({
      ...{ id, workSeconds, resources: ids.map((resourceId) => ({ resourceId })) },
    });
    const earlier = [
      upgrade("wider", 9, "c", "d"),
      upgrade("idle", 0, "c"),
      upgrade("same", 7, "c"),
      upgrade("old", 5, "c"),
    ];
    expect(lastOfSame(earlier, preview(resource))?.id).to.equal("same");
    expect(lastOfSame(earlier, preview({ ...resource, resourceId: "x" }))).to.equal(undefined);
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
    expect(obstacleOf({ ...cluster, heldBy: "u", heldByName: "Upgrade fra1-prod to 9.0.2" })).to.equal(
      "Locked until upgrade fra1-prod to 9.0.2 (u) ends.",
    );
    expect(obstacleOf({ ...cluster, platformVersion: "3.1" })).to.contain("3.5");
    expect(obstacleOf({ ...cluster, hostCount: 129 })).to.contain("128");
  });
});
