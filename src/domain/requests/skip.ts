import * as E from "fp-ts/Either";
import type { ErrorBody } from "../errors";
import { hasEnded, type UpgradePhase } from "../spec/upgrade";
import { maximumSkippedHosts } from "../spec/upgrade-spec";

/** Where a resource of an upgrade stands. UNKNOWN: what is published of the upgrade does not tell for sure. */
export interface ResourceStanding {
  readonly resourceId: string;
  /** What it is called in sentences. */
  readonly title: string;
  readonly isCluster: boolean;
  /** The place of its product in the order of products. */
  readonly product: number;
  /** LEFT_OUT: by prechecks that have failed. SKIPPED: by an operator. */
  readonly state: "TO_DO" | "IN_WORK" | "DONE" | "LEFT_OUT" | "SKIPPED" | "UNKNOWN";
}

/** What a decision on leaving something out depends on. */
export interface SkipContext {
  readonly phase: UpgradePhase;
  /** All resources of the upgrade. */
  readonly resources: readonly ResourceStanding[];
  /** Hosts that operators have left out before. */
  readonly skippedHosts: readonly SkippedHost[];
}

/** A host of a cluster, by its id in the component manager or its name. */
export interface SkippedHost {
  readonly resourceId: string;
  readonly hostId: string;
  readonly hostName?: string;
}

/** What is to be left out: a cluster, or one host of it. Nothing: whether anything can be. */
export interface SkipAsked {
  readonly resourceId?: string;
  readonly hostId?: string;
}

/** What a retry is about. Nothing: all that is not done. */
export interface RetryScope {
  readonly resourceIds?: readonly string[];
  readonly skipResources?: readonly string[];
  readonly skipHosts?: readonly SkippedHost[];
}

/**
 * Whether a cluster or a host of it is left out. Of a host in a cluster that is in work its own Workflow decides afterwards.
 * What has been left out before is accepted again.
 */
export function decideSkip({ resourceId, hostId }: SkipAsked, context: SkipContext): E.Either<ErrorBody, void> {
  if (hasEnded(context.phase) && context.phase !== "FAILED")
    return E.left(conflict("The upgrade has ended, so nothing of it can be left out.", readTask));
  if (resourceId === undefined) return decideAny(context);
  return fromProblem(
    hostId === undefined
      ? (skipProblem(resourceId, "resourceId", context) ?? noneLeft([resourceId], context))
      : hostProblem([{ resourceId, hostId }], () => "resourceId", context),
  );
}

/** Whether a retry may be limited so. Whether there may be a retry at all is decided elsewhere. */
export function decideRetryScope(scope: RetryScope, context: SkipContext): E.Either<ErrorBody, void> {
  const { resourceIds, skipResources = [], skipHosts = [] } = scope;
  return fromProblem(
    firstProblem(resourceIds ?? [], (id, i) => retryProblem(id, `resourceIds[${i}]`, context)) ??
      firstProblem(skipResources, (id, i) =>
        resourceIds?.includes(id) === true
          ? namedTwice(id, `skipResources[${i}]`)
          : skipProblem(id, `skipResources[${i}]`, context),
      ) ??
      hostProblem(skipHosts, (i) => `skipHosts[${i}]`, context) ??
      (skipResources.length > 0 ? noneLeft(skipResources, context) : undefined) ??
      (resourceIds ? earlierProductProblem(resourceIds, skipResources, context) : undefined),
  );
}

const readTask = "Read the upgrade's Task to see where it stands.";

function decideAny({ resources }: SkipContext): E.Either<ErrorBody, void> {
  const possible = resources.some(({ isCluster, state }) => isCluster && state !== "DONE" && state !== "SKIPPED");
  return possible ? E.right(undefined) : E.left(conflict("There is nothing left to leave out.", readTask));
}

function skipProblem(id: string, path: string, context: SkipContext): ErrorBody | undefined {
  const found = find(id, path, context);
  if ("message" in found) return found;
  const { title, isCluster, state } = found;
  if (!isCluster) return notSkippable(title, path);
  switch (state) {
    case "IN_WORK":
      return {
        errorCode: "RESOURCE_IN_WORK",
        errorType: "CONFLICT",
        message: `${title} is being upgraded, so it cannot be left out.`,
        remediationMessage: "Leave out hosts of it that have not begun, wait for its end, or cancel the upgrade.",
        context: { path, resourceId: id },
      };
    case "DONE":
      return conflict(`${title} has been upgraded, so it cannot be left out.`, readTask);
    default:
      return undefined;
  }
}

