import { expect } from "chai";
import { previewOf } from "../../../src/domain/plan/preview";
import { samplePlan } from "../../support/sample-plan";

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

  it("tells how many hosts are really taken at once, not what the policy allows", () => {
    expect(hostsAtOnce("POWER_OFF_VMS")).to.equal(4);
    expect(hostsAtOnce("SUSPEND_VMS_TO_MEMORY"), "what only the remediation of one host can do").to.equal(1);
  });
});
