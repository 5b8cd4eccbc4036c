import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  setHandler,
  sleep,
} from "@temporalio/workflow";
import { interrupted } from "../src/domain/resource-end";
import type { ErrorBody } from "../src/domain/error-body";
import type { MgmtStageType } from "../src/domain/mgmt-progress";
import { toEpochMilliseconds } from "../src/domain/timestamp";
import { errorOf } from "./activity-failure";
import { beginSignal, type MgmtUpgradeInput, type ResourceResult } from "./messages";
import { cancelMgmtMigration, readMgmtServer, runMgmtStep } from "./mgmt-steps";
import { MgmtUpgradeState } from "./mgmt-upgrade-state";

/**
 * Upgrades one management server, in place or by migration to a new appliance. Its Workflow ID is the server's lock,
 * held from the start, also while it waits for its turn and for the time of its switchover. Closes as completed, failed
 * or cancelled, with a {@link ResourceResult} in the result or in the failure's details and its SubTask in its memo.
 */
export async function mgmtUpgradeWorkflow(input: MgmtUpgradeInput): Promise<ResourceResult> {
  const state = new MgmtUpgradeState(input);
  const turn = { begun: false };
  setHandler(beginSignal, () => {
    turn.begun = true;
  });
  state.publish("Waiting for its turn");
  try {
    await condition(() => turn.begun);
    await state.pause.pass();
    return await upgradeServer(state);
  } catch (failure) {
    const { name } = input.mgmt;
    // Whatever failed last: the upgrade was cancelled, and that is how it ends.
    if (CancellationScope.current().consideredCancelled) {
      const error = turn.begun ? cancelledBy(name, failure) : undefined;
      state.end(turn.begun ? "CANCELLED" : "NOT_BEGUN", "Cancelled", error && { error });
      throw isCancellation(failure) ? failure : new CancelledFailure(`Management server ${name} was cancelled`);
    }
    const error = errorOf(failure);
    const result = state.end("FAILED", "Failed", { error });
    throw ApplicationFailure.nonRetryable(error.message, error.errorCode, result);
  }
}

async function upgradeServer(state: MgmtUpgradeState): Promise<ResourceResult> {
  const { mgmt } = state.input;
  const { fqdn, version, atTarget } = await stage(state, "CHECK_VERSION", () => readMgmtServer(state.input));
  state.record({ type: "ServerRead", fqdn, version });
  if (atTarget) return state.end("NOTHING_TO_DO", `Nothing to do: runs ${version}`);
  await state.report();
  await state.pause.pass();
  if (mgmt.mechanism === "InPlace") {
    state.publish("Staging the update");
    await stage(state, "STAGE_UPDATE", () => runMgmtStep("stageMgmtUpdate", state.input));
    await state.pause.pass();
    state.publish("Installing the update; the management server goes away and comes back");
    await stage(state, "INSTALL_UPDATE", () => runMgmtStep("installMgmtUpdate", state.input));
  } else {
    await migrate(state);
  }
  // What has begun is brought to its end also where the upgrade is cancelled meanwhile.
  const cancelled = CancellationScope.current().consideredCancelled;
  const remark = "The upgrade was cancelled when this could not be stopped any more; it was brought to its end.";
  return state.end("SUCCESSFUL", `Runs ${mgmt.targetVersion}`, cancelled ? { remark } : {});
}

/** Failures in the step of the switchover after which the new appliance is certainly not in use. */
const beforeSwitchover: ReadonlySet<string | undefined> = new Set([
  "MGMT_MIGRATION_FAILED",
  "MGMT_CHANGE_LOST",
  "MGMT_NOT_STARTED",
]);

async function migrate(state: MgmtUpgradeState): Promise<void> {
  try {
    state.publish("Preparing the new appliance");
    await stage(state, "PREPARE_MIGRATION", () => runMgmtStep("prepareMgmtMigration", state.input));
    await stage(state, "WAIT_FOR_SWITCHOVER", () => waitForSwitchover(state));
    await state.pause.pass();
  } catch (failure) {
    await takeBack(state, failure);
    throw failure;
  }
  try {
    state.publish("Switching over; the management server goes away and comes back");
    await stage(state, "SWITCH_OVER", () => runMgmtStep("switchOverMgmtMigration", state.input));
  } catch (failure) {
    if (isCancellation(failure) || beforeSwitchover.has(errorOf(failure).errorCode)) await takeBack(state, failure);
    throw failure;
  }
}

/** Ours, and durable: the product is always told to pause before the switchover. */
async function waitForSwitchover(state: MgmtUpgradeState): Promise<void> {
  const { startSwitchoverTimestamp: until } = state.input.mgmt;
  const left = until === undefined ? 0 : toEpochMilliseconds(until) - Date.now();
  if (until === undefined || left <= 0) return;
  state.record({ type: "SwitchoverAwaited", until });
  state.publish(`Prepared; the switchover waits until ${until}`);
  await sleep(left, { summary: `wait until ${until}` });
}

/** Leaves no half of a new appliance behind, whatever ended the migration before its switchover. */
async function takeBack(state: MgmtUpgradeState, because: unknown): Promise<void> {
  const { mgmt } = state.input;
  await CancellationScope.nonCancellable(async () => {
    state.publish("Cancelling the migration");
    try {
      await stage(state, "CANCEL_MIGRATION", () => cancelMgmtMigration(state.input));
    } catch (cause) {
      throw notTakenBack(mgmt.name, errorOf(cause), isCancellation(because) ? undefined : errorOf(because));
    }
  });
}

async function stage<T>(state: MgmtUpgradeState, type: MgmtStageType, work: () => Promise<T>): Promise<T> {
  const { consideredCancelled, cancelRequested } = CancellationScope.current();
  // What was in work may have come to a good end in spite of a cancellation; what follows is then not begun.
  if (consideredCancelled) await cancelRequested;
  state.record({ type: "StageStarted", stage: type });
  try {
    const result = await work();
    state.record({ type: "StageSucceeded", stage: type });
    return result;
  } catch (failure) {
    const { name } = state.input.mgmt;
    const error = isCancellation(failure) ? interrupted(`Management server ${name}`) : errorOf(failure);
    state.record({ type: "StageFailed", stage: type, error });
    throw failure;
  }
}

/** `failure`: what went wrong while the upgrade was being cancelled, if it was more than that. */
function cancelledBy(name: string, failure: unknown): ErrorBody {
  const error = interrupted(`Management server ${name}`);
  return isCancellation(failure) ? error : { ...error, nestedErrors: [errorOf(failure)] };
}

/** `before`: what had failed already when the migration could not be taken back either. */
function notTakenBack(name: string, cause: ErrorBody, before?: ErrorBody): ApplicationFailure {
  const error: ErrorBody = {
    errorCode: "MGMT_MIGRATION_NOT_CANCELLED",
    errorType: "FAILED_DEPENDENCY",
    message: `${before ? `${before.message} Moreover, the` : "The"} migration of management server ${name} could not be cancelled.`,
    remediationMessage: "Cancel the migration in the management server, and remove the new appliance where it is left.",
    nestedErrors: [...(before ? [before] : []), cause],
  };
  return ApplicationFailure.nonRetryable(error.message, error.errorCode, { error });
}