function hostProblem(
  hosts: readonly SkippedHost[],
  pathOf: (place: number) => string,
  context: SkipContext,
): ErrorBody | undefined {
  const wrong = firstProblem(hosts, ({ resourceId }, i) => {
    const found = find(resourceId, pathOf(i), context);
    if ("message" in found) return found;
    if (!found.isCluster) return notSkippable(found.title, pathOf(i));
    return found.state === "DONE"
      ? conflict(`${found.title} has been upgraded, so no host of it can be left out.`, readTask)
      : undefined;
  });
  const added = hosts.filter((host) => !isSkipped(host, context.skippedHosts));
  if (wrong || added.length + context.skippedHosts.length <= maximumSkippedHosts) return wrong;
  return conflict(
    `An upgrade leaves out at most ${maximumSkippedHosts} hosts, and has ${context.skippedHosts.length}.`,
    "Leave out whole clusters, or cancel the upgrade and start one for fewer hosts.",
  );
}

/** Whether a host has been left out before. */
export function isSkipped({ resourceId, hostId }: SkippedHost, skipped: readonly SkippedHost[]): boolean {
  return skipped.some((one) => one.resourceId === resourceId && one.hostId === hostId);
}

function retryProblem(id: string, path: string, context: SkipContext): ErrorBody | undefined {
  const found = find(id, path, context);
  if ("message" in found) return found;
  return found.state === "DONE"
    ? conflict(`${found.title} has been upgraded, so it cannot be retried.`, readTask)
    : undefined;
}

/** An upgrade without any cluster would be none. */
function noneLeft(without: readonly string[], { resources }: SkipContext): ErrorBody | undefined {
  const isLeft = ({ resourceId, isCluster, state }: ResourceStanding) =>
    isCluster && !without.includes(resourceId) && state !== "SKIPPED" && state !== "LEFT_OUT";
  if (resources.some(isLeft)) return undefined;
  // What has been left out already changes nothing; of what is unknown only the upgrade itself can decide.
  const states = resources.filter(({ resourceId }) => without.includes(resourceId)).map(({ state }) => state);
  if (states.every((state) => state === "SKIPPED") || states.includes("UNKNOWN")) return undefined;
  return {
    errorCode: "NO_CLUSTER_LEFT",
    errorType: "CONFLICT",
    message: "Without it the upgrade would have no cluster left.",
    remediationMessage: "Cancel the upgrade, or resolve it if it has failed.",
  };
}

/** Products are upgraded one after another: what comes later needs what comes before. */
function earlierProductProblem(
  named: readonly string[],
  skipped: readonly string[],
  { resources }: SkipContext,
): ErrorBody | undefined {
  const last = Math.max(...resources.filter(({ resourceId }) => named.includes(resourceId)).map((one) => one.product));
  const missing = resources.find(
    ({ resourceId, product, state }) =>
      product < last && state === "TO_DO" && !named.includes(resourceId) && !skipped.includes(resourceId),
  );
  if (!missing) return undefined;
  return {
    errorCode: "EARLIER_PRODUCT_NOT_RETRIED",
    errorType: "CONFLICT",
    message: `${missing.title} comes first and has not been upgraded.`,
    remediationMessage: `Name ${missing.resourceId} too, or retry everything.`,
    context: { path: "resourceIds", resourceId: missing.resourceId },
  };
}

function find(id: string, path: string, { resources }: SkipContext): ResourceStanding | ErrorBody {
  const found = resources.find(({ resourceId }) => resourceId === id);
  return (
    found ?? {
      errorCode: "RESOURCE_NOT_IN_UPGRADE",
      errorType: "INVALID_INPUT",
      message: `The upgrade has no resource ${id}.`,
      remediationMessage: "Name a resource by its id on the upgrade's Task.",
      context: { path },
    }
  );
}

function notSkippable(title: string, path: string): ErrorBody {
  return {
    errorCode: "RESOURCE_NOT_SKIPPABLE",
    errorType: "NOT_ALLOWED",
    message: `${title} cannot be left out, because what comes after it needs it.`,
    remediationMessage: "Leave out clusters or hosts, or cancel the upgrade.",
    context: { path },
  };
}

function namedTwice(id: string, path: string): ErrorBody {
  return {
    errorCode: "RESOURCE_DUPLICATE",
    errorType: "INVALID_INPUT",
    message: `Resource ${id} is named both to be retried and to be left out.`,
    remediationMessage: "Name it once.",
    context: { path },
  };
}

function conflict(message: string, remediationMessage: string): ErrorBody {
  return { errorCode: "REQUEST_NOT_POSSIBLE", errorType: "CONFLICT", message, remediationMessage };
}

function firstProblem<T>(all: readonly T[], problemOf: (one: T, place: number) => ErrorBody | undefined) {
  for (const [i, one] of all.entries()) {
    const problem = problemOf(one, i);
    if (problem) return problem;
  }
  return undefined;
}

function fromProblem(problem: ErrorBody | undefined): E.Either<ErrorBody, void> {
  return problem ? E.left(problem) : E.right(undefined);
}
