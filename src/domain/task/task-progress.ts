import type { ErrorBody } from "../errors";
import { firstPhase } from "../plan/schedule";
import { type Product, type ProductPlan, type ResourcePlan, resourcesOf, type UpgradePlan } from "../plan/upgrade-plan";
import { changeRecordOf } from "../spec/change-record";
import { type MaintenanceOverride, overrideOf } from "../spec/maintenance-override";
import type { Stage, SubTask, Task } from "../spec/task";
import { hasEnded, type HostVersion, statusOfPhase, type UpgradePhase } from "../spec/upgrade";
import { Closed } from "../opening";
import { toEpochMilliseconds } from "../timestamp";
import { acknowledgeFindings, type AcknowledgedFinding } from "./findings";
import { confirmStart, missStart } from "./late-start";
import { isLeftOut, type LeftOut, leaveOut } from "./left-out";
import { isBeyondRetry } from "./mgmt-progress";
import { checksAt, checksSubTask, checksType, withChecks } from "./own-checks";
import { changeLastPrechecks, endResourcePrechecks, precheckRun, precheckType, startPrechecks } from "./prechecks";
import { initialResourceSubTask, mergeResource } from "./resource-progress";
import { hasEndedPart, withPause } from "./sub-task";
import { begin, endPart, endWithParts, from, statusOfParts, withResource } from "./task-parts";

/** What happens to an upgrade, each with its time as a Timestamp. */
export type TaskProgress = { readonly at: string } &
  /** `errors` are added to those the Task already has. */
  (
    | {
        readonly type: "PhaseEntered";
        readonly phase: UpgradePhase;
        readonly errors?: readonly ErrorBody[];
        /** What the hosts run, as last read; told at a cancellation. */
        readonly hostVersions?: readonly HostVersion[];
      }
    /** Prechecks of these resources begin; a second run gets a SubTask of its own, earlier runs stay. */
    | { readonly type: "PrechecksStarted"; readonly resources: readonly ResourcePlan[] }
    | { readonly type: "ResourcePrechecked"; readonly resourceId: string; readonly stages: readonly Stage[] }
    | { readonly type: "PrechecksEnded" }
    /** Findings are acknowledged, or acknowledgements have ended. All that there are. */
    | { readonly type: "FindingsAcknowledged"; readonly acknowledged: readonly AcknowledgedFinding[] }
    /** A resource that has not begun, or has failed, is not to be upgraded. */
    | ({ readonly type: "ResourceLeftOut"; readonly resourceId: string; readonly error: ErrorBody } & LeftOut)
    | { readonly type: "ProductStarted" | "ProductEnded"; readonly product: Product }
    /** A product before it has failed, so this one will not begin. */
    | { readonly type: "ProductNotBegun"; readonly product: Product; readonly failed: Product }
    | { readonly type: "ResourceStarted"; readonly resourceId: string }
    /** These could not be begun at their time, and wait for a commit. */
    | { readonly type: "StartMissed"; readonly resources: readonly ResourcePlan[] }
    /** Nothing waits for a commit any more. */
    | { readonly type: "StartConfirmed" }
    /** Somebody had it ignore maintenance windows. */
    | { readonly type: "MaintenanceOverridden"; readonly maintenanceOverride: MaintenanceOverride }
    /** The work has begun by itself, but so many seconds after its time. */
    | { readonly type: "StartedLate"; readonly seconds: number }
    /**
     * A freeze keeps this resource from beginning, for which the message is why, or none does any more. `task`: the same of the
     * Task as a whole.
     */
    | { readonly type: "ClosureChanged"; readonly resourceId: string; readonly closed?: Closed; readonly task?: Closed }
    /** Checks of the inventory are asked, or were answered. All that there are. */
    | { readonly type: "ChecksChanged"; readonly subTask: SubTask }
    /** What a resource's own Workflow says of it. */
    | { readonly type: "ResourceChanged"; readonly resourceId: string; readonly subTask: SubTask }
    /** Somebody has cancelled it; it has not ended yet. */
    | { readonly type: "CancelRequested" }
    /** A failed upgrade is tried again: what has not succeeded starts anew, errors stay on the Task ({@link keepErrors}). */
    | { readonly type: "RetryStarted"; readonly resources: readonly ResourcePlan[] }
    /** Somebody gave up on a failed upgrade (`resolved`), or the time for that has run out. */
    | { readonly type: "ResolutionEnded"; readonly resolved: boolean }
  );

