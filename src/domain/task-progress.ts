import { endStages, interrupted } from "./cluster-progress";
import type { ErrorBody } from "./error-body";
import { isBeyondRetry } from "./mgmt-progress";
import { withPause } from "./paused-part";
import { keepRuns } from "./precheck-history";
import { initialResourceSubTask, mergeResource, resourceTitle } from "./resource-progress";
import { describeTask } from "./task-description";
import type { Stage, SubTask, SubTaskStatus, Task } from "./task";
import { resourcesOf, type Product, type ProductPlan, type ResourcePlan, type UpgradePlan } from "./upgrade-plan";
import { hasEnded, statusOfPhase, type UpgradePhase } from "./upgrade-status";

/** What happens to an upgrade, each with its time as a Timestamp. */
export type TaskProgress = { readonly at: string } &
  /** `errors` are added to those the Task already has. */
  (
    | { readonly type: "PhaseEntered"; readonly phase: UpgradePhase; readonly errors?: readonly ErrorBody[] }
    /** Prechecks of these resources begin; a second run gets a SubTask of its own, earlier runs stay. */
    | { readonly type: "PrechecksStarted"; readonly resources: readonly ResourcePlan[] }
    | { readonly type: "ResourcePrechecked"; readonly resourceId: string; readonly stages: readonly Stage[] }
    | { readonly type: "PrechecksEnded" }
    | { readonly type: "ProductStarted" | "ProductEnded"; readonly product: Product }
    /** A product before it has failed, so this one will not begin. */
    | { readonly type: "ProductNotBegun"; readonly product: Product; readonly failed: Product }
    | { readonly type: "ResourceStarted"; readonly resourceId: string }
    /** What a resource's own Workflow says of it. */
    | { readonly type: "ResourceChanged"; readonly resourceId: string; readonly subTask: SubTask }
    /** A failed upgrade is tried again: what has not succeeded starts anew, errors stay on the Task. */
    | { readonly type: "RetryStarted"; readonly resources: readonly ResourcePlan[] }
    /** Somebody gave up on a failed upgrade (`resolved`), or the time for that has run out. */
    | { readonly type: "ResolutionEnded"; readonly resolved: boolean }
  );

/** The Task of an upgrade that has been accepted: every step of the plan, all of them to come. Body of the 202. */
export function initialTask(plan: UpgradePlan): Task {
  const at = plan.creationTimestamp;
  const phase: UpgradePhase = plan.draft ? "DRAFT_ACCEPTED" : "ACCEPTED";
  const resources = resourcesOf(plan);
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
    status: statusOfPhase(phase).task,
    creationTimestamp: at,
    subTasks: [precheckRun(1, resources, at), ...plan.products.map((product) => productSubTask(product, at))],
    resources: resources.flatMap((resource) => initialResourceSubTask(resource, at).resources ?? []),
    isCancellable: true,
    isRetryable: false,
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
      return enterPhase(task, progress.phase, at, progress.errors ?? []);
    case "PrechecksStarted":
      return startPrechecks(task, progress.resources, at);
    case "ResourcePrechecked":
      return changeLastPrechecks(task, (run) =>
        withResource(run, progress.resourceId, from("IN_PROGRESS", precheckedBy(progress.stages, at))),
      );
    case "PrechecksEnded":
      return changeLastPrechecks(
        task,
        from("IN_PROGRESS", (run) => endWithParts(run, at)),
      );
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
    case "ResourceChanged":
      return changeResource(task, progress.resourceId, (known) => (hasEndedPart(known) ? known : progress.subTask));
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
        const merged = mergeResource(known, detailed);
        // Its own Workflow knows that it was not begun, its upgrade knows why.
        return isNotBegun(product) ? { ...merged, description: known.description } : merged;
      }),
    }),
  }));
}

const notBegunBecause = "Not begun, because the upgrade of ";

/** A product that another one keeps from beginning: it says why, and so does each of its resources. */
function notBegun(product: SubTask, failed: Product): SubTask {
  const description = `${notBegunBecause}${failed} failed.`;
  const subTasks = product.subTasks?.map((resource) => ({ ...resource, description }));
  return { ...product, description, ...(subTasks && { subTasks }) };
}

