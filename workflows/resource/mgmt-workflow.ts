import {
  type ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
} from "@temporalio/workflow";
import type { MgmtMigrationInput, MgmtServer, UpgradeActivities } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import type { SubTask } from "../../src/domain/spec/task";
import {
  applyMgmtProgress,
  countMgmt,
  describeMgmtEnd,
  initialMgmtSubTask,
  type MgmtEvent,
  MgmtProgress,
  type MgmtStageType,
} from "../../src/domain/task/mgmt-progress";
import { type HostCounts, interrupted, type ResourceOutcome } from "../../src/domain/task/sub-task";
import { Timestamp, toEpochMilliseconds } from "../../src/domain/timestamp";
import { changeOptions, mgmtTarget, readOptions, rollbackOptions } from "../activity-options";
import { currentTime, now } from "../clock";
import { errorOf, closureIn, progressOf } from "../failures";
import { runResumable, retryWhileLost } from "../lost-activities";
import { type MgmtUpgradeInput, type ResourceResult, switchoverSignal } from "../messages";
import { type CommonEvent, type EndDetails, ResourceState } from "./resource-state";
import { leftBehind, type ResourceEnding, runResource, runStage } from "./resource-workflow";

/**
 * Upgrades one management server, in place or by migration to a new appliance; its lock is held also while it waits for
 * the time of its switchover. See {@link runResource}.
 */
export function mgmtUpgradeWorkflow(input: MgmtUpgradeInput): Promise<ResourceResult> {
  const state = new MgmtUpgradeState(input);
  const title = titleOf(state);
  return runResource(state, {
    title,
    upgrade: () => upgradeServer(state),
    cancelledBy: (failure) =>
      isCancellation(failure) ? undefined : { ...interrupted(title), nestedErrors: [errorOf(failure)] },
  });
}

function titleOf({ input }: MgmtUpgradeState): string {
  return `Management server ${input.mgmt.name}`;
}

async function upgradeServer(state: MgmtUpgradeState): Promise<ResourceEnding> {
  const { mgmt } = state.input;
  const { fqdn, version, atTarget } = await stage(state, "CHECK_VERSION", () => readMgmtServer(state.input));
  state.record({ type: "ServerRead", fqdn, version });
  if (atTarget) return { outcome: "NOTHING_TO_DO", doing: `Nothing to do: runs ${version}` };
  state.report();
  await state.pause.pass();
  if (mgmt.mechanism === "InPlace") {
    state.publish("Staging the update");
    await changeServer(state, "STAGE_UPDATE", "stageMgmtUpdate");
    await state.pause.pass();
    state.publish("Installing the update; the management server restarts");
    await changeServer(state, "INSTALL_UPDATE", "installMgmtUpdate");
  } else {
    await migrate(state);
  }
  // What has begun is brought to its end also where the upgrade is cancelled meanwhile.
  const cancelled = CancellationScope.current().consideredCancelled;
  const remark = "The upgrade was cancelled when this could no longer be stopped, so it was finished.";
  return { outcome: "SUCCESSFUL", doing: `Runs ${mgmt.targetVersion}`, ...(cancelled && { remark }) };
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
    await changeServer(state, "PREPARE_MIGRATION", "prepareMgmtMigration");
    await stage(state, "WAIT_FOR_SWITCHOVER", () => waitForSwitchover(state));
    await state.pause.pass();
  } catch (failure) {
    await rollBack(state, failure);
    throw failure;
  }
  try {
    state.publish("Switching over; the management server restarts");
    await changeServer(state, "SWITCH_OVER", "switchOverMgmtMigration");
  } catch (failure) {
    if (isCancellation(failure) || beforeSwitchover.has(errorOf(failure).errorCode)) await rollBack(state, failure);
    throw failure;
  }
}

/** Ours, and durable: the product is always told to pause before the switchover. The time may change meanwhile. */
async function waitForSwitchover(state: MgmtUpgradeState): Promise<void> {
  for (;;) {
    const until = state.switchoverAt;
    const left = until === undefined ? 0 : toEpochMilliseconds(until) - currentTime();
    if (until === undefined || left <= 0) return;
    state.record({ type: "SwitchoverAwaited", until });
    state.publish(`Prepared; switchover at ${until}`);
    await condition(() => state.switchoverAt !== until, left, { summary: `switchover at ${until}` });
  }
}

/** Leaves no half of a new appliance behind, whatever ended the migration before its switchover. */
async function rollBack(state: MgmtUpgradeState, because: unknown): Promise<void> {
  const { mgmt } = state.input;
  await CancellationScope.nonCancellable(async () => {
    state.publish("Cancelling the migration");
    try {
      await stage(state, "CANCEL_MIGRATION", () => cancelMgmtMigration(state.input));
    } catch (cause) {
      throw notTakenBack(mgmt.name, cause, isCancellation(because) ? undefined : errorOf(because));
    }
  });
}

