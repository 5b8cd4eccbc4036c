import type { ConsoleSession } from "../../domain/console-config";
import { isSamePerson } from "../../domain/requests/approvals";
import type { Task } from "../../domain/spec/task";
import type { Upgrade, UpgradeStatus } from "../../domain/spec/upgrade";
import { awaitsLateCommit } from "../../domain/task/late-start";
import { hasTaskEnded } from "../../domain/task/lost-upgrade";
import { prechecksPassed } from "../../domain/task/prechecks";
import { clustersOf, hostProgressOfTask } from "./host-progress";
import { plural, shortList } from "./labels";
import { type ChoiceGroup, mayLeaveOut, retryChoices, skipChoices } from "./part-choices";
import { pausingCheck } from "./own-checks";
import { exactTime } from "./local-time";

type OperationName =
  | "commit"
  | "reschedule"
  | "pause"
  | "resume"
  | "cancel"
  | "retry"
  | "resolve"
  | "prechecks"
  | "approve"
  | "reject"
  | "skip"
  | "ignoreWindows";

/** Something that can be asked of an upgrade now: the button, what it will do, and the request that does it. */
export interface Operation {
  readonly name: OperationName;
  readonly label: string;
  /** Sentences for the one who is asked to confirm. */
  readonly consequences: readonly string[];
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** Whether a time may or must be given with it. */
  readonly time?: "OPTIONAL" | "REQUIRED";
  /** Whether a comment may or must be given with it. */
  readonly comment?: "OPTIONAL" | "REQUIRED";
  /** The parts of which one is chosen; asked for when it is, because there may be thousands. */
  readonly parts?: () => readonly ChoiceGroup[];
  /** Whether it ends or gives up something. */
  readonly isGrave?: true;
  /** Who is refused: it is for approvers, and not for these. */
  readonly notFor?: readonly string[];
  /** The only role that may do it. */
  readonly onlyFor?: "ADMIN";
  /** What the request says in any case. */
  readonly body?: Readonly<Record<string, string>>;
}

/** The operations that the service would accept now, the most likely one first. */
export function operationsOf(upgraded: Upgrade, task: Task): Operation[] {
  const { id, status } = upgraded;
  const consequences = consequencesOf(upgraded, task);
  const upgrade = `/v1/upgrades/${id}`;
  const possible: (Operation | false)[] = [
    ...approvalOperations(upgraded, task, upgrade),
    (awaitsCommit(status, task) === "READY" || awaitsLateCommit(task)) && {
      name: "commit",
      label: "Commit",
      consequences: consequences.commit,
      method: "PATCH",
      path: upgrade,
      time: "OPTIONAL",
    },
    upgraded.waitingFor?.code === "WINDOW" && {
      name: "ignoreWindows",
      label: "Ignore window…",
      consequences: [
        "From now on the upgrade waits for no maintenance window and no change freeze. An emergency stop still holds.",
        "Who did this and why stays on the upgrade. Unless work has begun, its approvals are dropped.",
      ],
      method: "PATCH",
      path: upgrade,
      body: { maintenanceWindow: "IGNORE" },
      comment: "REQUIRED",
      onlyFor: "ADMIN",
    },
    status === "SCHEDULED" && {
      name: "reschedule",
      label: "Reschedule",
      consequences: consequences.reschedule,
      method: "PATCH",
      path: upgrade,
      time: "REQUIRED",
    },
    awaitsCommit(status, task) !== undefined && {
      name: "prechecks",
      label: "Run prechecks",
      consequences: consequences.prechecks,
      method: "POST",
      path: `${upgrade}/prechecks`,
    },
    status === "INPROGRESS" && {
      name: "pause",
      label: "Pause",
      consequences: consequences.pause,
      method: "POST",
      path: `${upgrade}/pause`,
    },
    status === "PAUSED" && {
      name: "resume",
      label: "Resume",
      consequences: consequences.resume,
      method: "POST",
      path: `${upgrade}/resume`,
    },
    task.isRetryable === true && {
      name: "retry",
      label: "Retry",
      consequences: consequences.retry,
      ...(retryChoices(task).length === 0
        ? { method: "PATCH", path: `/v1/tasks/${id}` }
        : { method: "POST", path: `${upgrade}/retry`, parts: () => retryChoices(task) }),
    },
    isGoingOn(status, task) &&
      mayLeaveOut(task) && {
        name: "skip",
        label: "Leave out…",
        consequences: [
          "What you choose is not upgraded, and the upgrade ends with a warning.",
          ...(status === "COMPLETED_WITH_FAILURE" ? ["Retry the upgrade afterwards."] : []),
        ],
        method: "POST",
        path: `${upgrade}/skip`,
        parts: () => skipChoices(task),
        comment: "REQUIRED",
      },
    status === "COMPLETED_WITH_FAILURE" &&
      task.resolutionStatus === "UNRESOLVED" && {
        name: "resolve",
        label: "Give up",
        consequences: consequences.resolve,
        method: "POST",
        path: `${upgrade}/resolve`,
        isGrave: true,
      },
    task.isCancellable === true && {
      name: "cancel",
      label: "Cancel upgrade",
      consequences: consequences.cancel,
      method: "DELETE",
      path: `/v1/tasks/${id}`,
      isGrave: true,
    },
  ];
  return possible.filter((operation) => operation !== false);
}