function isNotBegun({ status, description }: SubTask): boolean {
  return status === "NOT_APPLICABLE" && description.startsWith(notBegunBecause);
}

/** Only a failed upgrade can be retried or given up; nothing else happens to one that is over. */
function mayHappen(task: Task, type: TaskProgress["type"]): boolean {
  if (type === "RetryStarted") return task.status === "Failed" && task.isRetryable === true;
  if (type === "ResolutionEnded") return task.status === "Failed" && task.resolutionStatus === "UNRESOLVED";
  return !isOver(task);
}

const precheckType = "PRECHECKS";

/** How many runs of the prechecks have begun. */
export function precheckRuns({ subTasks = [] }: Task): number {
  return subTasks.filter(({ type, status }) => type === precheckType && status !== "PENDING").length;
}

function precheckRun(run: number, resources: readonly ResourcePlan[], at: string): SubTask {
  return {
    name: run === 1 ? "Prechecks" : `Prechecks, run ${run}`,
    type: precheckType,
    description: "Check that every resource can be upgraded; changes nothing.",
    status: "PENDING",
    creationTimestamp: at,
    subTasks: resources.map((resource) => ({
      name: `Check ${lowerFirst(resourceTitle(resource))}`,
      type: `${typeOf(resource)}_PRECHECKS`,
      description: `Check that ${lowerFirst(resourceTitle(resource))} can be upgraded.`,
      status: "PENDING",
      creationTimestamp: at,
      resources: initialResourceSubTask(resource, at).resources ?? [],
    })),
  };
}

