import type * as t from "io-ts";
import { OneOf } from "./codec";
import { nameAndId, upgradeTitle } from "./names";
import type { ResourcePlan } from "./plan/upgrade-plan";

/**
 * How far an upgrade is with the locks of its resources. ACQUIRING: it takes them. CHECKING: it has them, and another upgrade
 * has locks that conflict. HELD: it has them, and begins. RELEASING: it gives them back.
 */
export const LockState = OneOf("ACQUIRING", "CHECKING", "HELD", "RELEASING");
export type LockState = t.TypeOf<typeof LockState>;

/** The upgrade that holds a lock; names are absent where they cannot be read. */
export interface HoldingUpgrade {
  readonly upgradeId: string;
  readonly upgradeName?: string;
  /** Of what the lock is on. */
  readonly resourceName?: string;
}

/** The locks of another upgrade that conflict with those of this one. */
export interface ConflictingHolder extends HoldingUpgrade {
  readonly state: LockState;
}

/**
 * Whether an upgrade that has all of its own locks gives way to another one. Of two that wait for each other the one with the
 * lesser Task id gets through: it waits until the other has taken its locks, seen the conflict and given way. Nobody gives
 * way to an upgrade that has not got all of its locks, because it may get nothing.
 */
export function givesWay(own: string, { upgradeId, state }: ConflictingHolder): boolean {
  return state === "HELD" || (state === "CHECKING" && upgradeId < own);
}

/** The lock of a cluster: the Workflow ID of its child, of which Temporal runs one at a time. */
export function clusterLock(resourceId: string): string {
  return `cluster/${resourceId}`;
}

/** The lock of a NETVIRT instance. */
export function netvirtLock(resourceId: string): string {
  return `netvirt/${resourceId}`;
}

/** The lock of a management server. */
export function mgmtLock(resourceId: string): string {
  return `mgmt/${resourceId}`;
}

/** The lock that a resource's own upgrade holds. */
export function lockOf({ kind, resourceId }: Pick<ResourcePlan, "kind" | "resourceId">): string {
  switch (kind) {
    case "IMAGE":
    case "BASELINE":
      return clusterLock(resourceId);
    case "NETVIRT":
      return netvirtLock(resourceId);
    case "MGMT":
      return mgmtLock(resourceId);
  }
}

const titles: Readonly<Record<string, string>> = {
  cluster: "Cluster",
  netvirt: "NETVIRT",
  mgmt: "Management server",
};

/** What a lock is on, as messages name it. */
export function lockTitle(lock: string, name?: string): string {
  const slash = lock.indexOf("/");
  return `${titles[lock.slice(0, slash)] ?? "Resource"} ${nameAndId(name, lock.slice(slash + 1))}`;
}

/** The holder of a lock, for the middle of a sentence. */
export function holderTitle({ upgradeId, upgradeName }: HoldingUpgrade): string {
  return upgradeTitle({ id: upgradeId, name: upgradeName });
}

/**
 * The locks that no other upgrade may hold meanwhile although this one does not take them: a management server is not
 * upgraded while hosts that it manages are, nor a NETVIRT instance, which takes hosts out of service itself, and the
 * other way round.
 */
export function conflictingLocks(resource: ResourcePlan): readonly string[] {
  switch (resource.kind) {
    case "IMAGE":
    case "BASELINE":
      return [
        ...(resource.managementServer === undefined ? [] : [mgmtLock(resource.managementServer)]),
        ...resource.netvirtInstances.map(netvirtLock),
      ];
    case "NETVIRT":
      return resource.clusters.map(clusterLock);
    case "MGMT":
      return resource.clusters.map(clusterLock);
  }
}

/** The resources in the order in which their locks are taken, which is that of their ids. */
export function inLockOrder(resources: readonly ResourcePlan[]): readonly ResourcePlan[] {
  return [...resources].sort((a, b) => (a.resourceId < b.resourceId ? -1 : 1));
}
