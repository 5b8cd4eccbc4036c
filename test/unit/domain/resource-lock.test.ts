import { expect } from "chai";
import fc from "fast-check";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import { inLockOrder } from "../../../src/domain/resource-lock";
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
