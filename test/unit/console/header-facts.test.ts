import { expect } from "chai";
import { askedOptions } from "../../../src/console/model/asked-options";
import { type Fact, headerFacts, pageTitle } from "../../../src/console/model/header-facts";
import { distanceWords } from "../../../src/domain/duration";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { at, begin, cluster, doneHost, runningHost, task, waitingHost } from "./console-task";

const minutes = 60_000;
const upgrade: Upgrade = {
  id: "u1",
  phase: "SCHEDULED",
  createdAt: at(0),
  createdBy: "jane",
  resourceUpgradeSpecs: [{ resourceId: "cl01" }, { resourceId: "cl02" }],
  versions: [{ product: "HOSTOS", from: ["9.0.0"], to: ["9.0.2"] }],
};
const untouched = task([cluster("PENDING", undefined, "cl01"), cluster("PENDING", undefined, "cl02")]);

/** Times as they are from `now` on, marked where zone and UTC are shown. */
function words(facts: readonly Fact[], now: number): Record<string, string> {
  return Object.fromEntries(
    facts.map(({ term, parts }) => [
      term,
      parts
        .map((one) => (typeof one === "string" ? one : `${one.isExact ? "!" : ""}<${distanceWords(one.at, now)}>`))
        .join(""),
    ]),
  );
}
const factsAt = (told: Partial<Upgrade>, now: number, of = untouched) =>
  words(headerFacts({ ...upgrade, ...told }, of, now), now);

describe("the header of an upgrade", () => {
  it("tells who created it, when it begins exactly, and how far away that is", () => {
    expect(factsAt({ beginsAt: at(42 * 3600) }, begin)).to.deep.equal({
      Created: "<now> by jane",
      Begins: "!<in 1 d 18 h>, in 1 d 18 h",
      Versions: "9.0.0 → 9.0.2",
    });
    expect(factsAt({ phase: "DRAFT_READY" }, begin)["Begins"]).to.equal("when it is committed");
  });

  it("tells work apart from waiting while it runs, and what begins next", () => {
    const told = {
      phase: "RUNNING",
      committedAt: at(60),
      committedBy: "bob",
      startedAt: at(120),
      workSeconds: 600,
      workingSince: at(1800),
      beginsAt: at(7200),
      expectedEnd: at(4200),
    } as const;
    expect(factsAt(told, begin + 60 * minutes)).to.include({
      Committed: "<59 min ago> by bob",
      Began: "<58 min ago>",
      "Next start": "!<in 1 h>, in 1 h",
      Worked: "40 min",
      Waited: "18 min",
      "Expected end": "<in 10 min>, about 10 min left",
    });
  });

  it("expects the end by the hosts that are done where the service does not", () => {
    const running = task([cluster("IN_PROGRESS", [doneHost("a", 0, 60), runningHost("b", 60)])]);
    const facts = factsAt({ phase: "RUNNING", startedAt: at(0) }, begin + 80_000, running);
    expect(facts["Expected end"]).to.equal("<in 40 s>, almost done");
    expect(factsAt({ phase: "PAUSED", startedAt: at(0) }, begin + 80_000, running)).to.not.have.property(
      "Expected end",
    );
  });

  it("tells until when a decision is due, and what the hosts run", () => {
    const hostVersions = [
      { version: "9.0.0", hosts: 1 },
      { version: "9.0.2", hosts: 3 },
    ];
    const told = { phase: "ACTION_REQUIRED", startedAt: at(0), decideBy: at(86_400), hostVersions } as const;
    expect(factsAt(told, begin)).to.include({
      "Decide by": "!<in 1 d>, in 1 d",
      Now: "1 host on 9.0.0, 3 hosts on 9.0.2",
    });
  });

  it("names the page by hosts, clusters and version, with a sign where an operator has to look", () => {
    const hosts = task([
      cluster("IN_PROGRESS", [doneHost("a", 0, 60), waitingHost("b")]),
      cluster("PENDING", undefined, "cl02"),
    ]);
    expect(pageTitle({ ...upgrade, phase: "RUNNING" }, hosts)).to.equal("1/2 cl01 and cl02 to 9.0.2");
    expect(pageTitle({ ...upgrade, phase: "ACTION_REQUIRED" }, hosts)).to.equal("✕ 1/2 cl01 and cl02 to 9.0.2");
    expect(pageTitle(upgrade, untouched)).to.equal("cl01 and cl02 to 9.0.2");
    expect(pageTitle(undefined, untouched)).to.equal(untouched.name);
  });

  it("tells the options that were asked for, once for clusters with the same", () => {
    const options = { hostosUpgradeOptionsSpec: { enableQuickboot: true, disableHac: false } };
    const asked = (second: object) =>
      askedOptions(
        {
          ...upgrade,
          resourceUpgradeSpecs: [
            { resourceId: "cl01", scheduledTimestamp: at(0), ...options },
            { resourceId: "cl02", ...second },
          ],
          mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" }],
        },
        untouched,
      );
    const hosts = [
      "How hosts are upgraded: Quick boot: yes",
      "How hosts are upgraded: Switch off admission control: no",
    ];
    const rest = {
      of: "The whole upgrade",
      options: ["Management servers: How: In place: the server is unavailable during the upgrade"],
    };
    expect(asked(options)).to.deep.equal([{ of: "All clusters", options: hosts }, rest]);
    expect(asked({})).to.deep.equal([{ of: "cl01", options: hosts }, rest]);
  });
});