/** The Task of an upgrade that has been accepted: every step of the plan, all of them to come. Body of the 202. */
export function initialTask(plan: UpgradePlan): Task {
  const at = plan.creationTimestamp;
  const resources = resourcesOf(plan);
  const checks = checksAt(plan.checks, "BEFORE_UPGRADE");
  return {
    id: plan.id,
    name: plan.name,
    localizableDescriptionPack: {
      component: "upgrade-management-service",
      messageKey: "upgrade.task.name",
      arguments: [String(resources.length), plan.bundle.version ?? plan.bundle.id],
      message: plan.name,
    },
    type: "UPGRADE",
    status: statusOfPhase(firstPhase(plan)).task,
    creationTimestamp: at,
    subTasks: [
      precheckRun(1, resources, at),
      ...(checks.length > 0 ? [checksSubTask(checks, at)] : []),
      ...plan.products.map((product) => productSubTask(product, at)),
    ],
    resources: resources.flatMap((resource) => initialResourceSubTask(resource, at).resources ?? []),
    isCancellable: true,
    isRetryable: false,
    ...changeRecordOf(plan.spec),
    ...overrideOf(plan),
    ...(plan.warnings && { warnings: [...plan.warnings] }),
  };
}

/**
 * The next state of a Task. Pure; a final status is never left, except that a failed upgrade can be retried. Something
 * that cannot happen in a state leaves it as it is.
 */
export function applyProgress(task: Task, progress: TaskProgress): Task {
  const { at } = progress;
  if (!mayHappen(task, progress.type)) return task;
  switch (progress.type) {
    case "PhaseEntered":
      return enterPhase(task, progress);
    case "PrechecksStarted":
      return startPrechecks(takeBack(task, progress.resources, at), progress.resources, at);
    case "ResourcePrechecked":
      return endResourcePrechecks(task, progress.resourceId, progress.stages, at);
    case "ResourceLeftOut":
      return changeAll(task, (product) => withoutResource(product, progress));
    case "PrechecksEnded":
      return changeLastPrechecks(
        task,
        from("IN_PROGRESS", (run) => endWithParts(run, at)),
      );
    case "FindingsAcknowledged":
      return acknowledgeFindings(task, progress.acknowledged, toEpochMilliseconds(at));
    case "ProductStarted":
      return changeProduct(task, progress.product, from("PENDING", begin));
    case "ProductEnded":
      return changeProduct(
        task,
        progress.product,
        from("IN_PROGRESS", (product) => endWithParts(product, at)),
      );
    case "ProductNotBegun":
      return changeProduct(
        task,
        progress.product,
        from("PENDING", (product) => notBegun(endPart(product, at, false), progress.failed)),
      );
    case "ResourceStarted":
      return changeResource(task, progress.resourceId, from("PENDING", begin));
    case "StartMissed":
      return missStart(task, progress.resources, at);
    case "StartConfirmed":
      return confirmStart(task);
    case "MaintenanceOverridden":
      return { ...task, ...overrideOf(progress) };
    case "ClosureChanged":
      return changeFreeze(task, progress);
    case "ChecksChanged":
      return withChecks(task, progress.subTask);
    case "StartedLate":
      return startLate(task, progress.seconds);
    case "ResourceChanged":
      return changeResource(task, progress.resourceId, (known) => (hasEndedPart(known) ? known : progress.subTask));
    case "CancelRequested":
      return { ...task, isCancellable: false };
    case "RetryStarted":
      return startRetry(task, progress.resources, at);
    case "ResolutionEnded":
      return {
        ...task,
        isRetryable: false,
        isCancellable: false,
        ...(progress.resolved && { resolutionStatus: "RESOLVED" }),
      };
  }
}