function productSubTask({ product, resources }: ProductPlan, at: string): SubTask {
  const common = { name: `Upgrade ${product}`, type: `${product}_UPGRADE`, creationTimestamp: at };
  if (resources.length === 0) {
    const description = `None of the request's clusters has ${product} in the inventory: nothing to do.`;
    return { ...common, status: "NOT_APPLICABLE", description, completionTimestamp: at };
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

function enterPhase(task: Task, phase: UpgradePhase, at: string, errors: readonly ErrorBody[]): Task {
  const { completionTimestamp: _before, ...rest } = task;
  const ended = hasEnded(phase);
  const cancelled = phase === "CANCELLED";
  const succeeded = ended && phase !== "FAILED" && !cancelled;
  const parts = task.subTasks?.map((part) =>
    ended ? endPart(part, at, cancelled) : withPause(part, phase === "PAUSED" && isUnderWay(part)),
  );
  return {
    ...rest,
    ...describeTask(task, phase),
    status: statusOfPhase(phase).task,
    isCancellable: !ended,
    isRetryable: phase === "FAILED" && !errors.some(isBeyondRetry),
    ...(ended && { completionTimestamp: at }),
    ...(parts && { subTasks: parts }),
    ...(errors.length > 0 && { errors: [...(task.errors ?? []), ...errors] }),
    ...(phase === "FAILED" && { resolutionStatus: "UNRESOLVED" }),
    ...(succeeded && task.resolutionStatus && { resolutionStatus: "RESOLVED" }),
  };
}

/** What never began does not apply any more; what was under way was interrupted or ends with its parts. */
function endPart(part: SubTask, at: string, cancelled: boolean): SubTask {
  const subTasks = part.subTasks?.map((inner) => endPart(inner, at, cancelled));
  if (part.status === "PENDING") {
    const { stages: _neverBegun, ...rest } = part;
    return {
      ...rest,
      ...(cancelled && { description: "Not begun, because the upgrade was cancelled." }),
      status: "NOT_APPLICABLE",
      completionTimestamp: at,
      ...(subTasks && { subTasks }),
    };
  }
  if (part.status !== "IN_PROGRESS") return part;
  const error = cancelled ? interrupted(part.name) : undefined;
  return {
    ...withPause(part, false),
    status: "FAILED",
    completionTimestamp: at,
    ...(part.stages && { stages: endStages(part.stages, at, error) }),
    ...(subTasks && { subTasks }),
    ...(error && { errors: [error] }),
  };
}

function startPrechecks(task: Task, resources: readonly ResourcePlan[], at: string): Task {
  const parts = task.subTasks ?? [];
  const runs = parts.filter((part) => part.type === precheckType);
  const others = parts.filter((part) => part.type !== precheckType);
  const waiting = runs.at(-1)?.status === "PENDING";
  const earlier = waiting ? runs.slice(0, -1) : runs;
  const run = { ...precheckRun(earlier.length + 1, resources, at), status: "IN_PROGRESS" as const };
  const started = run.subTasks?.map((resource) => ({ ...resource, status: "IN_PROGRESS" as const })) ?? [];
  return { ...task, subTasks: [...keepRuns(earlier), { ...run, subTasks: started }, ...others] };
}

function precheckedBy(stages: readonly Stage[], at: string) {
  const errors = stages.flatMap((stage) => stage.errors ?? []);
  return (cluster: SubTask): SubTask => ({
    ...cluster,
    status: stages.some((stage) => stage.status === "FAILED") ? "FAILED" : "SUCCESSFUL",
    completionTimestamp: at,
    stages: [...stages],
    ...(errors.length > 0 && { errors }),
  });
}

function startRetry(
  { completionTimestamp: _ended, ...task }: Task,
  resources: readonly ResourcePlan[],
  at: string,
): Task {
  const anew = new Map(resources.map((resource) => [resource.resourceId, initialResourceSubTask(resource, at)]));
  return {
    ...task,
    status: statusOfPhase("ACCEPTED").task,
    isRetryable: false,
    isCancellable: true,
    subTasks: (task.subTasks ?? []).map((part) => {
      if (part.type === precheckType) return part;
      const { completionTimestamp: _before, errors: _earlier, ...product } = part;
      const subTasks = part.subTasks?.map((inner) => anew.get(inner.resources?.[0]?.resourceId ?? "") ?? inner) ?? [];
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

/** Clusters of both kinds are of one type. */
function typeOf({ kind }: ResourcePlan): string {
  return kind === "NETVIRT" || kind === "MGMT" ? kind : "CLUSTER";
}

/** For the middle of a sentence; names of products keep their capitals. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function isOver({ status }: Task): boolean {
  return status !== "Pending" && status !== "In Progress";
}

function hasEndedPart({ status }: SubTask): boolean {
  return status !== "PENDING" && status !== "IN_PROGRESS";
}

/** A change that happens in one status only. */
function from(status: SubTaskStatus, change: (part: SubTask) => SubTask) {
  return (part: SubTask): SubTask => (part.status === status ? change(part) : part);
}

function begin(part: SubTask): SubTask {
  return { ...part, status: "IN_PROGRESS" };
}

function endWithParts(part: SubTask, at: string): SubTask {
  const subTasks = part.subTasks?.map((inner) => endPart(inner, at, false));
  return {
    ...withPause(part, false),
    status: statusOfParts(part),
    completionTimestamp: at,
    ...(subTasks && { subTasks }),
  };
}

/** A product of which something is in work, or may be. */
function isUnderWay({ type, status }: SubTask): boolean {
  return type !== precheckType && status === "IN_PROGRESS";
}

/** A part whose turn never came keeps the whole from success, as one that failed does. */
function statusOfParts({ subTasks = [] }: SubTask): SubTaskStatus {
  if (subTasks.some((part) => part.status === "FAILED" || !hasEndedPart(part))) return "FAILED";
  if (subTasks.every((part) => part.status === "NOT_APPLICABLE")) return "NOT_APPLICABLE";
  return "SUCCESSFUL";
}

function changeLastPrechecks(task: Task, change: (run: SubTask) => SubTask): Task {
  const parts = task.subTasks ?? [];
  const last = parts.findLastIndex((part) => part.type === precheckType);
  return { ...task, subTasks: parts.map((part, i) => (i === last ? change(part) : part)) };
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

/** Changes the products, not the prechecks. */
function changeAll(task: Task, change: (part: SubTask) => SubTask): Task {
  return { ...task, subTasks: (task.subTasks ?? []).map((part) => (part.type === precheckType ? part : change(part))) };
}

function withResource(part: SubTask, resourceId: string, change: (resource: SubTask) => SubTask): SubTask {
  const concerns = (inner: SubTask) => inner.resources?.[0]?.resourceId === resourceId;
  return { ...part, ...(part.subTasks && { subTasks: part.subTasks.map((s) => (concerns(s) ? change(s) : s)) }) };
}