/** The operations among these that the service takes from this person. */
export function operationsFor(
  { caller, role, mayApprove }: Omit<ConsoleSession, "mayOperate">,
  operations: readonly Operation[],
): Operation[] {
  return operations
    .filter(({ notFor }) => !notFor || (mayApprove && !includesPerson(notFor, caller)))
    .filter(({ onlyFor }) => onlyFor === undefined || onlyFor === role);
}

/** Who may give the approvals that are missing, for those who may not; undefined where none are missing, or this person may. */
export function whoMayApprove(
  operations: readonly Operation[],
  { approvals }: Upgrade,
  who: Omit<ConsoleSession, "mayOperate">,
): string | undefined {
  const mayBeGiven = (all: readonly Operation[]) => all.some(({ name }) => name === "approve");
  if (!approvals || !mayBeGiven(operations) || mayBeGiven(operationsFor(who, operations))) return undefined;
  const { askedBy = [], given, required } = approvals;
  const missing = required - given.length;
  const wanted =
    missing === 1
      ? "It needs 1 more approval, from another person with the role APPROVER"
      : `It needs ${missing} more approvals, from other people with the role APPROVER`;
  if (includesPerson(askedBy, who.caller)) return `You asked for this upgrade, so you cannot approve it. ${wanted}.`;
  if (who.mayApprove) return `You have approved this upgrade. ${wanted}.`;
  const except = askedBy.length > 0 ? `, except ${shortList(askedBy)}, who asked for it` : "";
  return `${wanted}${except}.`;
}

function includesPerson(names: readonly string[], caller: string): boolean {
  return names.some((name) => isSamePerson(name, caller));
}

/** Approval and rejection, while the upgrade takes them. */
function approvalOperations({ approvals, phase, startedAt }: Upgrade, task: Task, path: string): Operation[] {
  const isPossible = phase === "DRAFT_READY" || phase === "ACTION_REQUIRED" || phase === "SCHEDULED";
  if (!approvals || !isPossible || !prechecksPassed(task) || hasTaskEnded(task)) return [];
  const { askedBy = [], given } = approvals;
  const missing = approvals.required - given.length;
  const approve: Operation = {
    method: "POST",
    notFor: [...askedBy, ...given.map(({ by }) => by)],
    name: "approve",
    label: "Approve",
    consequences: [
      missing > 1
        ? `${missing} approvals are missing; this is one of them.`
        : "This is the last approval that is missing.",
      ...(missing > 1 ? [] : [afterApproval(phase)]),
      "It is for the upgrade as it is planned now: another time needs new approvals.",
    ],
    path: `${path}/approve`,
    comment: "OPTIONAL",
  };
  const reject: Operation = {
    method: "POST",
    notFor: askedBy,
    name: "reject",
    label: "Reject",
    consequences: ["The upgrade ends as cancelled, with your reason. No host has been touched."],
    path: `${path}/reject`,
    comment: "REQUIRED",
    isGrave: true,
  };
  return [...(missing > 0 ? [approve] : []), ...(startedAt === undefined ? [reject] : [])];
}

function afterApproval(phase: Upgrade["phase"]): string {
  return phase === "DRAFT_READY"
    ? "The draft then waits for its commit."
    : "The upgrade then starts at its time, or immediately if that has come.";
}

/** What an upgrade consists of now, in the words of a sentence. */
interface Facts {
  readonly clusters: string;
  readonly version: string;
  /** When which cluster begins; empty where nothing says so. */
  readonly schedule: readonly string[];
  /** Hosts in work, by name; empty where there are none. */
  readonly running: string;
  readonly done: number;
  readonly failed: number;
  readonly left: number;
  readonly hasBegun: boolean;
}