/** Puts what resources' own Workflows say in the place of what the upgrade keeps of them, by resource id. */
export function withResources(task: Task, own: ReadonlyMap<string, SubTask>): Task {
  return changeAll(task, (product) => ({
    ...product,
    ...(product.subTasks && {
      subTasks: product.subTasks.map((known) => {
        const detailed = own.get(known.resources?.[0]?.resourceId ?? "");
        if (!detailed) return known;
        if (isLeftOut(known)) return withHostsOf(known, detailed);
        const merged = waitingAs(known, mergeResource(known, detailed));
        // Its own Workflow knows that it was not begun, its upgrade knows why.
        return product.reasonCode === "EARLIER_PRODUCT_FAILED"
          ? { ...merged, reasonCode: product.reasonCode, description: known.description }
          : merged;
      }),
    }),
  }));
}

/** A product without a resource that is left out. One that had failed for that resource alone has failed no longer. */
function withoutResource(
  product: SubTask,
  { resourceId, at, error, ...why }: Extract<TaskProgress, { readonly type: "ResourceLeftOut" }>,
): SubTask {
  const changed = withResource(product, resourceId, (part) =>
    part.status === "IN_PROGRESS" || part.status === "SUCCESSFUL" ? part : leaveOut(part, why, error, at),
  );
  if (product.status !== "FAILED") return changed;
  const { subTasks = [] } = changed;
  const isOpen = subTasks.some(({ status, reasonCode }) => status === "FAILED" || reasonCode === "NOT_STARTED");
  return isOpen ? changed : { ...changed, status: statusOfParts(changed) };
}

/** A resource that has not begun knows nothing of what its upgrade waits for before it. */
function waitingAs({ status, waitingFor }: SubTask, own: SubTask): SubTask {
  return status === "PENDING" && waitingFor ? { ...own, waitingFor } : own;
}

/** A resource that is left out; of one that has failed before its own Workflow knows how far its hosts were. */
function withHostsOf(known: SubTask, { subTasks = [], stages }: SubTask): SubTask {
  return subTasks.length === 0 ? known : { ...known, subTasks, ...(stages && { stages }) };
}

/** A product that another one keeps from beginning: it says why, and so does each of its resources. */
function notBegun(product: SubTask, failed: Product): SubTask {
  const because = {
    reasonCode: "EARLIER_PRODUCT_FAILED" as const,
    description: `Not started, because the upgrade of ${failed} failed.`,
  };
  const subTasks = product.subTasks?.map((resource) => ({ ...resource, ...because }));
  return { ...product, ...because, ...(subTasks && { subTasks }) };
}

/** Only a failed upgrade can be retried or given up, and its findings acknowledged; nothing else happens to one that is over. */
function mayHappen(task: Task, type: TaskProgress["type"]): boolean {
  if (type === "FindingsAcknowledged") return !isOver(task) || task.resolutionStatus === "UNRESOLVED";
  if (type === "ResourceLeftOut" && task.status === "Failed") return task.resolutionStatus === "UNRESOLVED";
  if (type === "RetryStarted") return task.status === "Failed" && task.isRetryable === true;
  if (type === "ResolutionEnded") return task.status === "Failed" && task.resolutionStatus === "UNRESOLVED";
  return !isOver(task);
}

function productSubTask({ product, resources }: ProductPlan, at: string): SubTask {
  const common = { name: `Upgrade ${product}`, type: `${product}_UPGRADE`, creationTimestamp: at };
  if (resources.length === 0) {
    const description = `No cluster of the request has ${product} in the inventory: nothing to do.`;
    return { ...common, status: "NOT_APPLICABLE", reasonCode: "AT_TARGET", description, completionTimestamp: at };
  }
  return {
    ...common,
    description: productDescription(product),
    status: "PENDING",
    subTasks: resources.map((resource) => initialResourceSubTask(resource, at)),
  };
}

function productDescription(product: string): string {
  return `Upgrade ${product} of every resource; resources run in parallel.`;
}

