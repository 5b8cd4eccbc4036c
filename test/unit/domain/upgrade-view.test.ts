import { expect } from "chai";
import { upgradeView } from "../../../src/domain/plan/schedule";
import { hasEnded, Upgrade, type UpgradePhase } from "../../../src/domain/spec/upgrade";
import { lostUpgrade } from "../../../src/domain/task/lost-upgrade";
import { samplePlan } from "../../support/sample-plan";

const at = "2026-11-02T00:00:00.000Z";

describe("upgradeView", () => {
  it("shows the plan of an upgrade that was just accepted", () => {
    const plan = samplePlan();
    expect(upgradeView(plan)).to.deep.equal({
      id: plan.id,
      taskId: plan.id,
      bundleId: plan.bundle.id,
      resourceType: "CLUSTER",
      parallelUpgrade: true,
      resourceUpgradeSpecs: plan.spec.resourceUpgradeSpecs,
      status: "PENDING",
      bundle: plan.bundle,
    });
    expect(upgradeView(samplePlan({ draft: true })).status).to.equal("DRAFT");
  });

  it("has an end time, in epoch milliseconds, exactly in phases that have ended", () => {
    const phases: readonly UpgradePhase[] = [
      "DRAFT_WAITING",
      "SCHEDULED",
      "RUNNING",
      "PAUSED",
      "SUCCESSFUL",
      "FAILED",
      "CANCELLED",
    ];
    for (const phase of phases) {
      const upgrade = upgradeView(samplePlan(), phase, at);
      expect(upgrade.endTime, phase).to.equal(hasEnded(phase) ? Date.parse(at) : undefined);
      expect(Upgrade.is(upgrade), phase).to.equal(true);
    }
  });

  it("shows the first of the network inputs, because the model has room for one", () => {
    const plan = samplePlan();
    const netvirtUpgradeUserInputSpecs = [{ netvirtId: "n1" }, { netvirtId: "n2" }];
    const view = upgradeView({ ...plan, spec: { ...plan.spec, netvirtUpgradeUserInputSpecs } });
    expect(view.netvirtUpgradeUserInputSpec).to.deep.equal({ netvirtId: "n1" });
    expect(upgradeView({ ...plan, spec: { ...plan.spec, netvirtUpgradeUserInputSpecs: [] } })).not.to.have.property(
      "netvirtUpgradeUserInputSpec",
    );
  });

  it("reads as failed where the Workflow ended without a word", () => {
    const running = upgradeView(samplePlan(), "RUNNING", "2026-11-01T00:00:00.000Z");
    expect(lostUpgrade(running, at)).to.deep.equal({
      ...running,
      status: "COMPLETED_WITH_FAILURE",
      phase: "FAILED",
      since: at,
      endTime: Date.parse(at),
    });
  });
});
