import { expect } from "chai";
import { PublishedPhase, type UpgradePhase } from "../../../src/domain/spec/upgrade";
import {
  asCancelling,
  phaseEnd,
  type PhaseState,
  phaseWait,
  publishedPhase,
} from "../../../src/domain/upgrade/published-phase";
import { initialUpgrade } from "../../../src/domain/upgrade/upgrade-facts";
import { samplePlan } from "../../support/sample-plan";

const at = Date.parse("2026-12-05T02:00:00.000Z");
const missedStart = { code: "COMMIT", message: "Berlin did not start." } as const;

const state = (phase: UpgradePhase, more: Partial<PhaseState> = {}): PhaseState => ({
  phase,
  cancelling: false,
  failedPrechecks: [],
  missedStart: undefined,
  inWork: false,
  hostsInWork: 0,
  nextTime: undefined,
  closed: undefined,
  lockHeld: undefined,
  decision: "OPEN",
  decideBy: undefined,
  lastError: undefined,
  ...more,
});

/** Each phase that clients read, with how it comes about, what is waited for and whether its end is known. */
const cases: readonly [PhaseState, PublishedPhase, string | undefined, boolean][] = [
  [state("ACCEPTED"), "WAITING", "LOCK", false],
  [state("DRAFT_ACCEPTED"), "DRAFT_PRECHECKS", undefined, false],
  [state("DRAFT_PRECHECKS", { inWork: true }), "DRAFT_PRECHECKS", undefined, false],
  [state("DRAFT_WAITING"), "DRAFT_READY", "COMMIT", false],
  [state("DRAFT_WAITING", { failedPrechecks: ["esx-1 is not connected."] }), "PRECHECKS_FAILED", "PRECHECKS", false],
  [state("SCHEDULED", { nextTime: at }), "SCHEDULED", "TIME", true],
  [state("SCHEDULED", { nextTime: at, inWork: true }), "SCHEDULED", "TIME", true],
  [state("SCHEDULED", { nextTime: at, lockHeld: "Cluster Berlin is held." }), "SCHEDULED", "LOCK", true],
  [state("START_MISSED", { missedStart }), "ACTION_REQUIRED", "COMMIT", false],
  [state("RUNNING", { inWork: true }), "RUNNING", undefined, false],
  [state("RUNNING"), "RUNNING", undefined, false],
  [state("RUNNING", { nextTime: at }), "WAITING", "TIME", true],
  [state("RUNNING", { missedStart, inWork: true }), "RUNNING", "COMMIT", false],
  [state("RUNNING", { missedStart }), "ACTION_REQUIRED", "COMMIT", false],
  [state("PAUSED", { inWork: true, hostsInWork: 2 }), "PAUSING", "WORK_IN_PROGRESS", false],
  [state("PAUSED"), "PAUSED", "RESUME", false],
  [state("RUNNING", { cancelling: true, inWork: true }), "CANCELLING", "WORK_IN_PROGRESS", false],
  [state("PAUSED", { cancelling: true }), "CANCELLING", "WORK_IN_PROGRESS", false],
  [state("SCHEDULED", { cancelling: true, nextTime: at }), "CANCELLING", "WORK_IN_PROGRESS", false],
  [state("SUCCESSFUL"), "SUCCEEDED", undefined, false],
  [state("NOTHING_TO_DO"), "SUCCEEDED", undefined, false],
  [state("SUCCESSFUL_WITH_WARNING"), "SUCCEEDED_WITH_WARNINGS", undefined, false],
  [state("CANCELLED", { cancelling: true }), "CANCELLED", undefined, false],
  [state("FAILED", { decideBy: at }), "ACTION_REQUIRED", "DECISION", true],
  [state("FAILED", { decision: "RESOLVED", decideBy: at }), "RESOLVED", undefined, false],
  [state("FAILED", { decision: "EXPIRED", decideBy: at, cancelling: true }), "FAILED", undefined, false],
];

describe("The phase that clients read", () => {
  for (const [given, phase, code, endIsKnown] of cases) {
    const { phase: from, ...more } = given;
    const told = Object.entries(more).filter(([, value]) => value && value !== "OPEN" && `${value}` !== "");
    it(`of ${[from, ...told.map(([name]) => name)].join(", ")} is ${phase}`, () => {
      expect(publishedPhase(given)).to.equal(phase);
      expect(phaseWait(given)?.code).to.equal(code);
      expect(phaseEnd(given)).to.equal(endIsKnown ? "2026-12-05T02:00:00.000Z" : undefined);
    });
  }

  it("takes every value that the interface names", () => {
    expect(new Set(cases.map(([, phase]) => phase))).to.have.keys(Object.keys(PublishedPhase.keys));
  });

  it("says how many hosts are waited for, what failed and what is to be decided", () => {
    expect(phaseWait(state("PAUSED", { inWork: true, hostsInWork: 1 }))?.message).to.equal(
      "1 host finishes safely before it is paused.",
    );
    const failed = state("FAILED", { decideBy: at, lastError: "Host esx-1 failed" });
    expect(phaseWait(failed)?.message).to.equal("Host esx-1 failed. Retry or resolve the upgrade.");
    const prechecks = state("DRAFT_WAITING", { failedPrechecks: ["One.", "Two.", "Three."] });
    expect(phaseWait(prechecks)?.message).to.contain("One. (2 more)");
  });

  it("says until when a maintenance window or a freeze keeps it from going on", () => {
    const until = "2026-12-06T01:00:00.000Z";
    const closed = { code: "WINDOW" as const, message: "Outside maintenance window nights.", until };
    expect(phaseEnd(state("RUNNING", { closed }))).to.equal(until);
    expect(phaseWait(state("RUNNING", { closed }))).to.deep.equal(closed);
    expect(phaseEnd(state("RUNNING", { closed: { code: "FROZEN", message: "Frozen." } }))).to.equal(undefined);
  });

  it("is CANCELLING as soon as Temporal knows of the cancellation, unless the upgrade has ended", () => {
    const upgrade = initialUpgrade(samplePlan());
    expect(asCancelling(upgrade)).to.deep.include({ phase: "CANCELLING" });
    expect(asCancelling(upgrade)).not.to.have.property("since");
    const ended = { ...upgrade, endTime: at };
    expect(asCancelling(ended)).to.equal(ended);
  });
});
