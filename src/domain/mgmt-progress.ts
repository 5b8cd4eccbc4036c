import * as t from "io-ts";
import { endStages, stagesOf, type ClusterOutcome, type HostCounts } from "./cluster-progress";
import { IntegerBetween, model, WholeNumber } from "./codec";
import { ErrorBody } from "./error-body";
import { describePart, withPause } from "./paused-part";
import type { Stage, StageStatus, SubTask, SubTaskStatus } from "./task";
import type { MgmtUpgradePlan } from "./upgrade-plan";

/** The stages of a management server by the way in which it is upgraded; the `type` of each Stage. */
export const mgmtStages = {
  InPlace: {
    CHECK_VERSION: "Check version",
    STAGE_UPDATE: "Stage update",
    INSTALL_UPDATE: "Install update and verify version",
  },
  ReducedDowntimeMigration: {
    CHECK_VERSION: "Check version",
    PREPARE_MIGRATION: "Prepare new appliance",
    WAIT_FOR_SWITCHOVER: "Wait for the time of the switchover",
    SWITCH_OVER: "Switch over and verify version",
  },
} as const;

/** A stage that is not planned: it comes where a migration has to be taken back. */
const unplanned = { CANCEL_MIGRATION: "Cancel migration" } as const;

export type MgmtStageType =
  keyof (typeof mgmtStages)["InPlace"] | keyof (typeof mgmtStages)["ReducedDowntimeMigration"] | keyof typeof unplanned;

/**
 * What is known of a step on a management server while it runs: the heartbeat details of its Activity. A later run of
 * the Activity starts from it, and the Task shows it.
 */
export const MgmtProgress = model(
  {
    /** Failures that the management server reported; only these use up attempts (docs/spec-gaps.md, what consumes an attempt). */
    reportedFailures: WholeNumber,
    /** One sentence on what happens now, for the operator. */
    activity: t.string,
  },
  {
    /** How far the product says it is. */
    percent: IntegerBetween(0, 100, "percent"),
    /** When this attempt asked, or was about to ask, for its change. */
    requestedAt: t.string,
    /** Whether that was accepted: it must not be asked for again. */
    accepted: t.boolean,
    lastError: ErrorBody,
    /** How many reported failures the step may have in all. */
    maximumAttempts: WholeNumber,
  },
);
export type MgmtProgress = t.TypeOf<typeof MgmtProgress>;

/** What happens to a management server while it is upgraded, each with its time as a Timestamp. */
export type MgmtEvent = { readonly at: string } & (
  | { readonly type: "StageStarted" | "StageSucceeded"; readonly stage: MgmtStageType }
  | { readonly type: "StageFailed"; readonly stage: MgmtStageType; readonly error: ErrorBody }
  | { readonly type: "ServerRead"; readonly fqdn: string; readonly version: string }
  /** The upgrade is paused, or resumed. */
  | { readonly type: "PauseChanged"; readonly paused: boolean }
  /** The switchover waits for this Timestamp. */
  | { readonly type: "SwitchoverAwaited"; readonly until: string }
  | {
      readonly type: "Ended";
      readonly outcome: ClusterOutcome;
      readonly description: string;
      readonly error?: ErrorBody;
    }
);

/** The SubTask of a management server before anything of it has happened. */
export function initialMgmtSubTask(mgmt: MgmtUpgradePlan, at: string): SubTask {
  const how = mgmt.mechanism === "InPlace" ? "in place" : "by migration to a new appliance, with reduced downtime";
  return {
    name: `Upgrade management server ${mgmt.name}`,
    type: "MGMT_SERVER_UPGRADE",
    description: `Upgrade ${mgmt.name} to ${mgmt.targetVersion} ${how}.`,
    status: "PENDING",
    creationTimestamp: at,
    stages: stagesOf(mgmtStages[mgmt.mechanism], at),
    resources: [{ resourceId: mgmt.resourceId, name: mgmt.name, type: "MGMT_SERVER" }],
  };
}

/** The next state of a management server's SubTask. Pure; something that cannot happen in a state leaves it as it is. */
export function applyMgmtProgress(subTask: SubTask, event: MgmtEvent): SubTask {
  const { at } = event;
  if (hasEnded(subTask)) return subTask;
  switch (event.type) {
    case "StageStarted": {
      const known = withUnplanned(subTask, event.stage, at);
      const started = withStage(known, event.stage, "PENDING", (stage) => ({ ...stage, status: "IN_PROGRESS" }));
      return { ...started, status: "IN_PROGRESS" };
    }
    case "StageSucceeded":
      return withStage(subTask, event.stage, "IN_PROGRESS", (stage) => ({
        ...stage,
        status: "SUCCESSFUL",
        completionTimestamp: at,
      }));
    case "StageFailed":
      return withStage(subTask, event.stage, "IN_PROGRESS", (stage) => ({
        ...stage,
        status: "FAILED",
        completionTimestamp: at,
        errors: [event.error],
      }));
    case "ServerRead":
      return {
        ...subTask,
        description: `${subTask.description} Runs ${event.version} now.`,
        resources: (subTask.resources ?? []).map((resource) => ({ ...resource, fqdn: event.fqdn })),
      };
    case "PauseChanged":
      return withPause(subTask, event.paused);
    case "SwitchoverAwaited":
      return describePart(subTask, `Prepared. The switchover waits until ${event.until}.`);
    case "Ended": {
      const { stages = [], ...rest } = subTask;
      const ended = endStages(stages, at, event.error);
      return {
        ...rest,
        status: endStatuses[event.outcome],
        description: event.description,
        completionTimestamp: at,
        ...(ended.length > 0 && { stages: ended }),
        ...(event.error && { errors: [event.error] }),
      };
    }
  }
}

