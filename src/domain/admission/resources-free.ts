import { isNone } from "fp-ts/Option";
import { productsOf } from "../bundle-products";
import { clusterLock, mgmtLock, netvirtLock } from "../resource-lock";
import { mgmtInScope, netvirtInScope } from "../upgrade-scope";
import type { AdmissionRequest, AdmissionRule, Rejection } from "./admission-rule";
import { clustersOfRequest } from "./server-inputs";

/** No other upgrade holds what this one needs. One that is not visible yet is found by the locks themselves. */
export const resourcesFree: AdmissionRule = (request) =>
  neededLocks(request).flatMap(({ lock, path, title }) => {
    const holder = request.lockHolders.get(lock);
    return holder === undefined ? [] : [held(path, title, holder)];
  });

/** A lock of which nobody else may be the holder, and the field of the request that is the reason. */
export interface NeededLock {
  readonly lock: string;
  readonly path: string;
  readonly title: string;
}

/**
 * The locks that an upgrade takes, and those that conflict with them: a management server is not upgraded together
 * with clusters of another upgrade.
 */
export function neededLocks(request: Omit<AdmissionRequest, "lockHolders">): readonly NeededLock[] {
  const { spec, bundle, installations } = request;
  const products = isNone(bundle) ? [] : productsOf(bundle.value);
  const clusters = clustersOfRequest({ ...request, lockHolders: new Map() });
  const managementServers = new Map(clusters.map(({ resourceId, managementServer }) => [resourceId, managementServer]));
  const own = spec.resourceUpgradeSpecs.flatMap(({ resourceId }, i) => {
    const path = `resourceUpgradeSpecs[${i}].resourceId`;
    const server = managementServers.get(resourceId);
    return [
      { lock: clusterLock(resourceId), path, title: `Cluster ${resourceId}` },
      ...(server === undefined
        ? []
        : [{ lock: mgmtLock(server), path, title: `Management server ${server} of cluster ${resourceId}` }]),
    ];
  });
  const netvirt = products.includes("NETVIRT") ? netvirtInScope(clusters, installations) : [];
  const management = products.includes("MGMT") ? mgmtInScope(clusters, installations) : [];
  return [
    ...own,
    ...netvirt.map(({ resourceId }) => ({
      lock: netvirtLock(resourceId),
      path: "bundleId",
      title: `NETVIRT ${resourceId}`,
    })),
    ...management.flatMap(({ resourceId, clusters: served }) =>
      [mgmtLock(resourceId), ...served.map(clusterLock)]
        .filter((lock) => !own.some((one) => one.lock === lock))
        .map((lock) => ({ lock, path: "bundleId", title: `${lock}, needed for management server ${resourceId},` })),
    ),
  ];
}

function held(path: string, title: string, holder: string): Rejection {
  return {
    effect: "NOT_ALLOWED",
    path,
    code: "RESOURCE_LOCKED",
    message: `${title} is held by upgrade ${holder}.`,
    remediation: `Wait until upgrade ${holder} has ended, or cancel it.`,
  };
}
