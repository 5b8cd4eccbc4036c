import { expect } from "chai";
import fc from "fast-check";
import type { Task } from "../../../src/domain/spec/task";
import { hasEnded, statusOfPhase, type UpgradePhase } from "../../../src/domain/spec/upgrade";
import { isBeyondRetry } from "../../../src/domain/task/mgmt-progress";
import { applyProgress, initialTask, type TaskProgress } from "../../../src/domain/task/task-progress";
import { arbitraryPlan, arbitraryTaskProgress } from "./arbitrary-progress";

/** What clients may do with a Task, and what they are told of a failure. */
interface Flags {
  readonly isCancellable: boolean;
  readonly isRetryable: boolean;
  readonly resolutionStatus: "RESOLVED" | "UNRESOLVED" | undefined;
}

/** What decides about the flags; kept beside the Task and by other rules than its own. */
interface Standing {
  readonly phase: UpgradePhase;
  readonly hasFailed: boolean;
  readonly brokenForGood: boolean;
  readonly givenUp: "RESOLVED" | "EXPIRED" | undefined;
}

function next(standing: Standing, progress: TaskProgress): Standing {
  const { phase, brokenForGood, givenUp } = standing;
  const awaits = phase === "FAILED" && givenUp !== "RESOLVED";
  switch (progress.type) {
    case "PhaseEntered":
      if (hasEnded(phase)) return standing;
      return {
        ...standing,
        phase: progress.phase,
        hasFailed: standing.hasFailed || progress.phase === "FAILED",
        brokenForGood: (progress.errors ?? []).some(isBeyondRetry),
      };
    case "RetryStarted":
      return awaits && givenUp === undefined && !brokenForGood ? { ...standing, phase: "ACCEPTED" } : standing;
    case "ResolutionEnded":
      return awaits ? { ...standing, givenUp: progress.resolved ? "RESOLVED" : "EXPIRED" } : standing;
    default:
      return standing;
  }
}

/** The table: what holds in each phase. */
function expected({ phase, hasFailed, brokenForGood, givenUp }: Standing): Flags {
  const failed = phase === "FAILED";
  const succeeded = hasEnded(phase) && !failed && phase !== "CANCELLED";
  return {
    isCancellable: !hasEnded(phase),
    isRetryable: failed && givenUp === undefined && !brokenForGood,
    resolutionStatus: !hasFailed ? undefined : succeeded || givenUp === "RESOLVED" ? "RESOLVED" : "UNRESOLVED",
  };
}

const flagsOf = ({ isCancellable = false, isRetryable = false, resolutionStatus }: Task): Flags => ({
  isCancellable,
  isRetryable,
  resolutionStatus,
});

describe("isCancellable, isRetryable and resolutionStatus", () => {
  const story = arbitraryPlan.chain((plan) => fc.tuple(fc.constant(plan), arbitraryTaskProgress(plan)));

  it("are right after everything that can happen, whatever happened before", () => {
    const seen = new Set<UpgradePhase>();
    fc.assert(
      fc.property(story, ([plan, happenings]) => {
        let task = initialTask(plan);
        let standing: Standing = {
          phase: plan.draft ? "DRAFT_ACCEPTED" : "ACCEPTED",
          hasFailed: false,
          brokenForGood: false,
          givenUp: undefined,
        };
        expect(flagsOf(task)).to.deep.equal(expected(standing));
        for (const progress of happenings) {
          task = applyProgress(task, progress);
          standing = next(standing, progress);
          seen.add(standing.phase);
          expect(task.status).to.equal(statusOfPhase(standing.phase).task);
          expect(flagsOf(task), standing.phase).to.deep.equal(expected(standing));
          expect(task.creationTimestamp).to.equal(plan.creationTimestamp);
        }
      }),
      { numRuns: 500 },
    );
    expect(seen.size, "every phase was met").to.equal(12);
  });
});
