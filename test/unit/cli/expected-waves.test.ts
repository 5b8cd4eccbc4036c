import { expect } from "chai";
import { expectedWaves } from "../../../src/cli/expected-waves";
import type { Cluster } from "../../../src/domain/cluster";
import type { UpgradePreview } from "../../../src/domain/upgrade-preview";

const resource = (name: string, hostsAtOnce?: number) => ({
  resourceId: name,
  name,
  kind: "IMAGE" as const,
  targetVersion: "9",
  maximumAttempts: 1,
  retryDelay: 0,
  ...(hostsAtOnce !== undefined && { hostsAtOnce }),
});

const cluster = (id: string, versions: readonly string[]): [string, Cluster] => [
  id,
  {
    id,
    name: id,
    domain: { id: "d", name: "d" },
    platformVersion: "5",
    componentManagerId: "m",
    hosts: versions.map((version, n) => ({ id: `${id}${n}`, fqdn: `${id}${n}`, version })),
  },
];

describe("expectedWaves", () => {
  const plan: UpgradePreview = {
    name: "p",
    bundleId: "b",
    draftMode: false,
    products: [
      { product: "NETVIRT", resources: [{ ...resource("nsx"), kind: "NETVIRT" }] },
      {
        product: "HOSTOS",
        resources: [resource("a", 2), resource("b", 1), resource("done", 1), resource("unread", 4)],
      },
    ],
  };

  it("goes product by product, in steps of as many hosts as each cluster may, without those that are done", () => {
    const clusters = new Map([cluster("a", ["8", "8", "8", "9"]), cluster("b", ["8"]), cluster("done", ["9"])]);
    const waves = expectedWaves(plan, clusters).map(({ product, wave, parts }) => [
      product,
      wave,
      parts.map(({ name, hosts }) => [name, ...(hosts ?? [])].join(" ")),
    ]);
    expect(waves).to.deep.equal([
      ["NETVIRT", 1, ["nsx"]],
      ["HOSTOS", 1, ["a a0 a1", "b b0", "unread"]],
      ["HOSTOS", 2, ["a a2"]],
    ]);
  });
});
