import { expect } from "chai";
import { bulkOperationsOf } from "../../../src/console/model/bulk-operations";
import type { PublishedPhase, Upgrade } from "../../../src/domain/spec/upgrade";

const hosts = { total: 8, done: 2, running: 1, failed: 0, left: 5 };
const upgrade = (id: string, phase: PublishedPhase): Upgrade => ({ id, name: `Upgrade ${id}`, phase, hosts });
const chosen = [
  upgrade("a", "DRAFT_READY"),
  upgrade("b", "SCHEDULED"),
  upgrade("c", "RUNNING"),
  upgrade("d", "SUCCEEDED"),
];

describe("what can be done with several upgrades at once", () => {
  it("is offered with those that are in a phase for it, and says what becomes of the others", () => {
    const [commit, reschedule, cancel, ...more] = bulkOperationsOf(chosen);
    expect(more).to.deep.equal([]);
    expect(commit?.upgrades.map(({ id }) => id)).to.deep.equal(["a"]);
    expect(commit?.consequences).to.deep.equal([
      "Upgrade a.",
      "Each starts at its own time, or immediately, unless you give a time.",
      "6 hosts to upgrade in all.",
      "3 chosen upgrades do not allow this now and stay unchanged.",
    ]);
    expect(reschedule?.upgrades.map(({ id }) => id)).to.deep.equal(["b"]);
    expect(cancel?.upgrades.map(({ id }) => id)).to.deep.equal(["a", "b", "c"]);
    expect(cancel?.isGrave).to.equal(true);
    expect(cancel?.consequences).to.include("3 hosts being upgraded finish safely first.");
  });

  it("is nothing where all have ended or are being cancelled", () => {
    expect(bulkOperationsOf([upgrade("x", "CANCELLING"), upgrade("y", "RESOLVED")])).to.deep.equal([]);
  });

  it("is asked of each by the request that one upgrade is asked by", () => {
    const [commit, reschedule, cancel] = bulkOperationsOf(chosen);
    expect(commit?.requestFor("a", undefined)).to.deep.equal({ method: "PATCH", path: "/v1/upgrades/a", body: {} });
    expect(reschedule?.requestFor("b", "2026-12-01T00:00:00Z").body).to.deep.equal({
      scheduledTimestamp: "2026-12-01T00:00:00Z",
    });
    expect(cancel?.requestFor("c", undefined)).to.deep.equal({ method: "DELETE", path: "/v1/tasks/c" });
  });
});