/** What each operation would do to this upgrade as it is now: a few sentences each, for the one who has to confirm. */
export function consequencesOf(upgrade: Upgrade, task: Task) {
  const facts = factsOf(upgrade, task);
  const { clusters, version, schedule, running, done, left } = facts;
  const finished = running && `${running} ${running.includes(" and ") ? "are" : "is"}`;
  return {
    commit: awaitsLateCommit(task)
      ? [`What missed its start will be upgraded to ${version}.`, "Without a time it starts immediately."]
      : [
          `${clusters} will be locked by this upgrade and upgraded to ${version}.`,
          ...(schedule.length > 0
            ? ["Without a time the schedule stays:", ...schedule]
            : ["Without a time it starts immediately."]),
        ],
    reschedule: [
      `${clusters} will all start at the new time.`,
      ...(schedule.length > 0 ? ["Current schedule:", ...schedule] : []),
    ],
    prechecks: [`The prechecks of ${clusters} run again. They change nothing; earlier runs stay readable.`],
    pause: [
      finished ? `${finished} finished first, with the remaining retries.` : "No host is being upgraded.",
      left > 0 ? `${plural(left, "host")} will not start until you resume.` : "Nothing new starts until you resume.",
    ],
    resume: [
      ...acceptedCheck(task),
      left > 0
        ? `${plural(left, "host")} of ${clusters} will be upgraded to ${version}.`
        : "It continues where it was paused.",
      ...(done > 0 ? [`${plural(done, "host")} already done will not be touched again.`] : []),
    ],
    retry: [
      facts.hasBegun
        ? `${plural(facts.failed, "failed host")} and ${plural(left, "host")} not started in ${clusters} will be upgraded, under the same id.`
        : `What failed will be retried from the beginning, for ${clusters}, under the same id.`,
      ...(done > 0 ? [`${plural(done, "host")} already done will not be upgraded again.`] : []),
    ],
    resolve: [
      "The upgrade ends as failed and can no longer be retried.",
      ...remainders(facts, facts.left + facts.failed === 1 ? "stays as it is" : "stay as they are"),
    ],
    cancel: cancelWords(facts, upgrade.status, finished),
  };
}

/** Whoever resumes what an own check has paused says that it may go on without. */
function acceptedCheck(task: Task): string[] {
  const error = pausingCheck(task);
  return error ? [`You accept this: ${error.message}`] : [];
}

function cancelWords(facts: Facts, status: Upgrade["status"], finished: string): string[] {
  if (status === "DRAFT") return ["The draft is discarded. No host has been touched, and none will be."];
  if (!facts.hasBegun)
    return [`${facts.clusters} will not be upgraded.`, ...facts.schedule, "No host has been touched so far."];
  return [
    finished ? `${finished} finished safely first, so this may take a while.` : "No host is being upgraded.",
    ...remainders(facts, "will not be upgraded"),
    "A cancelled upgrade cannot be resumed.",
  ];
}

function remainders({ done, failed, left, version }: Facts, fate: string): string[] {
  return [
    ...(done > 0 ? [`${plural(done, "host")} done ${done === 1 ? "stays" : "stay"} at ${version}.`] : []),
    ...(left + failed > 0 ? [`${plural(left + failed, "host")} not done ${fate}.`] : []),
  ];
}

function factsOf({ bundle, resourceUpgradeSpecs = [] }: Upgrade, task: Task): Facts {
  const parts = clustersOf(task);
  const { total, done, failed, left } = hostProgressOfTask(task);
  const nameOf = (id: string) =>
    parts.flatMap(({ resources = [] }) => resources).find(({ resourceId }) => resourceId === id)?.name ?? id;
  const names = resourceUpgradeSpecs.map(({ resourceId }) => nameOf(resourceId));
  const running = parts
    .flatMap(({ subTasks = [] }) => subTasks)
    .filter(({ status }) => status === "IN_PROGRESS")
    .map(({ name }) => name);
  return {
    clusters: names.length > 0 ? shortList(names) : "All of its clusters",
    version: bundle?.version ?? "the version of its bundle",
    schedule: scheduleOf(resourceUpgradeSpecs, nameOf),
    running: shortList(running),
    done,
    failed,
    left,
    hasBegun: total > 0,
  };
}

/** The clusters that begin at the same time in one line. */
function scheduleOf(specs: NonNullable<Upgrade["resourceUpgradeSpecs"]>, nameOf: (id: string) => string): string[] {
  const times = new Map<string, string[]>();
  for (const { resourceId, scheduledTimestamp, upgradeNow } of specs)
    if (scheduledTimestamp !== undefined && upgradeNow !== true)
      times.set(scheduledTimestamp, [...(times.get(scheduledTimestamp) ?? []), nameOf(resourceId)]);
  return [...times]
    .sort(([a], [b]) => Date.parse(a) - Date.parse(b))
    .map(([time, names]) => `${shortList(names)} at ${exactTime(Date.parse(time))}.`);
}

/** Whether something can still be left out of an upgrade. */
function isGoingOn(status: UpgradeStatus | undefined, task: Task): boolean {
  if (status === "COMPLETED_WITH_FAILURE") return task.resolutionStatus === "UNRESOLVED";
  return task.isCancellable === true;
}

/** Whether a draft waits for somebody: READY to be committed, or with failed prechecks. Undefined of anything else. */
function awaitsCommit(status: UpgradeStatus | undefined, task: Task): "READY" | "PRECHECKS_FAILED" | undefined {
  if (status !== "DRAFT") return undefined;
  const latest = (task.subTasks ?? []).filter(({ type }) => type === "PRECHECKS").at(-1);
  if (!latest || latest.status === "PENDING" || latest.status === "IN_PROGRESS") return undefined;
  return latest.status === "FAILED" ? "PRECHECKS_FAILED" : "READY";
}
