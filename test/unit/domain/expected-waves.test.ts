import { expect } from "chai";
import fc from "fast-check";
import { expectedWaves } from "../../../src/domain/plan/preview";
import { groupsOf, type ProductPlan, type RolloutPolicy } from "../../../src/domain/plan/upgrade-plan";
import type { ClusterMember } from "../../../src/domain/spec/cluster";
import type { HostosUpgradeOptionsSpec } from "../../../src/domain/spec/upgrade-spec";
import { samplePlan } from "../../support/sample-plan";

const version = "9.0.2-0.25148076";

const hostsOf = (id: string, versions: readonly string[]): [string, ClusterMember[]] => [
  id,
  versions.map((one, n) => ({ id: `${id}${n}`, fqdn: `${id}${n}`, version: one })),
];

/** A wave in a line: which time, which hosts. */
const told = (products: readonly ProductPlan[], hosts: readonly [string, ClusterMember[]][]) =>
  expectedWaves(products, new Map(hosts)).map(({ product, wave, scheduledTimestamp, parts }) =>
    [
      `${product} ${wave}${scheduledTimestamp === undefined ? "" : ` ${scheduledTimestamp.slice(11, 16)}`}:`,
      ...parts.map(({ resourceId, hosts: names, soakSeconds }) =>
        [resourceId, ...(soakSeconds === undefined ? [] : [`+${soakSeconds}`]), ...(names ?? ["?"])].join(" "),
      ),
    ].join(" | "),
  );

const plan = (
  resources: readonly {
    resourceId: string;
    scheduledTimestamp?: string;
    hostosUpgradeOptionsSpec?: HostosUpgradeOptionsSpec;
  }[],
  rollout: Partial<RolloutPolicy> = {},
) =>
  samplePlan({
    now: Date.parse("2036-01-01T00:00:00.000Z"),
    resources: resources.map((one) => ({ upgradeNow: one.scheduledTimestamp === undefined, ...one })),
    rollout,
  }).products;

describe("expectedWaves", () => {
  it("takes every cluster in steps of as many hosts as it may, without those that are done", () => {
    const products = plan([{ resourceId: "a" }, { resourceId: "done" }, { resourceId: "unread" }], { hostsAtOnce: 2 });
    const hosts = [hostsOf("a", ["8", "8", version, "8"]), hostsOf("done", [version])];
    expect(told(products, hosts)).to.deep.equal(["HOSTOS 1: | a a0 a1 | unread ?", "HOSTOS 2: | a a3"]);
  });

  it("goes host by host where the options take what the policy allows away, as the upgrade does", () => {
    const hostosUpgradeOptionsSpec = { preRemediationPowerAction: "SUSPEND_VMS_TO_MEMORY" } as const;
    const products = plan([{ resourceId: "a", hostosUpgradeOptionsSpec }], { hostsAtOnce: 2 });
    expect(told(products, [hostsOf("a", ["8", "8"])])).to.deep.equal(["HOSTOS 1: | a a0", "HOSTOS 2: | a a1"]);
  });

  it("puts only those together that are due at the same time, the earliest first", () => {
    const at = (hour: number) => `2036-01-06T0${hour}:00:00.000Z`;
    const products = plan([
      { resourceId: "late", scheduledTimestamp: at(4) },
      { resourceId: "early", scheduledTimestamp: at(2) },
      { resourceId: "now" },
      { resourceId: "early2", scheduledTimestamp: at(2) },
    ]);
    const hosts = ["late", "early", "now", "early2"].map((id) => hostsOf(id, ["8"]));
    expect(told(products, hosts)).to.deep.equal([
      "HOSTOS 1: | now now0",
      "HOSTOS 2 02:00: | early early0 | early2 early20",
      "HOSTOS 3 04:00: | late late0",
    ]);
  });

  it("says how long a cluster waits before its next hosts", () => {
    expect(told(plan([{ resourceId: "a" }], { soakSeconds: 300 }), [hostsOf("a", ["8", "8"])])).to.deep.equal([
      "HOSTOS 1: | a a0",
      "HOSTOS 2: | a +300 a1",
    ]);
  });

  it("knows the hosts of a baseline-managed cluster by their release and build", () => {
    const resources = [{ resourceId: "a", upgradeNow: true }];
    const { products } = samplePlan({ resources, kinds: ["BASELINE"] });
    const hosts = hostsOf("a", ["9.0.2 build 25148076", "9.0.0 build 24755229"]);
    expect(told(products, [hosts])).to.deep.equal(["HOSTOS 1: | a a1"]);
  });

  it("takes hosts that run the version of a personality, whose other parts they may lack", () => {
    const [product] = plan([{ resourceId: "a" }]);
    const image = { name: "p", hardwareSupport: [] };
    const withImage = { ...product!, resources: product!.resources.map((one) => ({ ...one, image })) };
    expect(told([withImage], [hostsOf("a", [version])])).to.deep.equal(["HOSTOS 1: | a a0"]);
  });
});

describe("groupsOf", () => {
  it("keeps every host once, in order, in groups that are full but the last", () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.integer({ min: 1, max: 128 }), (hosts, hostsAtOnce) => {
        const groups = groupsOf(hosts, { hostsAtOnce });
        expect(groups.flat()).to.deep.equal(hosts);
        expect(groups.slice(0, -1).every(({ length }) => length === hostsAtOnce)).to.equal(true);
        expect(groups.every(({ length }) => length > 0)).to.equal(true);
      }),
    );
  });
});