function enterPhase(
  task: Task,
  { phase, at, errors = [], hostVersions = [] }: Extract<TaskProgress, { readonly type: "PhaseEntered" }>,
): Task {
  const ended = hasEnded(phase);
  const { completionTimestamp: _before, ...rest } = ended ? confirmStart(task) : task;
  const cancelled = phase === "CANCELLED";
  const succeeded = ended && phase !== "FAILED" && !cancelled;
  const parts = rest.subTasks?.map((part) =>
    ended ? endPart(part, at, cancelled) : withPause(part, phase === "PAUSED" && isUnderWay(part)),
  );
  return {
    ...rest,
    ...describeTask(task, phase, hostVersions),
    status: statusOfPhase(phase).task,
    // A cancellation is never taken back.
    isCancellable: !ended && task.isCancellable !== false,
    isRetryable: phase === "FAILED" && !errors.some(isBeyondRetry),
    ...(ended && { completionTimestamp: at }),
    ...(parts && { subTasks: parts }),
    ...(errors.length > 0 && { errors: keepErrors(task.errors ?? [], errors) }),
    ...(phase === "FAILED" && { resolutionStatus: "UNRESOLVED" }),
    ...(succeeded && task.resolutionStatus && { resolutionStatus: "RESOLVED" }),
  };
}

/** What waits for a commit goes on saying that. */
function changeFreeze(
  task: Task,
  { resourceId, closed, task: own, at }: Extract<TaskProgress, { readonly type: "ClosureChanged" }>,
): Task {
  const changed = changeAll(task, (product) =>
    withResource(
      product,
      resourceId,
      from("PENDING", (resource) => waitingForThaw(resource, closed, at)),
    ),
  );
  return waitingForThaw(changed, own, at);
}

function waitingForThaw<T extends Pick<Task, "waitingFor">>(part: T, closed: Closed | undefined, at: string): T {
  const { waitingFor, ...rest } = part;
  if (waitingFor && !Closed.is(waitingFor)) return part;
  if (closed === undefined) return rest as T;
  return waitingFor?.message === closed.message ? part : { ...part, waitingFor: { ...closed, since: at } };
}

/** It is told how late the latest of its resources has begun. */
function startLate(task: Task, seconds: number): Task {
  const late = { ...task, lateSeconds: Math.max(task.lateSeconds ?? 0, seconds) };
  return { ...late, ...describeTask(late, "RUNNING") };
}

/** Resources that earlier prechecks have left out are checked again like the others. */
function takeBack(task: Task, resources: readonly ResourcePlan[], at: string): Task {
  const again = new Map(resources.map((resource) => [resource.resourceId, resource]));
  return changeAll(task, (product) => ({
    ...product,
    ...(product.subTasks && {
      subTasks: product.subTasks.map((part) => {
        const resource = again.get(part.resources?.[0]?.resourceId ?? "");
        return resource && part.reasonCode === "PRECHECK_FAILED" ? initialResourceSubTask(resource, at) : part;
      }),
    }),
  }));
}

function startRetry(
  { completionTimestamp: _ended, ...task }: Task,
  resources: readonly ResourcePlan[],
  at: string,
): Task {
  const again = new Map(resources.map((resource) => [resource.resourceId, initialResourceSubTask(resource, at)]));
  return {
    ...task,
    status: statusOfPhase("ACCEPTED").task,
    isRetryable: false,
    isCancellable: true,
    subTasks: (task.subTasks ?? []).map((part) => {
      if (!isProduct(part)) return part;
      const { completionTimestamp: _before, errors: _earlier, reasonCode: _ofTheEnd, ...product } = part;
      const subTasks = part.subTasks?.map((inner) => again.get(inner.resources?.[0]?.resourceId ?? "") ?? inner) ?? [];
      return subTasks.some((inner) => inner.status === "PENDING")
        ? {
            ...product,
            description: productDescription(part.type.replace(/_UPGRADE$/, "")),
            status: "PENDING",
            subTasks,
          }
        : part;
    }),
  };
}

function isOver({ status }: Task): boolean {
  return status !== "Pending" && status !== "In Progress";
}

/** A product of which something is in work, or may be. */
function isUnderWay({ type, status }: SubTask): boolean {
  return type !== precheckType && status === "IN_PROGRESS";
}

function changeProduct(task: Task, product: Product, change: (part: SubTask) => SubTask): Task {
  return changeAll(task, (part) => (part.type === `${product}_UPGRADE` ? change(part) : part));
}

/** A resource changes only while its product is under way. */
function changeResource(task: Task, resourceId: string, change: (resource: SubTask) => SubTask): Task {
  return changeAll(
    task,
    from("IN_PROGRESS", (product) => withResource(product, resourceId, change)),
  );
}

