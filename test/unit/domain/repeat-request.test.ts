import { expect } from "chai";
import { repeatRequest } from "../../../src/domain/plan/repeat-request";
import type { UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";

describe("repeatRequest", () => {
  const earlier: UpgradeSpec = {
    bundleId: "b",
    resourceType: "CLUSTER",
    draftMode: true,
    resourceUpgradeSpecs: [
      {
        resourceId: "c1",
        scheduledTimestamp: "2026-01-01T00:00:00.000Z",
        hostosUpgradeOptionsSpec: { disableHac: true },
      },
      { resourceId: "c2", upgradeNow: true },
    ],
    mgmtUpgradeUserInputSpecs: [
      {
        resourceId: "m1",
        upgradeMechanism: "ReducedDowntimeMigration",
        startSwitchoverTimestamp: "2026-01-02T00:00:00.000Z",
      },
    ],
  };

  it("asks for the same again, without the times of then", () => {
    expect(repeatRequest(earlier, { isDraft: true, begin: { upgradeNow: true } })).to.deep.equal({
      ...earlier,
      resourceUpgradeSpecs: [
        { resourceId: "c1", upgradeNow: true, hostosUpgradeOptionsSpec: { disableHac: true } },
        { resourceId: "c2", upgradeNow: true },
      ],
      mgmtUpgradeUserInputSpecs: [{ resourceId: "m1", upgradeMechanism: "ReducedDowntimeMigration" }],
    });
  });

  it("is another change, with the same labels and a reason of its own", () => {
    const changed = { ...earlier, reason: "Security fixes", changeId: "CHG1", labels: { team: "blue" } };
    expect(repeatRequest(changed, { isDraft: true, begin: { upgradeNow: true } })).to.deep.equal({
      ...repeatRequest(earlier, { isDraft: true, begin: { upgradeNow: true } }),
      labels: { team: "blue" },
    });
  });

  it("begins all of it at the time that is given, and is no draft because the earlier one was", () => {
    const begin = { scheduledTimestamp: "2036-01-01T00:00:00.000Z" };
    const repeated = repeatRequest(earlier, { isDraft: false, begin });
    expect(repeated).not.to.have.property("draftMode");
    expect(repeated.resourceUpgradeSpecs.map((one) => one.scheduledTimestamp)).to.deep.equal(
      Array(2).fill(begin.scheduledTimestamp),
    );
    expect(repeated.resourceUpgradeSpecs[1]).not.to.have.property("upgradeNow");
  });
});
