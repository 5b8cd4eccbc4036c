import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import type { Cluster } from "../domain/cluster";
import type { ClusterEntryFacts, ClusterLookup } from "../domain/cluster-facts";
import type { ErrorBody } from "../domain/error-body";
import { silenceError, type ManagerSilence } from "../domain/manager-silence";
import { clusterLock, mgmtLock } from "../domain/resource-lock";
import type { Inventory, UpgradeExecutions } from "./ports";
import { temporalUnreachable, type ServiceError } from "./service-error";

export interface ReadClustersDependencies {
  readonly inventory: Inventory;
  readonly executions: Pick<UpgradeExecutions, "lockHolders">;
}

/** The holder of each lock that is held. */
export type Holders = ReadonlyMap<string, string>;

/** A cluster as clients see it, of what its sources say. */
export function clusterView(entry: ClusterEntryFacts, lookup: ClusterLookup | undefined, holders: Holders): Cluster {
  const { resourceId: id, name, domain, domainName = domain, platformVersion, componentManagerId, cluster } = entry;
  const heldBy = locksOf(entry).flatMap((lock) => holders.get(lock) ?? [])[0];
  return {
    id,
    name,
    domain: { id: domain, name: domainName },
    platformVersion,
    componentManagerId,
    cluster,
    ...known(entry, lookup),
    ...(heldBy !== undefined && { heldBy }),
  };
}

function known({ componentManagerId, name }: ClusterEntryFacts, lookup: ClusterLookup | undefined): Partial<Cluster> {
  if (lookup?._tag === "Known") {
    const { kind, hostCount } = lookup.facts;
    return { kind, isImageBased: kind === "IMAGE", hostCount };
  }
  if (lookup?._tag === "Unread") return { errors: [silent(componentManagerId, lookup.silence)] };
  return {
    errors: [
      {
        errorCode: "RESOURCE_NOT_FOUND",
        errorType: "NOT_FOUND",
        message: `Component manager ${componentManagerId} has no cluster that the inventory calls ${name}.`,
        remediationMessage: "Correct the inventory.",
      },
    ],
  };
}

/** The error of what a component manager did not tell. */
export function silent(componentManagerId: string, silence: ManagerSilence): ErrorBody {
  return silenceError(componentManagerId, silence, "read again");
}

/** Whoever holds one of these keeps the cluster from being upgraded. */
function locksOf({ resourceId, managementServer }: ClusterEntryFacts): readonly string[] {
  return [clusterLock(resourceId), ...(managementServer === undefined ? [] : [mgmtLock(managementServer)])];
}

/** Who holds the clusters. Reads have no 424 (docs/spec-gaps.md). */
export function readHolders(
  { executions }: ReadClustersDependencies,
  clusters: readonly ClusterEntryFacts[],
): TE.TaskEither<ServiceError, Holders> {
  return pipe(
    executions.lockHolders(clusters.flatMap(locksOf)),
    TE.mapLeft((error) => (error._tag === "FailedDependency" ? temporalUnreachable(error) : error)),
  );
}