/** Changes the products, not the prechecks and checks. */
function changeAll(task: Task, change: (part: SubTask) => SubTask): Task {
  return { ...task, subTasks: (task.subTasks ?? []).map((part) => (isProduct(part) ? change(part) : part)) };
}

function isProduct({ type }: SubTask): boolean {
  return type !== precheckType && type !== checksType;
}

/** The part of a Task that says in words where the upgrade stands, where its status alone does not say enough. */
function describeTask(
  task: Task,
  phase: UpgradePhase,
  hostVersions: readonly HostVersion[] = [],
): Pick<Task, "localizableDescriptionPack"> {
  const { localizableDescriptionPack: pack, name } = task;
  if (!pack) return {};
  const planned = pack.arguments?.slice(0, plannedArguments) ?? [];
  if (phase === "PAUSED") {
    const message = `${name}: paused. Running work finishes; nothing new starts until it is resumed.`;
    return saying({ ...pack, messageKey: "upgrade.task.paused", arguments: planned, message });
  }
  if (phase === "CANCELLED") {
    const counts = countResources(task);
    return saying({
      ...pack,
      messageKey: "upgrade.task.cancelled",
      arguments: [...planned, ...Object.values(counts).map(String)],
      message: `${name}: cancelled. ${sentence(counts)}${versionsInWords(hostVersions)}`,
    });
  }
  if (phase === "START_MISSED") {
    const message = `${name}: waits for a commit, because it missed its scheduled time.`;
    return saying({ ...pack, messageKey: "upgrade.task.start-missed", arguments: planned, message });
  }
  if (task.lateSeconds !== undefined) {
    const minutes = Math.floor(task.lateSeconds / 60);
    const message = `${name}: started ${minutes === 1 ? "1 minute" : `${minutes} minutes`} late.`;
    return saying({ ...pack, messageKey: "upgrade.task.late", arguments: [...planned, String(minutes)], message });
  }
  return saying({ ...pack, messageKey: "upgrade.task.name", arguments: planned, message: name });
}

/** How many of the pack's arguments come from the plan: the number of resources and the version. */
const plannedArguments = 2;

function saying(localizableDescriptionPack: Required<Task>["localizableDescriptionPack"]) {
  return { localizableDescriptionPack };
}

interface ResourceCounts {
  readonly upgraded: number;
  readonly needless: number;
  readonly interrupted: number;
  readonly notBegun: number;
}

/** Resources by what a cancellation found them at; each cancelled or failed one is `interrupted`. */
function countResources({ subTasks = [] }: Task): ResourceCounts {
  const resources = subTasks
    .filter(({ type }) => type.endsWith("_UPGRADE"))
    .flatMap((product) => product.subTasks ?? []);
  const count = (...statuses: SubTask["status"][]) =>
    resources.filter(({ status }) => statuses.includes(status)).length;
  return {
    upgraded: count("SUCCESSFUL"),
    needless: count("NOT_APPLICABLE"),
    interrupted: count("IN_PROGRESS", "FAILED"),
    notBegun: count("PENDING"),
  };
}

function versionsInWords(versions: readonly HostVersion[]): string {
  if (versions.length === 0) return "";
  return ` Hosts by version: ${versions.map(({ version, hosts }) => `${hosts} on ${version}`).join(", ")}.`;
}

function sentence({ upgraded, needless, interrupted, notBegun }: ResourceCounts): string {
  const total = upgraded + needless + interrupted + notBegun;
  const counts = [
    `${upgraded} upgraded`,
    ...(needless > 0 ? [`${needless} at the target before`] : []),
    `${interrupted} interrupted`,
    `${notBegun} not started`,
  ];
  return `${total === 1 ? "1 resource" : `${total} resources`}: ${counts.join(", ")}.`;
}

/** How many errors a Task keeps: more than one attempt can have, and few enough for a payload of Temporal. */
const keptErrors = 300;

/** The errors of a Task after another attempt, the oldest first. All of the latest attempt stay, and as many of those before as there is room for. */
export function keepErrors(earlier: readonly ErrorBody[], latest: readonly ErrorBody[]): ErrorBody[] {
  const room = Math.max(0, keptErrors - latest.length);
  return [...earlier.slice(Math.max(0, earlier.length - room)), ...latest];
}
