import { expect } from "chai";
import fc from "fast-check";
import { inLockOrder } from "../../../src/domain/resource-lock";
import { samplePlan } from "../../support/sample-plan";
import { resourcesOf } from "../../../src/domain/upgrade-plan";

describe("the order of locks", () => {
  const [resource] = resourcesOf(samplePlan());
  if (!resource) throw new Error("The plan has no resource");

  it("is that of the ids, whatever that of the request, and so many are taken at a time", () =>
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.integer({ min: 1, max: 20 }), (ids, atOnce) => {
        const batches = inLockOrder(
          ids.map((resourceId) => ({ ...resource, resourceId })),
          atOnce,
        ).map((batch) => batch.map(({ resourceId }) => resourceId));
        const ordered = batches.flat();
        expect(new Set(ordered)).to.deep.equal(new Set(ids));
        ordered.forEach((id, i) => expect(i === 0 || (ordered[i - 1] ?? "") < id).to.equal(true));
        batches.slice(0, -1).forEach((batch) => expect(batch).to.have.length(atOnce));
        expect(batches.at(-1)?.length ?? 0).to.be.at.most(atOnce);
      }),
    ));
});
