import * as t from "io-ts";
import { IntegerBetween, model, WholeNumber } from "../codec";
import { ErrorBody } from "../errors";
import type { Closed } from "../opening";
import type { MgmtUpgradePlan } from "../plan/upgrade-plan";
import type { SubTask } from "../spec/task";
import { type CheckProgress, withCheck } from "./check-stages";
import {
  applyStageProgress,
  attemptFields,
  type PendingAttempt,
  type StageLeft,
  type StageProgress,
  stagesOf,
} from "./resource-stages";
import {
  atWork,
  countParts,
  describePart,
  endResource,
  hasEndedPart,
  type HostCounts,
  type ResourceOutcome,
  resultSubTask,
  serverResource,
  waitingPart,
  withClosure,
  withPause,
} from "./sub-task";

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
    WAIT_FOR_SWITCHOVER: "Wait for the switchover time",
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
  | StageProgress<MgmtStageType>
  | StageLeft<MgmtStageType>
  | CheckProgress
  | { readonly type: "ServerRead"; readonly fqdn: string; readonly version: string }
  /** The upgrade is paused, or resumed. */
  | { readonly type: "PauseChanged"; readonly paused: boolean }
  /** A freeze keeps it from beginning what comes next, for which the message is why; none where it was lifted. */
  | { readonly type: "ClosureChanged"; readonly closed?: Closed }
  /** The switchover waits for this Timestamp. */
  | { readonly type: "SwitchoverAwaited"; readonly until: string }
  | {
      readonly type: "Ended";
      readonly outcome: ResourceOutcome;
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
    resources: [serverResource("MGMT_SERVER", mgmt)],
  };
}

/** The next state of a management server's SubTask. Pure; something that cannot happen in a state leaves it as it is. */
export function applyMgmtProgress(subTask: SubTask, event: MgmtEvent): SubTask {
  const { at } = event;
  if (hasEndedPart(subTask)) return subTask;
  switch (event.type) {
    case "StageStarted":
      return applyStageProgress(withUnplanned(atWork(subTask), event.stage, at), event, at);
    case "StageSucceeded":
    case "StageLeft":
    case "StageFailed":
      return applyStageProgress(subTask, event, at);
    case "ServerRead":
      return {
        ...subTask,
        description: `${subTask.description} Runs ${event.version} now.`,
        resources: (subTask.resources ?? []).map((resource) => ({ ...resource, fqdn: event.fqdn })),
      };
    case "PauseChanged":
      return withPause(subTask, event.paused);
    case "CheckAsked":
    case "CheckAnswered":
      return withCheck(subTask, event, at);
    case "ClosureChanged":
      return withClosure(subTask, event.closed);
    case "SwitchoverAwaited":
      return waitingPart(subTask, {
        code: "SWITCHOVER",
        message: `Prepared. Switchover at ${event.until}.`,
      });
    case "Ended":
      return { ...endResource(subTask, event, at, (part) => part), description: event.description };
  }
}

/** Grafts what a pending Activity says onto the SubTask: percent, the attempt, its last error, the time of the next one. */
export function applyMgmtActivity(subTask: SubTask, activity: PendingAttempt<MgmtProgress>): SubTask {
  if (subTask.status !== "IN_PROGRESS") return subTask;
  const { description, ...attempt } = attemptFields(activity, activity.progress?.percent);
  return { ...describePart(subTask, description), ...attempt };
}

/** What the upgrade itself keeps of a management server that has ended: how it went, without its stages. */
export function mgmtResultSubTask(
  mgmt: MgmtUpgradePlan,
  { outcome, error }: { readonly outcome: ResourceOutcome; readonly error?: ErrorBody },
  created: string,
  at: string,
): SubTask {
  const description = describeMgmtEnd(mgmt, outcome, error);
  return resultSubTask(initialMgmtSubTask(mgmt, created), { outcome, ...(error && { error }) }, { description, at });
}

/** One sentence on how a management server's part of an upgrade ended. */
export function describeMgmtEnd(mgmt: MgmtUpgradePlan, outcome: ResourceOutcome, error?: ErrorBody): string {
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
export function countMgmt(subTask: SubTask): HostCounts {
  return countParts([subTask]);
}

/** Errors after which the appliance has to be restored by hand: trying again cannot help before that. */
const beyondRetry: ReadonlySet<string> = new Set(["MGMT_INSTALL_FAILED", "MGMT_INSTALL_ROLLED_BACK"]);

/** Whether an upgrade that ended with this error must not be offered for a retry (docs/spec-gaps.md, failed installation). */
export function isBeyondRetry({ errorCode, nestedErrors = [] }: ErrorBody): boolean {
  return (errorCode !== undefined && beyondRetry.has(errorCode)) || nestedErrors.some(isBeyondRetry);
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
