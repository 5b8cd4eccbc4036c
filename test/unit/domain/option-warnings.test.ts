import { expect } from "chai";
import { previewOf } from "../../../src/domain/plan/preview";
import type { ResourceUpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { initialTask } from "../../../src/domain/task/task-progress";
import { samplePlan } from "../../support/sample-plan";

/** Paths of the warnings of a request with such a resource. */
function warned(resource: Omit<ResourceUpgradeSpec, "resourceId">): (string | undefined)[] {
  const plan = samplePlan({ resources: [{ resourceId: "c1", ...resource }] });
  const { warnings = [] } = initialTask(plan);
  expect(previewOf(plan, { hosts: new Map(), errors: new Map() }).warnings ?? []).to.deep.equal(warnings);
  for (const { code, message } of warnings) {
    expect(code).to.equal("OPTIONS_EXCLUDE_EACH_OTHER");
    expect(message).to.match(/\.$/);
  }
  return warnings.map(({ path }) => path?.replace("resourceUpgradeSpecs[0].", ""));
}

describe("Options without effect", () => {
  const inner = "hostosUpgradeOptionsSpec";

  it("are told of a failure action that does not retry", () => {
    const failure = `${inner}.hostosUpgradeFailureAction`;
    const counts = { retryCount: 3, retryDelay: 60 };
    for (const action of [{ action: "FAIL", ...counts } as const, counts])
      expect(warned({ hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: action } })).to.deep.equal([
        `${failure}.retryCount`,
        `${failure}.retryDelay`,
      ]);
    for (const action of [
      { action: "RETRY", ...counts },
      { action: "FAIL", retryCount: 0, retryDelay: 0 },
      { action: "FAIL" },
    ] as const)
      expect(warned({ hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: action } })).to.deep.equal([]);
  });

  it("are told of flags that exist twice and differ", () => {
    expect(warned({ enableQuickboot: true, hostosUpgradeOptionsSpec: { enableQuickboot: false } })).to.deep.equal([
      "enableQuickboot",
    ]);
    expect(warned({ enableQuickboot: true, hostosUpgradeOptionsSpec: { enableQuickboot: true } })).to.deep.equal([]);
  });

  it("are told of a time beside upgradeNow, and of options that exclude each other", () => {
    const scheduledTimestamp = "2036-12-01T09:30:00.000Z";
    expect(warned({ scheduledTimestamp, upgradeNow: true })).to.deep.equal(["scheduledTimestamp"]);
    expect(warned({ hostosUpgradeOptionsSpec: { enableQuickPatch: true, enableQuickboot: true } })).to.deep.equal([
      `${inner}.enableQuickboot`,
    ]);
    expect(warned({ shutdownVms: true, evacuateOfflineVms: true })).to.deep.equal(["evacuateOfflineVms"]);
    expect(warned({ scheduledTimestamp, hostosUpgradeOptionsSpec: { enableQuickPatch: true } })).to.deep.equal([]);
  });
});
