import { expect } from "chai";
import fc from "fast-check";
import type { SubTask } from "../../../src/domain/spec/task";
import { describePart, spoken, withPause } from "../../../src/domain/task/sub-task";

const part = (description: string): SubTask => ({
  name: "Upgrade cluster fra1",
  type: "CLUSTER_UPGRADE",
  description,
  status: "IN_PROGRESS",
  creationTimestamp: "2026-11-01T00:00:00.000Z",
});

describe("A part that is paused", () => {
  it("says so once, before what it says of itself, and nothing of it is left when it is resumed", () => {
    fc.assert(
      fc.property(fc.string(), (description) => {
        const paused = withPause(withPause(part(description), true), true);
        expect(paused.description).to.match(/^Paused: /);
        expect(spoken(paused)).to.equal(description);
        expect(withPause(paused, false)).to.deep.equal(part(description));
      }),
    );
  });

  it("goes on saying so when it says something else of itself", () => {
    const paused = describePart(withPause(part("Upgrades its hosts."), true), "Waiting for its health.");
    expect(paused.description).to.match(/^Paused: .* Waiting for its health\.$/);
    expect(describePart(part("a"), "b")).to.deep.equal(part("b"));
  });
});
