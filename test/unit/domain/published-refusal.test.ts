import { expect } from "chai";
import { publishedRefusal, type PublishedUpgrade } from "../../../src/domain/published-refusal";
import { applyProgress, initialTask } from "../../../src/domain/task-progress";
import type { RequestOutcome } from "../../../src/domain/upgrade-request";
import type { UpgradePhase } from "../../../src/domain/upgrade-status";
import { upgradeView } from "../../../src/domain/upgrade-view";
import { samplePlan } from "../../support/sample-plan";

const plan = samplePlan({ draft: true });
const at = "2026-11-01T12:00:00.000Z";
const now = Date.parse(at);

/** What an upgrade has published in a phase. */
function published(phase: UpgradePhase, changes: Partial<PublishedUpgrade> = {}): PublishedUpgrade {
  const task = applyProgress(initialTask(plan), { type: "PhaseEntered", phase, at });
  return {
    upgrade: upgradeView(plan, phase, at),
    task,
    cancelRequested: false,
    history: { events: 100, bytes: 100_000 },
    ...changes,
  };
}

const refused = (name: RequestOutcome["request"], phase: UpgradePhase, changes: Partial<PublishedUpgrade> = {}) =>
  publishedRefusal({ name }, published(phase, changes), now)?.errorCode;

describe("publishedRefusal", () => {
  const possible: Record<RequestOutcome["request"], readonly UpgradePhase[]> = {
    commit: ["DRAFT_ACCEPTED", "DRAFT_PRECHECKS", "DRAFT_WAITING", "ACCEPTED", "SCHEDULED"],
    pause: ["RUNNING"],
    resume: ["PAUSED"],
    // Whether its prechecks have begun is not published.
    prechecks: ["DRAFT_ACCEPTED", "DRAFT_WAITING"],
    retry: ["FAILED"],
    resolve: ["FAILED"],
  };
  const phases = [
    "DRAFT_ACCEPTED",
    "DRAFT_PRECHECKS",
    "DRAFT_WAITING",
    "ACCEPTED",
    "SCHEDULED",
    "RUNNING",
    "PAUSED",
    "FAILED",
  ] as const;

  for (const [name, allowed] of Object.entries(possible) as [RequestOutcome["request"], readonly UpgradePhase[]][]) {
    it(`leaves ${name} to an upgrade that may take it, and refuses it in every other phase`, () => {
      for (const phase of phases)
        expect(refused(name, phase), phase).to.equal(allowed.includes(phase) ? undefined : "REQUEST_NOT_POSSIBLE");
    });
  }

  it("refuses all of an upgrade that is being cancelled", () => {
    for (const name of Object.keys(possible) as RequestOutcome["request"][])
      for (const phase of phases)
        expect(refused(name, phase, { cancelRequested: true })).to.equal("REQUEST_NOT_POSSIBLE");
  });

  it("refuses what makes a full history longer, and never what ends or goes on", () => {
    for (const history of [
      { events: 30_000, bytes: 1_000 },
      { events: 1_000, bytes: 30_000_000 },
    ]) {
      const refusals: [RequestOutcome["request"], UpgradePhase][] = [
        ["commit", "SCHEDULED"],
        ["pause", "RUNNING"],
        ["prechecks", "DRAFT_WAITING"],
      ];
      for (const [name, phase] of refusals)
        expect(refused(name, phase, { history }), name).to.equal("REQUEST_NOT_POSSIBLE");
      for (const [name, phase] of [
        ["commit", "DRAFT_WAITING"],
        ["resume", "PAUSED"],
        ["resolve", "FAILED"],
      ] as const)
        expect(refused(name, phase, { history }), name).to.equal(undefined);
    }
  });

  it("refuses the commit of a draft whose prechecks have failed, with what they found", () => {
    const { task } = published("DRAFT_WAITING");
    const error = { errorCode: "HOST_NOT_CONNECTED", message: "Host esx-1 is not connected." };
    const stage = {
      name: "",
      type: "X",
      description: "",
      status: "FAILED",
      creationTimestamp: at,
      errors: [error],
    } as const;
    const [run, ...rest] = task.subTasks ?? [];
    const subTasks = [{ ...run!, status: "FAILED" as const, stages: [{ ...stage, errors: [error] }] }, ...rest];
    const reason = publishedRefusal(
      { name: "commit" },
      published("DRAFT_WAITING", { task: { ...task, subTasks } }),
      now,
    );
    expect(reason?.errorCode).to.equal("PRECHECKS_FAILED");
    expect(reason?.nestedErrors).to.deep.equal([error]);
    expect(reason?.message).to.contain("esx-1");
  });
});
