import { expect } from "chai";
import * as fc from "fast-check";
import type { ErrorBody } from "../../../src/domain/errors";
import type { MgmtUpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import { SubTask } from "../../../src/domain/spec/task";
import {
  applyMgmtActivity,
  applyMgmtProgress,
  countMgmt,
  initialMgmtSubTask,
  isBeyondRetry,
  type MgmtEvent,
  MgmtProgress,
  mgmtResultSubTask,
} from "../../../src/domain/task/mgmt-progress";
import { arbitraryOf } from "./arbitrary-of";

const at = "2026-12-01T09:30:00.000Z";
const error: ErrorBody = { errorCode: "MGMT_INSTALL_FAILED", message: "It failed." };

function plan(changes: Partial<MgmtUpgradePlan> = {}): MgmtUpgradePlan {
  return {
    kind: "MGMT",
    resourceId: "m-1",
    name: "fra1-vc01",
    componentManagerId: "vc01",
    targetVersion: "9.0.2.0",
    attempts: { maximumAttempts: 1, retryDelay: 0 },
    mechanism: "InPlace",
    clusters: [],
    places: [{ domain: "fra1" }],
    ...changes,
  };
}

const fold = (events: readonly MgmtEvent[], mgmt = plan()) =>
  events.reduce(applyMgmtProgress, initialMgmtSubTask(mgmt, at));
const stagesOf = ({ stages = [] }: SubTask) => stages.map(({ type, status }) => `${type} ${status}`);

describe("the SubTask of a management server", () => {
  it("has the stages of its mechanism", () => {
    expect(stagesOf(initialMgmtSubTask(plan(), at))).to.deep.equal([
      "CHECK_VERSION PENDING",
      "STAGE_UPDATE PENDING",
      "INSTALL_UPDATE PENDING",
    ]);
    expect(stagesOf(initialMgmtSubTask(plan({ mechanism: "ReducedDowntimeMigration" }), at))).to.deep.equal([
      "CHECK_VERSION PENDING",
      "PREPARE_MIGRATION PENDING",
      "WAIT_FOR_SWITCHOVER PENDING",
      "SWITCH_OVER PENDING",
    ]);
  });

  it("shows what is under way, with percent and attempt", () => {
    const running = fold([{ type: "StageStarted", stage: "STAGE_UPDATE", at }]);
    const progress: MgmtProgress = { reportedFailures: 1, activity: "Staging.", percent: 40, maximumAttempts: 3 };
    const shown = applyMgmtActivity(running, { progress, maximumAttempts: 2 });
    expect(shown.description).to.equal("Staging. (40 %) (attempt 2 of 3)");
    const waiting = applyMgmtActivity(running, {
      progress: { ...progress, lastError: error },
      nextAttemptAt: at,
      maximumAttempts: 3,
    });
    expect(waiting.description).to.equal(`Attempt 2 of 3 starts at ${at}, after: It failed.`);
    expect(waiting.errors).to.deep.equal([error]);
    expect(applyMgmtActivity(running, { maximumAttempts: 1 }).description).to.equal("Waiting for a worker.");
  });

  it("adds the cancellation of a migration only where there is one, and names its time while it waits", () => {
    const mgmt = plan({ mechanism: "ReducedDowntimeMigration" });
    const waiting = fold(
      [
        { type: "ServerRead", fqdn: "vc-01.example.com", version: "9.0.0.0", at },
        { type: "StageStarted", stage: "WAIT_FOR_SWITCHOVER", at },
        { type: "SwitchoverAwaited", until: "2026-12-24T00:00:00.000Z", at },
      ],
      mgmt,
    );
    expect(waiting.description).to.equal("Prepared. Switchover at 2026-12-24T00:00:00.000Z.");
    expect(waiting.resources?.[0]).to.include({ fqdn: "vc-01.example.com", type: "MGMT_SERVER" });
    const cancelled = applyMgmtProgress(waiting, { type: "StageStarted", stage: "CANCEL_MIGRATION", at });
    expect(stagesOf(cancelled).at(-1)).to.equal("CANCEL_MIGRATION IN_PROGRESS");
  });

  it("ends with the stages that were begun, and never leaves its end", () => {
    const ended = fold([
      { type: "StageStarted", stage: "CHECK_VERSION", at },
      { type: "StageSucceeded", stage: "CHECK_VERSION", at },
      { type: "StageStarted", stage: "STAGE_UPDATE", at },
      { type: "Ended", outcome: "FAILED", description: error.message, error, at },
    ]);
    expect(stagesOf(ended)).to.deep.equal(["CHECK_VERSION SUCCESSFUL", "STAGE_UPDATE FAILED"]);
    expect(applyMgmtProgress(ended, { type: "StageStarted", stage: "INSTALL_UPDATE", at })).to.equal(ended);
    expect(applyMgmtActivity(ended, { maximumAttempts: 1 })).to.equal(ended);
  });

  it("counts as one host in every end, and as nothing else", () => {
    const counted = (["SUCCESSFUL", "NOTHING_TO_DO", "FAILED", "CANCELLED", "NOT_BEGUN"] as const).map((outcome) =>
      countMgmt(mgmtResultSubTask(plan(), { outcome, ...(outcome === "FAILED" && { error }) }, at, at)),
    );
    expect(counted.map((c) => c.upgraded + c.skipped + c.failed + c.left)).to.deep.equal([1, 1, 1, 1, 1]);
    expect(
      counted.map(({ upgraded, skipped, failed, left }) => [upgraded, skipped, failed, left].indexOf(1)),
    ).to.deep.equal([0, 1, 2, 2, 3]);
  });

  it("is one that clients can read, whatever happens in whatever order", () => {
    const stage = fc.constantFrom("CHECK_VERSION", "INSTALL_UPDATE", "SWITCH_OVER", "CANCEL_MIGRATION");
    const event = fc.oneof(
      fc.record({ type: fc.constantFrom("StageStarted", "StageSucceeded"), stage }),
      fc.record({ type: fc.constant("StageFailed"), stage, error: fc.constant(error) }),
      fc.record({ type: fc.constant("ServerRead"), fqdn: fc.string(), version: fc.string() }),
      fc.record({
        type: fc.constant("Ended"),
        outcome: fc.constantFrom("SUCCESSFUL", "FAILED", "CANCELLED"),
        description: fc.string(),
      }),
    );
    fc.assert(
      fc.property(fc.array(event), fc.constantFrom("InPlace", "ReducedDowntimeMigration"), (events, mechanism) => {
        const folded = fold(
          events.map((happening) => ({ ...happening, at })),
          plan({ mechanism }),
        );
        expect(SubTask.is(folded)).to.equal(true);
        const ended = events.some(({ type }) => type === "Ended");
        expect(["PENDING", "IN_PROGRESS"].includes(folded.status)).to.equal(!ended);
        if (ended) expect(stagesOf(folded).filter((text) => /PENDING|IN_PROGRESS/.test(text))).to.deep.equal([]);
      }),
    );
  });
});

describe("the progress of a management server's step", () => {
  it("decodes what it encodes", () => {
    fc.assert(
      fc.property(arbitraryOf(MgmtProgress), (progress) => {
        expect(MgmtProgress.decode(JSON.parse(JSON.stringify(MgmtProgress.encode(progress))))).to.deep.include({
          _tag: "Right",
          right: progress,
        });
      }),
    );
  });

  it("is beyond a retry after an installation that failed for good, however deep that is told", () => {
    expect(isBeyondRetry({ message: "", nestedErrors: [{ message: "", nestedErrors: [error] }] })).to.equal(true);
    expect(isBeyondRetry({ errorCode: "MGMT_MIGRATION_FAILED", message: "", nestedErrors: [] })).to.equal(false);
  });
});
