import { expect } from "chai";
import fc from "fast-check";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import { givesWay, inLockOrder, type LockState } from "../../../src/domain/resource-lock";
import { samplePlan } from "../../support/sample-plan";

describe("the order of locks", () => {
  const [resource] = resourcesOf(samplePlan());
  if (!resource) throw new Error("The plan has no resource");

  it("is that of the ids, whatever that of the request", () =>
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), (ids) => {
        const ordered = inLockOrder(ids.map((resourceId) => ({ ...resource, resourceId }))).map(
          (one) => one.resourceId,
        );
        expect(new Set(ordered)).to.deep.equal(new Set(ids));
        ordered.forEach((id, i) => expect(i === 0 || (ordered[i - 1] ?? "") < id).to.equal(true));
      }),
    ));
});

describe("of two upgrades that wait for each other's locks", () => {
  const states: readonly LockState[] = ["ACQUIRING", "CHECKING", "HELD", "RELEASING"];

  it("one and only one gives way where both have all of their locks", () => {
    const one = givesWay("a", { upgradeId: "b", state: "CHECKING" });
    const other = givesWay("b", { upgradeId: "a", state: "CHECKING" });
    expect([one, other]).to.deep.equal([false, true]);
  });

  it("none gives way to one that may still get nothing, and each to one that begins", () => {
    for (const [own, upgradeId] of [
      ["a", "b"],
      ["b", "a"],
    ] as const)
      expect(states.filter((state) => state !== "CHECKING" && givesWay(own, { upgradeId, state }))).to.deep.equal([
        "HELD",
      ]);
  });
});
