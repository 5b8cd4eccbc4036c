import { ApplicationFailure, CancellationScope, CancelledFailure, isCancellation, log } from "@temporalio/workflow";
import type { ErrorBody } from "../../src/domain/errors";
import { nextReminder } from "../../src/domain/notifications/decision-reminders";
import type { UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { UpgradePhase } from "../../src/domain/spec/upgrade";
import { resourceTitle } from "../../src/domain/task/resource-progress";
import { toEpochMilliseconds, toTimestamp } from "../../src/domain/timestamp";
import { precheckWarnings } from "../../src/domain/task/precheck-errors";
import { currentTime } from "../clock";
import { errorOf } from "../failures";
import { onBehalfOf } from "../request-cause";
import { Rejected } from "./approvals";
import { type CarriedUpgrade, continueUpgradeAsNew, HistoryTooLong, waitAtRest } from "./continue-as-new";
import { LongWaits } from "./long-waits";
import { awaitLockTime, lockInTime, Rescheduled } from "./lock-wait";
import { type LockedResource, releaseAll } from "./locked-resource";
import { findHeld } from "./locks";
import { UpgradeRequests } from "./upgrade-requests";
import { runPrechecks } from "./upgrade-prechecks";
import { checkBundle, runProducts } from "./upgrade-products";
import { UpgradeState } from "./upgrade-state";
import { WindowEnds } from "./window-ends";

/**
 * One upgrade from its acceptance to its end; its Workflow ID is the Task id. Interprets the plan: prechecks, for a
 * draft the wait for its commit, the locks of all resources, then the products in their order. A failed upgrade stays
 * open for `retry` and `resolve`. Closes as completed, as failed when it is given up, or as cancelled. `before`: what an
 * earlier run handed on when its history had become too long.
 */
export async function upgradeWorkflow(plan: UpgradePlan, before?: CarriedUpgrade): Promise<{ outcome: UpgradePhase }> {
  const state = new UpgradeState(plan, before?.state);
  // Read first: a Signal that has arrived already changes it as soon as there are handlers.
  const { phase } = state;
  const requests = new UpgradeRequests(state, before?.outcomes);
  const waits = new LongWaits(state);
  const windows = new WindowEnds(state);
  const resources: LockedResource[] = [];
  let errors: readonly ErrorBody[] = before?.errors ?? [];
  if (before?.requestId !== undefined) onBehalfOf(before.requestId, () => ({ result: undefined, goesOn: true }));
  CancellationScope.current().cancelRequested.catch(() => state.cancelRequested());
  try {
    let hasFailed = phase === "FAILED";
    let { precheckedAt } = before ?? {};
    if (plan.draft && (!before || phase === "DRAFT_WAITING"))
      precheckedAt = await prepareDraft(state, requests, precheckedAt);
    for (;;) {
      if (hasFailed) {
        if ((await awaitResolution(state, requests, errors)) !== "retry") throw givenUp(errors);
        errors = [];
        state.known.takeBack(state.known.inAttempt(state.resources));
        state.record({ type: "RetryStarted", resources: state.unfinished() });
        state.enter("ACCEPTED");
        precheckedAt = undefined;
      }
      errors = [...(await attempt(state, resources, precheckedAt)), ...notRetried(state)];
      const { consideredCancelled, cancelRequested } = CancellationScope.current();
      if (errors.length === 0) {
        // Whoever cancelled was told so, and what was in work was the last of it.
        if (consideredCancelled) await cancelRequested;
        return succeed(state);
      }
      // Resources that a cancellation has cut short report errors: the upgrade is cancelled, not failed.
      if (consideredCancelled) await cancelRequested;
      state.known.attemptOnly(undefined);
      state.enter("FAILED", errors);
      requests.awaitResolution();
      hasFailed = true;
    }
  } catch (thrown) {
    let failure = thrown;
    if (thrown instanceof Rejected) {
      const { reason } = thrown;
      await CancellationScope.nonCancellable(() => cancelled(state, resources, [reason]));
      return { outcome: "CANCELLED" };
    }
    if (thrown instanceof HistoryTooLong) {
      await continueUpgradeAsNew(state, requests, thrown.known);
      failure = new CancelledFailure("The upgrade was cancelled");
    }
    if (!isCancellation(failure)) throw failure;
    await CancellationScope.nonCancellable(() => cancelled(state, resources, errors));
    throw failure;
  } finally {
    await waits.stop();
    await windows.stop();
    if (state.notices.pending) await CancellationScope.nonCancellable(() => state.notices.handedOver());
  }
}

/**
 * Prechecks, as often as they are asked for, then the wait for a commit. Gives the time of the prechecks that the commit
 * relies on (epoch milliseconds). `before`: the same of an earlier run.
 */
async function prepareDraft(
  state: UpgradeState,
  requests: UpgradeRequests,
  before: number | undefined,
): Promise<number> {
  let precheckedAt = before;
  if (precheckedAt === undefined) state.enter("DRAFT_PRECHECKS");
  for (;;) {
    if (precheckedAt === undefined) {
      const errors = await runPrechecks(
        state,
        state.resources.filter((resource) => !state.known.isSkipped(resource)),
      );
      precheckedAt = currentTime();
      state.enter("DRAFT_WAITING");
      if (errors.length > 0) requests.dropEarlyCommit();
    }
    await waitForDraft(state, requests, precheckedAt);
    state.approvals.throwIfRejected();
    if (requests.takePrechecks()) {
      precheckedAt = undefined;
      continue;
    }
    requests.takeCommit();
    state.enter("ACCEPTED");
    return precheckedAt;
  }
}

/** Waits until a draft has something to do. Meanwhile acknowledgements of what its prechecks have found may end. */
async function waitForDraft(state: UpgradeState, requests: UpgradeRequests, precheckedAt: number): Promise<void> {
  const { acknowledgements } = state;
  const mayGoOn = () => requests.draftMayGoOn || state.approvals.isRejected;
  while (!mayGoOn()) {
    const { changes, nextEnd: until } = acknowledgements;
    const summary = "until an acknowledgement ends";
    const isOver = () => mayGoOn() || acknowledgements.changes !== changes;
    await waitAtRest(state, isOver, { precheckedAt }, until === undefined ? undefined : { until, summary });
    acknowledgements.noticeEnds();
  }
}

/** Locks, prechecks where there are none to rely on, products. Gives the errors; none where all went well. */
async function attempt(
  state: UpgradeState,
  running: LockedResource[],
  before: number | undefined,
): Promise<readonly ErrorBody[]> {
  let precheckedAt = before;
  state.resourceErrors = [];
  state.checkGate.reset();
  // Of a commit; what is due now is looked at when it begins.
  if (precheckedAt !== undefined && state.times.next(state.unfinished()) !== undefined) {
    const recalled = await checkBundle(state.plan);
    if (recalled.length > 0) return recalled;
  }
  for (;;) {
    try {
      // All that was left is left out.
      if (state.unfinished().length === 0) return [];
      if (state.times.lockTime(state.unfinished()) > currentTime()) {
        if (precheckedAt === undefined && (await findHeld(state)) === undefined) {
          state.enterPrechecks();
          const errors = await runPrechecks(state, state.unfinished());
          if (errors.length > 0) return errors;
          precheckedAt = currentTime();
        }
        await awaitLockTime(state, knownOf(precheckedAt));
        continue;
      }
      const locks = await lockInTime(state, knownOf(precheckedAt));
      if ("message" in locks) return [locks];
      running.splice(0, running.length, ...locks.locked);
      if (precheckedAt === undefined) {
        state.enterPrechecks();
        const errors = await runPrechecks(state, state.unfinished());
        if (errors.length > 0) return errors;
        const { leftOut } = state.known;
        const without = running.filter(({ resource }) => leftOut.has(resource.resourceId));
        if (without.length > 0) await releaseAll(without);
        running.splice(0, running.length, ...running.filter((one) => !without.includes(one)));
      }
      precheckedAt ??= currentTime();
      return await runProducts(state, running, { precheckedAt, heldUntil: locks.heldUntil });
    } catch (failure) {
      if (failure instanceof Rescheduled) {
        for (const { resource } of running) state.known.childReleased(resource.resourceId);
        continue;
      }
      if (isCancellation(failure) || failure instanceof HistoryTooLong || failure instanceof Rejected) throw failure;
      log.error("An attempt of the upgrade failed unexpectedly", { failure });
      return [errorOf(failure)];
    } finally {
      await CancellationScope.nonCancellable(() => releaseAll(running));
    }
  }
}

function knownOf(precheckedAt: number | undefined) {
  return precheckedAt === undefined ? {} : { precheckedAt };
}

/** What a retry of some resources alone has not tried: it stays failed. */
function notRetried({ known, resources }: UpgradeState): readonly ErrorBody[] {
  return known.notAttempted(resources).map((resource): ErrorBody => {
    const { resourceId } = resource;
    const { error } = known.resultOf(resourceId) ?? {};
    return {
      errorCode: "RESOURCE_NOT_RETRIED",
      errorType: "UPGRADE",
      message: `${resourceTitle(resource)} was not part of the retry, and still has to be upgraded.`,
      remediationMessage: "Retry the upgrade for it, leave it out, or resolve the upgrade.",
      context: { resourceId },
      ...(error && { nestedErrors: [error] }),
    };
  });
}

function succeed(state: UpgradeState): { outcome: UpgradePhase } {
  const { leftOut } = state.known;
  const outcomes = state.resources.map(({ resourceId }) => state.known.resultOf(resourceId)?.outcome);
  const upgraded = state.resources.filter((_, i) => outcomes[i] !== "NOTHING_TO_DO");
  const warnings = precheckWarnings(state.task, upgraded, currentTime());
  const outcome =
    leftOut.size > 0 || state.warnings.length > 0 || outcomes.includes("WITHIN_TOLERANCE") || warnings.length > 0
      ? "SUCCESSFUL_WITH_WARNING"
      : outcomes.every((one) => one === "NOTHING_TO_DO")
        ? "NOTHING_TO_DO"
        : "SUCCESSFUL";
  // What has paused the upgrade is on the Task already.
  const isNew = ({ message }: ErrorBody) => !state.task.errors?.some((known) => known.message === message);
  state.enter(outcome, [
    ...state.warnings.filter(isNew),
    ...[...leftOut.values()].map(({ error }) => error),
    ...warnings,
  ]);
  return { outcome };
}

/** Waits for somebody to retry or resolve, as long as the plan says. A cancellation gives up as well: it is over. */
async function awaitResolution(
  state: UpgradeState,
  requests: UpgradeRequests,
  errors: readonly ErrorBody[],
): Promise<"retry" | "resolve" | "expired"> {
  const { decideBy } = state;
  const decided = () => requests.resolution !== undefined;
  let decision: "retry" | "resolve" | "expired";
  try {
    for (;;) {
      const reminder = nextReminderOf(state);
      const end = `wait for retry or resolve until ${toTimestamp(decideBy)}`;
      const summary = reminder === undefined ? end : `wait until ${toTimestamp(reminder)}, then remind of the decision`;
      await waitAtRest(state, decided, { errors }, { until: reminder ?? decideBy, summary });
      if (decided() || reminder === undefined) break;
      state.notifier.decisionDue(errors);
    }
    decision = requests.resolution ?? "expired";
  } catch (failure) {
    if (!isCancellation(failure)) throw failure;
    decision = "resolve";
  }
  requests.endResolution();
  if (decision === "retry") return decision;
  log.info("Failed upgrade given up", { by: decision === "resolve" ? "request" : "the end of its time" });
  state.record({ type: "ResolutionEnded", resolved: decision === "resolve" });
  state.publish();
  return decision;
}

/** When receivers are next reminded of the decision; undefined where nobody wants to be, or no reminder is left. */
function nextReminderOf({ notices, phaseSince: since, decideBy }: UpgradeState): number | undefined {
  if (!notices.wants("upgrade.decision.due")) return undefined;
  return nextReminder({ since: toEpochMilliseconds(since), until: decideBy }, currentTime());
}

function givenUp(errors: readonly ErrorBody[]): ApplicationFailure {
  const [first] = errors;
  return ApplicationFailure.nonRetryable(first?.message ?? "The upgrade failed.", first?.errorCode ?? "UPGRADE_FAILED");
}

/** What failed while the upgrade was being cancelled stays on the Task; that it was cancelled is its status. */
async function cancelled(
  state: UpgradeState,
  running: readonly LockedResource[],
  errors: readonly ErrorBody[],
): Promise<void> {
  await releaseAll(running);
  const known = [...new Set([...errors, ...state.resourceErrors])];
  state.enter(
    "CANCELLED",
    known.filter(({ errorCode }) => errorCode !== "CANCELLED"),
  );
}
