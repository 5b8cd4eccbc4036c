import { expect } from "chai";
import { previewOf } from "../../../src/domain/plan/preview";
import { samplePlan } from "../../support/sample-plan";

describe("previewOf", () => {
  const hostsAtOnce = (preRemediationPowerAction: "POWER_OFF_VMS" | "SUSPEND_VMS_TO_MEMORY") => {
    const resources = [{ resourceId: "cl-1", hostosUpgradeOptionsSpec: { preRemediationPowerAction } }];
    const plan = samplePlan({ resources, rollout: { hostsAtOnce: 4 } });
    return previewOf(plan, { hosts: new Map(), errors: new Map() }).products[0]?.resources[0]?.hostsAtOnce;
  };

  it("tells how many hosts are really taken at once, not what the policy allows", () => {
    expect(hostsAtOnce("POWER_OFF_VMS")).to.equal(4);
    expect(hostsAtOnce("SUSPEND_VMS_TO_MEMORY"), "what only the remediation of one host can do").to.equal(1);
  });
});
