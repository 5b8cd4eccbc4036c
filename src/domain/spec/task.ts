import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import { ErrorBody } from "../errors";
import { PageMetadata } from "../page";
import { Timestamp } from "../timestamp";
import { toldChangeRecord } from "./change-record";
import { Finding } from "./finding";
import { toldOverride } from "./maintenance-override";
import { RequestWarning } from "./request-warning";

/**
 * What an Upgrade, a running Task or a SubTask waits for.
 *
 * `SOAK`: the time between two hosts. `HEALTH_GATE`: a healthy cluster before the next host. `SWITCHOVER`: the time at which
 * a management server switches over. `COMMIT`: somebody's commit: of a draft, or as it could not begin at its time. `WORKFLOW_TASK_FAILING`:
 * the Workflow cannot continue, because each try to run its code fails. `FROZEN`: the end of an emergency stop. `WINDOW`: its maintenance
 * window, or the end of a change freeze of the inventory. `HELD`: the release of a hold. `CHECK`: a check of the inventory.
 *
 * Of an Upgrade also: `TIME`: its scheduled time. `WORKER`: a worker that takes it. `LOCK`: resources that another upgrade
 * may hold. `PRECHECKS`: prechecks that pass, since the last have failed. `WORK_IN_PROGRESS`: the end of what is in work,
 * before it is paused or cancelled. `RESUME`: an operator who resumes it. `DECISION`: a retry, or a resolve that gives it up.
 */
export const WaitingForCode = OneOf(
  "SOAK",
  "HEALTH_GATE",
  "SWITCHOVER",
  "COMMIT",
  "WORKFLOW_TASK_FAILING",
  "FROZEN",
  "WINDOW",
  "HELD",
  "CHECK",
  "TIME",
  "WORKER",
  "LOCK",
  "PRECHECKS",
  "WORK_IN_PROGRESS",
  "RESUME",
  "DECISION",
  "APPROVAL",
);

/** What a running Task or SubTask waits for. `code` is for programs, `message` for people. */
export const WaitingFor = model(
  { code: WaitingForCode, message: t.string },
  {
    /** When it began to wait. */
    since: Timestamp,
    /** When the wait ends by itself, where that is known. */
    until: Timestamp,
    /** Number of failed tries since then. */
    attempts: WholeNumber,
  },
);
export type WaitingFor = t.TypeOf<typeof WaitingFor>;

/** Kinds of resource that a Task names (Spec 2.5; `NETVIRTT_MANAGER` is the specification's own spelling). */
export const TaskResourceType = OneOf(
  "SDDC_MANAGER",
  "PSC",
  "MGMT_SERVER",
  "NETVIRT_MANAGER",
  "NETVIRTT_MANAGER",
  "VRA",
  "VRLI",
  "VROPS",
  "VRSLCM",
  "HCI_MANAGER",
  "NETVIRT_ALB",
  "HOSTOS_HOST",
);

/** A resource that a task works on (Spec 2.5). A cluster has no `type`: the enumeration holds none for it. */
export const TaskResource = model(
  {},
  { resourceId: t.string, fqdn: t.string, type: TaskResourceType, name: t.string, sans: t.array(t.string) },
);
export type TaskResource = t.TypeOf<typeof TaskResource>;

export const StageStatus = OneOf("PENDING", "IN_PROGRESS", "SUCCESSFUL", "FAILED");
export type StageStatus = t.TypeOf<typeof StageStatus>;

/** One step of a SubTask (Spec 2.5). */
export const Stage = model(
  { name: t.string, type: t.string, description: t.string, status: StageStatus, creationTimestamp: Timestamp },
  {
    completionTimestamp: Timestamp,
    errors: t.array(ErrorBody),
    /** Of a precheck, the most severe first. */
    findings: t.array(Finding),
  },
);
export type Stage = t.TypeOf<typeof Stage>;

export const SubTaskStatus = OneOf("PENDING", "IN_PROGRESS", "SUCCESSFUL", "FAILED", "NOT_APPLICABLE");
export type SubTaskStatus = t.TypeOf<typeof SubTaskStatus>;

/**
 * Why a part does not apply, beside the status NOT_APPLICABLE. `AT_TARGET`: it needed nothing. `NOT_STARTED`: the upgrade
 * ended before its turn. `EARLIER_PRODUCT_FAILED`: so did that of another product. `NOT_IN_SCOPE`: the request leaves it out.
 * `HOST_LEFT_CLUSTER`: the cluster does not list the host any more. `PRECHECK_FAILED`: a cluster is left out because it has
 * failed its prechecks, as the request asks for. `SKIPPED_BY_OPERATOR`: an operator has left it out later. `HELD`: an operator
 * holds the host.
 */
export const ReasonCode = OneOf(
  "AT_TARGET",
  "NOT_STARTED",
  "EARLIER_PRODUCT_FAILED",
  "NOT_IN_SCOPE",
  "HOST_LEFT_CLUSTER",
  "PRECHECK_FAILED",
  "SKIPPED_BY_OPERATOR",
  "HELD",
);
export type ReasonCode = t.TypeOf<typeof ReasonCode>;