/** One change of the server in its stage; again where a freeze has kept it from beginning, with the attempts that are left. */
async function changeServer(state: MgmtUpgradeState, type: MgmtStageType, step: keyof typeof steps): Promise<void> {
  let known: MgmtProgress | undefined;
  await state.beginning(() =>
    stage(state, type, async () => {
      try {
        await runMgmtStep(step, state.input, known);
      } catch (failure) {
        const progress = closureIn(failure) && progressOf(failure, MgmtProgress);
        known = progress && progress.reportedFailures > 0 ? progress : undefined;
        throw failure;
      }
    }),
  );
}

function stage<T>(state: MgmtUpgradeState, type: MgmtStageType, work: () => Promise<T>): Promise<T> {
  return runStage(state, type, titleOf(state), work);
}

/** `before`: what had failed already when the migration could not be taken back either. */
function notTakenBack(name: string, cause: unknown, before?: ErrorBody): ApplicationFailure {
  return leftBehind(
    "MGMT_MIGRATION_NOT_CANCELLED",
    {
      message: `${before ? `${before.message} Moreover, the` : "The"} migration of management server ${name} could not be cancelled.`,
      remediationMessage: "Cancel the migration in the management server, and remove the new appliance if it is left.",
    },
    [...(before ? [before] : []), errorOf(cause)],
  );
}

/** An event without its time, which is now. */
type ProgressEvent = MgmtEvent extends infer E ? (E extends unknown ? Omit<E, "at"> : never) : never;

/** A management server's SubTask while its Workflow runs, and everywhere that it is shown. */
class MgmtUpgradeState extends ResourceState<ProgressEvent, MgmtStageType> {
  protected readonly counted = undefined;
  /** The time that the switchover waits for; undefined where it waits for none. */
  switchoverAt: string | undefined;

  constructor(private readonly given: MgmtUpgradeInput) {
    super({ ...given, ...given.mgmt }, initialMgmtSubTask(given.mgmt, now()));
    this.switchoverAt = given.mgmt.startSwitchoverTimestamp;
    this.signals.on(switchoverSignal, (time) => {
      if (Timestamp.is(time)) this.switchoverAt = time;
    });
  }

  /** As it was started, with what its upgrade ignores since. */
  get input(): MgmtUpgradeInput {
    return { ...this.given, mgmt: this.current(this.given.mgmt) };
  }

  protected apply(event: ProgressEvent | CommonEvent<MgmtStageType>, at: string): SubTask {
    return applyMgmtProgress(this.subTask, { ...event, at });
  }

  /** The server counts as one host. */
  protected counts(): HostCounts {
    return countMgmt(this.subTask);
  }

  protected ending(outcome: ResourceOutcome, { error, remark }: EndDetails): ProgressEvent {
    const end = describeMgmtEnd(this.input.mgmt, outcome, error);
    const description = remark === undefined ? end : `${end} ${remark}`;
    return { type: "Ended", outcome, description, ...(error && { error }) };
  }

  protected upgradedHosts(): readonly string[] {
    return [];
  }
}

const reads = proxyActivities<Pick<UpgradeActivities, "readMgmtServer">>(readOptions());
const changes = proxyActivities<UpgradeActivities>(changeOptions());
const rollbacks = proxyActivities<Pick<UpgradeActivities, "cancelMgmtMigration">>(rollbackOptions());

/** The changes of a management server: the Activity of each, its id behind `mgmt/`, and what it is called. */
const steps = {
  stageMgmtUpdate: { id: "stage", summary: "stage update" },
  installMgmtUpdate: { id: "install", summary: "install update" },
  prepareMgmtMigration: { id: "prepare", summary: "prepare new appliance" },
  switchOverMgmtMigration: { id: "switch-over", summary: "switch over" },
} as const;

/** Runs one change of a management server, as often as its attempts allow; where it is lost, it goes on from there. */
function runMgmtStep(
  step: keyof typeof steps,
  { mgmt, waits }: MgmtUpgradeInput,
  known: MgmtProgress | undefined,
): Promise<unknown> {
  const { id, summary } = steps[step];
  const { name, attempts } = mgmt;
  const input: MgmtMigrationInput = { ...mgmtTarget(mgmt), attempts };
  return runResumable({
    name,
    attempts,
    waits,
    known,
    progress: MgmtProgress,
    reportedFailures: ({ reportedFailures }) => reportedFailures,
    run: (left, again): Promise<unknown> =>
      changes[step].executeWithOptions(
        { ...changeOptions(left, waits), activityId: `mgmt/${id}`, summary: `${name}: ${summary}` },
        [{ ...input, ...again }],
      ),
  });
}

function readMgmtServer({ mgmt, waits }: MgmtUpgradeInput): Promise<MgmtServer> {
  const options = { ...readOptions(waits), activityId: "mgmt/read", summary: `${mgmt.name}: read version` };
  return retryWhileLost(waits, () => reads.readMgmtServer.executeWithOptions(options, [mgmtTarget(mgmt)]));
}

/** Takes back what was prepared of a migration, where its switchover has not begun. */
function cancelMgmtMigration({ mgmt, waits }: MgmtUpgradeInput): Promise<void> {
  const options = { ...rollbackOptions(waits), activityId: "mgmt/cancel", summary: `${mgmt.name}: cancel migration` };
  return retryWhileLost(waits, () => rollbacks.cancelMgmtMigration.executeWithOptions(options, [mgmtTarget(mgmt)]));
}