/** What is known from outside of the step that is in work, between two events of its Workflow. */
export interface MgmtActivity {
  readonly progress?: MgmtProgress;
  readonly lastError?: ErrorBody;
  /** When the server tries again; absent while an attempt runs. */
  readonly nextAttemptAt?: string;
  /** As its retry policy says; what an earlier run of the Activity has used up is only in its progress. */
  readonly maximumAttempts: number;
}

/** Grafts what a pending Activity says onto the SubTask: percent, the attempt, its last error, the time of the next one. */
export function applyMgmtActivity(subTask: SubTask, activity: MgmtActivity): SubTask {
  if (subTask.status !== "IN_PROGRESS") return subTask;
  const { progress, lastError = progress?.lastError, nextAttemptAt } = activity;
  const maximumAttempts = progress?.maximumAttempts ?? activity.maximumAttempts;
  const attempt = (progress?.reportedFailures ?? 0) + 1;
  const attempts = maximumAttempts > 1 ? ` (attempt ${attempt} of ${maximumAttempts})` : "";
  const percent = progress?.percent === undefined ? "" : ` ${progress.percent} %.`;
  const description =
    nextAttemptAt === undefined
      ? `${progress?.activity ?? "Waiting for a worker."}${percent}${attempts}`
      : `Attempt ${attempt} of ${maximumAttempts} starts at ${nextAttemptAt}, after: ${lastError?.message ?? "a failure"}`;
  return { ...describePart(subTask, description), ...(lastError && { errors: [lastError] }) };
}

/** What the upgrade itself keeps of a management server that has ended: how it went, without its stages. */
export function mgmtResultSubTask(
  mgmt: MgmtUpgradePlan,
  { outcome, error }: { readonly outcome: ClusterOutcome; readonly error?: ErrorBody },
  created: string,
  at: string,
): SubTask {
  const { stages: _ofItsOwnWorkflow, ...subTask } = initialMgmtSubTask(mgmt, created);
  return {
    ...subTask,
    status: endStatuses[outcome],
    description: describeMgmtEnd(mgmt, outcome, error),
    completionTimestamp: at,
    ...(error && { errors: [error] }),
  };
}

/** One sentence on how a management server's part of an upgrade ended. */
export function describeMgmtEnd(mgmt: MgmtUpgradePlan, outcome: ClusterOutcome, error?: ErrorBody): string {
  switch (outcome) {
    case "SUCCESSFUL":
    case "WITHIN_TOLERANCE":
      return `Runs ${mgmt.targetVersion}.`;
    case "NOTHING_TO_DO":
      return `Already at ${mgmt.targetVersion}: nothing to do.`;
    case "NOT_BEGUN":
      return "Not begun.";
    case "FAILED":
    case "CANCELLED":
      return error?.message ?? `Not upgraded to ${mgmt.targetVersion}.`;
  }
}

/** A management server in the numbers that upgrades keep of hosts: it counts as one. */
export function countMgmt({ status, description }: SubTask): HostCounts {
  const is = (...statuses: SubTaskStatus[]) => (statuses.includes(status) ? 1 : 0);
  const skipped = status === "NOT_APPLICABLE" && description.startsWith("Already at") ? 1 : 0;
  return {
    total: 1,
    upgraded: is("SUCCESSFUL"),
    skipped,
    failed: is("FAILED"),
    left: is("PENDING", "NOT_APPLICABLE") - skipped,
  };
}

/** Errors after which the appliance has to be restored by hand: trying again cannot help before that. */
const beyondRetry: ReadonlySet<string> = new Set(["MGMT_INSTALL_FAILED", "MGMT_INSTALL_ROLLED_BACK"]);

/** Whether an upgrade that ended with this error must not be offered for a retry (docs/spec-gaps.md, failed installation). */
export function isBeyondRetry({ errorCode, nestedErrors = [] }: ErrorBody): boolean {
  return (errorCode !== undefined && beyondRetry.has(errorCode)) || nestedErrors.some(isBeyondRetry);
}

const endStatuses: Record<ClusterOutcome, SubTaskStatus> = {
  SUCCESSFUL: "SUCCESSFUL",
  WITHIN_TOLERANCE: "SUCCESSFUL",
  NOTHING_TO_DO: "NOT_APPLICABLE",
  FAILED: "FAILED",
  CANCELLED: "FAILED",
  NOT_BEGUN: "NOT_APPLICABLE",
};

function hasEnded({ status }: SubTask): boolean {
  return status !== "PENDING" && status !== "IN_PROGRESS";
}

function isUnplanned(type: MgmtStageType): type is keyof typeof unplanned {
  return type in unplanned;
}

/** An unplanned stage appears when it begins. */
function withUnplanned(subTask: SubTask, type: MgmtStageType, at: string): SubTask {
  const stages = subTask.stages ?? [];
  if (!isUnplanned(type) || stages.some((stage) => stage.type === type)) return subTask;
  return { ...subTask, stages: [...stages, ...stagesOf({ [type]: unplanned[type] }, at)] };
}

/** A stage changed, where it is in the status from which the change happens. */
function withStage(subTask: SubTask, type: MgmtStageType, from: StageStatus, change: (stage: Stage) => Stage): SubTask {
  const applies = (stage: Stage) => stage.type === type && stage.status === from;
  return { ...subTask, stages: (subTask.stages ?? []).map((stage) => (applies(stage) ? change(stage) : stage)) };
}
