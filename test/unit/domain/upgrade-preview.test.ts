import { expect } from "chai";
import { previewOf } from "../../../src/domain/upgrade-preview";
import { samplePlan } from "../../support/sample-plan";

describe("previewOf", () => {
  const hostsAtOnce = (disableHac: boolean) => {
    const resources = [{ resourceId: "cl-1", hostosUpgradeOptionsSpec: { disableHac } }];
    return previewOf(samplePlan({ resources, rollout: { hostsAtOnce: 4 } })).products[0]?.resources[0]?.hostsAtOnce;
  };

  it("tells how many hosts are really taken at once, not what the policy allows", () => {
    expect(hostsAtOnce(false)).to.equal(4);
    expect(hostsAtOnce(true), "options that need each host to be emptied by the component manager").to.equal(1);
  });
});
