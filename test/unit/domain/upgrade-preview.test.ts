import { expect } from "chai";
import { previewOf } from "../../../src/domain/plan/preview";
import type { ClusterWork } from "../../../src/domain/upgrade/cluster-work";
import { samplePlan, type SamplePlanOptions } from "../../support/sample-plan";

describe("previewOf", () => {
  const hostsAtOnce = (preRemediationPowerAction: "POWER_OFF_VMS" | "SUSPEND_VMS_TO_MEMORY") => {
    const resources = [{ resourceId: "cl-1", hostosUpgradeOptionsSpec: { preRemediationPowerAction } }];
    const plan = samplePlan({ resources, rollout: { hostsAtOnce: 4 } });
    return previewOf(plan, { hosts: new Map(), errors: new Map() }).products[0]?.resources[0]?.hostsAtOnce;
  };

  it("tells what hosts there are, and how many of them are left alone", () => {
    const plan = samplePlan({ resources: [{ resourceId: "cl-1" }, { resourceId: "cl-2" }] });
    const versions = ["9.0.0", "9.0.2-0.25148076", "9.0.0", undefined];
    const hosts = versions.map((version, i) => ({ id: `h${i}`, fqdn: `esx-${i}`, ...(version && { version }) }));
    const [known, unknown] =
      previewOf(plan, { hosts: new Map([["cl-1", hosts]]), errors: new Map() }).products[0]?.resources ?? [];
    expect(known).to.include({ hostCount: 4, hostsAtTarget: 1 });
    expect(known?.hostVersions).to.deep.equal([
      { version: "9.0.0", hosts: 2 },
      { version: "9.0.2-0.25148076", hosts: 1 },
    ]);
    expect(unknown).not.to.have.any.keys("hostCount", "hostsAtTarget", "hostVersions");
  });

  describe("expected work", () => {
    const esx = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `h${i}`, fqdn: `esx-${i}` }));
    const work = (resourceId: string, groupSeconds: number): ClusterWork => ({
      ...{ resourceId, kind: "IMAGE", groupSeconds },
    });
    const expected = (
      resources: NonNullable<SamplePlanOptions["resources"]>,
      hosts: Readonly<Record<string, number>>,
      before: readonly ClusterWork[],
    ) => {
      const plan = samplePlan({ resources, rollout: { hostsAtOnce: 2 } });
      const known = new Map(Object.entries(hosts).map(([id, count]) => [id, esx(count)]));
      const shown = previewOf(plan, { hosts: known, errors: new Map(), work: before });
      const each = shown.products[0]?.resources.map(({ expectedSeconds }) => expectedSeconds);
      return { all: shown.expectedSeconds, each };
    };

    it("is the work of the groups of hosts that are left, of clusters in parallel that of the longest", () => {
      const two = [{ resourceId: "cl-1" }, { resourceId: "cl-2" }];
      const before = [work("cl-1", 100), work("cl-2", 300)];
      expect(expected(two, { "cl-1": 5, "cl-2": 2 }, before)).to.deep.equal({ all: 300, each: [300, 300] });
      expect(expected(two, { "cl-1": 8, "cl-2": 2 }, before).all).to.equal(400);
      expect(expected(two, { "cl-1": 8, "cl-2": 0 }, before)).to.deep.equal({ all: 400, each: [400, undefined] });
    });

    it("is that of times which do not overlap together", () => {
      const at = (resourceId: string, hour: string) => ({
        resourceId,
        scheduledTimestamp: `2026-12-05T${hour}:00.000Z`,
      });
      const seconds = (second: string) =>
        expected([at("cl-1", "02:00"), at("cl-2", second)], { "cl-1": 2, "cl-2": 2 }, [work("cl-1", 3600)]).all;
      expect(seconds("04:00")).to.equal(7200);
      expect(seconds("02:30")).to.equal(5400);
    });

    it("is absent where it is not known of one", () => {
      const two = [{ resourceId: "cl-1" }, { resourceId: "cl-2" }];
      expect(expected(two, { "cl-1": 2 }, [work("cl-1", 100)])).to.deep.equal({
        all: undefined,
        each: [100, undefined],
      });
      expect(expected(two, { "cl-1": 2, "cl-2": 2 }, [])).to.deep.equal({
        all: undefined,
        each: [undefined, undefined],
      });
    });
  });

  it("tells how many hosts are really taken at once, not what the policy allows", () => {
    expect(hostsAtOnce("POWER_OFF_VMS")).to.equal(4);
    expect(hostsAtOnce("SUSPEND_VMS_TO_MEMORY"), "what only the remediation of one host can do").to.equal(1);
  });
});