/** State of a host when it was last read. `connection` is its component manager's word where it is not connected. */
export const HostState = model({ version: t.string, inMaintenanceMode: t.boolean }, { connection: t.string });
export type HostState = t.TypeOf<typeof HostState>;

/**
 * A part of a task; nests as deep as the work does: product, cluster, host (Spec 2.5). What programs decide by is in fields
 * of their own, beside the description, which is for people.
 */
export interface SubTask {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly status: SubTaskStatus;
  readonly creationTimestamp: string;
  readonly completionTimestamp?: string;
  readonly stages?: Stage[];
  readonly errors?: ErrorBody[];
  readonly resources?: TaskResource[];
  readonly subTasks?: SubTask[];
  readonly waitingFor?: WaitingFor;
  readonly reasonCode?: ReasonCode;
  /** Nothing new of it starts until the upgrade is resumed. */
  readonly isPaused?: boolean;
  /** Which attempt is in work or comes next, of how many. */
  readonly attempt?: number;
  readonly maximumAttempts?: number;
  /** How far the step in work is, 0 to 100. */
  readonly progressPercent?: number;
  /** Not all parts of it are kept: an earlier run of the prechecks. */
  readonly isTruncated?: boolean;
  /** Of a host that failed or was in work when its cluster ended before its end. */
  readonly hostState?: HostState;
}

export const SubTask: t.Type<SubTask, unknown, unknown> = t.recursion("SubTask", () =>
  model(
    { name: t.string, type: t.string, description: t.string, status: SubTaskStatus, creationTimestamp: Timestamp },
    {
      completionTimestamp: Timestamp,
      stages: t.array(Stage),
      errors: t.array(ErrorBody),
      resources: t.array(TaskResource),
      subTasks: t.array(SubTask),
      waitingFor: WaitingFor,
      reasonCode: ReasonCode,
      isPaused: t.boolean,
      attempt: WholeNumber,
      maximumAttempts: WholeNumber,
      progressPercent: WholeNumber,
      isTruncated: t.boolean,
      hostState: HostState,
    },
  ),
);

/** A message for machines (Spec 2.5). */
export const LocalizableDescriptionPack = model(
  {},
  { component: t.string, messageKey: t.string, arguments: t.array(t.string), message: t.string, bundle: t.string },
);

/** One spelling of each value of Spec 3: what we answer, and what the OpenAPI document shows. */
export const CanonicalTaskStatus = OneOf(
  "Pending",
  "In Progress",
  "Successful",
  "Failed",
  "Cancelled",
  "COMPLETED_WITH_WARNING",
  "SKIPPED",
);
export type CanonicalTaskStatus = t.TypeOf<typeof CanonicalTaskStatus>;

/** The twelve spellings of Spec 3, which requests may have. */
export const TaskStatus = OneOf(
  "PENDING",
  "Pending",
  "IN_PROGRESS",
  "In Progress",
  "SUCCESSFUL",
  "Successful",
  "FAILED",
  "Failed",
  "CANCELLED",
  "Cancelled",
  "COMPLETED_WITH_WARNING",
  "SKIPPED",
);
export type TaskStatus = t.TypeOf<typeof TaskStatus>;

export const ResolutionStatus = OneOf("RESOLVED", "UNRESOLVED");
export type ResolutionStatus = t.TypeOf<typeof ResolutionStatus>;

const always = { id: t.string, name: t.string, type: t.string, status: TaskStatus, creationTimestamp: Timestamp };
const sometimes = {
  localizableDescriptionPack: LocalizableDescriptionPack,
  completionTimestamp: Timestamp,
  errors: t.array(ErrorBody),
  resources: t.array(TaskResource),
  resolutionStatus: ResolutionStatus,
  isCancellable: t.boolean,
  isRetryable: t.boolean,
  waitingFor: WaitingFor,
  /** How long after its scheduled time the work has begun; absent where that was on time. */
  lateSeconds: WholeNumber,
  ...toldChangeRecord,
  ...toldOverride,
  /** What of its request has no effect. */
  warnings: t.array(RequestWarning),
  /** How old the oldest part of it is; absent where all Workflows that run have answered. */
  asOf: Timestamp,
};

/** The work of one upgrade as a client sees it (Spec 2.5). */
export const Task = model(always, { ...sometimes, subTasks: t.array(SubTask) });
export type Task = t.TypeOf<typeof Task>;

/** A Task without its SubTasks. */
export const TaskHeader = model(always, sometimes);
export type TaskHeader = t.TypeOf<typeof TaskHeader>;

/** One page of the list of Tasks, which have no `subTasks` there. */
export const PageOfTask = model({}, { elements: t.array(Task), pageMetadata: PageMetadata });
export type PageOfTask = t.TypeOf<typeof PageOfTask>;
