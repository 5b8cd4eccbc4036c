import { isNone } from "fp-ts/Option";
import { type ClusterEntryFacts, productsOf } from "../plan/facts";
import { nameAndId } from "../names";
import { locksLater } from "../plan/schedule";
import { mgmtInScope, netvirtInScope } from "../plan/scope";
import { clusterLock, type HoldingUpgrade, holderTitle, lockTitle, mgmtLock, netvirtLock } from "../resource-lock";
import type { RequestWarning } from "../spec/request-warning";
import { type AdmissionRequest, type AdmissionRule, clustersOfRequest, type Rejection } from "./admission-rule";

/**
 * No other upgrade holds what this one needs. One that is not visible yet is found by the locks themselves. A draft takes
 * no locks before its commit, and a scheduled upgrade none before its time comes near, so they are only warned.
 */
export const resourcesFree: AdmissionRule = (request) =>
  consequenceOfHolders(request) === undefined ? heldResources(request) : [];

/** What a draft or a scheduled upgrade needs later and another upgrade holds now. */
export function warningsOfHolders(request: AdmissionRequest): readonly RequestWarning[] {
  const consequence = consequenceOfHolders(request);
  if (consequence === undefined) return [];
  return heldResources(request).map(({ path, code, message }) => ({
    code,
    path,
    message: `${message} ${consequence}`,
  }));
}

/** What it means for a request that another upgrade holds its resources now; undefined where it is refused for that. */
function consequenceOfHolders({ spec, now, lockLeadMinutes }: AdmissionRequest): string | undefined {
  if (spec.draftMode === true) return "The draft can be created; its commit is refused while this lasts.";
  return locksLater(spec.resourceUpgradeSpecs, lockLeadMinutes, now)
    ? `The upgrade can be scheduled; it needs the resource from ${lockLeadMinutes} minutes before its time on.`
    : undefined;
}

const heldResources: AdmissionRule = (request) =>
  neededLocks({ ...request, clusters: clustersOfRequest(request) }).flatMap((needed) => {
    const holder = request.lockHolders.get(needed.lock);
    return holder === undefined ? [] : [held(needed, holder)];
  });

/** A lock of which nobody else may be the holder, and the field of the request that is the reason. */
export interface NeededLock {
  readonly lock: string;
  readonly path: string;
  /** Why it is needed, behind the name of what it is on. */
  readonly why: string;
}

/** What an upgrade needs locks for; of clusters what the inventory says, whatever their managers answer. */
interface LockRequest extends Pick<AdmissionRequest, "spec" | "bundle" | "installations"> {
  readonly clusters: readonly ClusterEntryFacts[];
}

/**
 * The locks that an upgrade takes, and those that conflict with them: neither a management server nor a NETVIRT
 * instance is upgraded together with clusters of another upgrade.
 */
export function neededLocks({ spec, bundle, installations, clusters }: LockRequest): readonly NeededLock[] {
  const products = isNone(bundle) ? [] : productsOf(bundle.value);
  const known = new Map(clusters.map((cluster) => [cluster.resourceId, cluster]));
  const own = spec.resourceUpgradeSpecs.flatMap(({ resourceId }, i): NeededLock[] => {
    const path = `resourceUpgradeSpecs[${i}].resourceId`;
    const facts = known.get(resourceId);
    const why = ` of cluster ${nameAndId(facts?.name, resourceId)}`;
    const netvirt = facts ? netvirtInScope([facts], installations) : [];
    return [
      { lock: clusterLock(resourceId), path, why: "" },
      ...(facts?.managementServer === undefined ? [] : [{ lock: mgmtLock(facts.managementServer), path, why }]),
      ...netvirt.map((instance) => ({ lock: netvirtLock(instance.resourceId), path, why })),
    ];
  });
  const netvirt = products.includes("NETVIRT") ? netvirtInScope(clusters, installations) : [];
  const management = products.includes("MGMT") ? mgmtInScope(clusters, installations) : [];
  const needed = (locks: readonly string[], server: string): NeededLock[] =>
    locks.map((lock) => ({ lock, path: "bundleId", why: `, needed for ${server},` }));
  const served = [
    ...netvirt.flatMap(({ resourceId, name, clusters: ids = [] }) => [
      { lock: netvirtLock(resourceId), path: "bundleId", why: "" },
      ...needed(ids.map(clusterLock), `NETVIRT ${nameAndId(name, resourceId)}`),
    ]),
    ...management.flatMap(({ resourceId, name, clusters: ids }) => [
      { lock: mgmtLock(resourceId), path: "bundleId", why: "" },
      ...needed(ids.map(clusterLock), `management server ${nameAndId(name, resourceId)}`),
    ]),
  ];
  // What clusters need is told for each of them; what their servers need beside that once.
  const ofClusters = new Set(own.map(({ lock }) => lock));
  const others = new Map(served.filter(({ lock }) => !ofClusters.has(lock)).map((one) => [one.lock, one]));
  return [...own, ...others.values()];
}

function held({ lock, path, why }: NeededLock, holder: HoldingUpgrade): Rejection {
  return {
    effect: "NOT_ALLOWED",
    path,
    code: "RESOURCE_LOCKED",
    message: `${lockTitle(lock, holder.resourceName)}${why} is held by ${holderTitle(holder)}.`,
    remediation: `Wait until ${holderTitle(holder)} ends, or cancel it.`,
  };
}
