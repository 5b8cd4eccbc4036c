import * as t from "io-ts";
import type { ClusterMember } from "./cluster";
import { model, OneOf, WholeNumber } from "./codec";
import { isAtVersion, productOfText } from "./product-version";
import { isSameVersion } from "./version";
import { groupsOf, rolloutOf } from "./rollout";
import { Timestamp } from "./timestamp";
import { isCluster, type ClusterUpgradePlan, type ProductPlan, type ResourcePlan } from "./upgrade-plan";
import { beginTime } from "./upgrade-schedule";

/**
 * What of a wave belongs to one resource. `hosts` are the names of those in work together; absent for servers, and where
 * the hosts of a cluster are not known. `soakSeconds`: how long the cluster waits before, by its rollout policy.
 */
export const WavePart = model(
  { resourceId: t.string, name: t.string },
  { hosts: t.array(t.string), soakSeconds: WholeNumber },
);
export type WavePart = t.TypeOf<typeof WavePart>;

/**
 * What is expected to be in work at the same time: one step of each resource of a product. `wave` counts from 1 within
 * the product. `scheduledTimestamp`: not before this time; absent means at once.
 */
export const ExpectedWave = model(
  { product: OneOf("NETVIRT", "MGMT", "HOSTOS"), wave: WholeNumber, parts: t.array(WavePart) },
  { scheduledTimestamp: Timestamp },
);
export type ExpectedWave = t.TypeOf<typeof ExpectedWave>;

/** Hosts of clusters by resource id, in the order of their upgrade. */
export type KnownHosts = ReadonlyMap<string, readonly ClusterMember[]>;

/**
 * The waves in which a plan is expected to run, if each step took as long as another. Products go one after another. In
 * each, the resources that are due at the same time go together, and every cluster takes as many hosts at once as its
 * rollout policy lets it (docs/decisions/0007). Hosts that run the target version are left out.
 */
export function expectedWaves(products: readonly ProductPlan[], hosts: KnownHosts): ExpectedWave[] {
  return products.flatMap(({ product, resources }) =>
    dueTogether(resources)
      .flatMap((due) => wavesOf(due, hosts))
      .map((wave, index) => ({ product, wave: index + 1, ...wave })),
  );
}

/** The resources by their times, the earliest first. */
function dueTogether(resources: readonly ResourcePlan[]): ResourcePlan[][] {
  const times = [...new Set(resources.map(beginTime))].sort((a, b) => a - b);
  return times.map((time) => resources.filter((resource) => beginTime(resource) === time));
}

function wavesOf(due: readonly ResourcePlan[], hosts: KnownHosts): Omit<ExpectedWave, "product" | "wave">[] {
  const scheduledTimestamp = due[0]?.scheduledTimestamp;
  const steps = due.map((resource) =>
    isCluster(resource) ? clusterSteps(resource, hosts.get(resource.resourceId)) : [nameOf(resource)],
  );
  return Array.from({ length: Math.max(0, ...steps.map(({ length }) => length)) }, (_, index) => ({
    parts: steps.flatMap((one) => one[index] ?? []),
    ...(scheduledTimestamp !== undefined && { scheduledTimestamp }),
  }));
}

function clusterSteps(cluster: ClusterUpgradePlan, hosts: readonly ClusterMember[] | undefined): WavePart[] {
  if (!hosts) return [nameOf(cluster)];
  const { soakSeconds, hostsAtOnce } = rolloutOf(cluster);
  const left = hosts.filter((host) => !isDone(host, cluster));
  return groupsOf(left, { hostsAtOnce }).map((group, index) => ({
    ...nameOf(cluster),
    hosts: group.map(({ fqdn }) => fqdn),
    ...(index > 0 && soakSeconds > 0 && { soakSeconds }),
  }));
}

/** A personality has more than its version: hosts that run that may still lack the rest. */
function isDone({ version }: ClusterMember, { kind, image, targetVersion }: ClusterUpgradePlan): boolean {
  if (kind === "BASELINE") return isAtVersion(productOfText(version), targetVersion);
  return image === undefined && version !== undefined && isSameVersion(version, targetVersion);
}

function nameOf({ resourceId, name }: ResourcePlan): WavePart {
  return { resourceId, name };
}
