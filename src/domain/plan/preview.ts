import * as t from "io-ts";
import { HostVersion, Product } from "../spec/upgrade";
import { model, OneOf, WholeNumber } from "../codec";
import { ErrorBody } from "../errors";
import { closedError, type MaintenancePlace, type Opening } from "../opening";
import { changeRecordOf, toldChangeRecord } from "../spec/change-record";
import { overrideOf, toldOverride } from "../spec/maintenance-override";
import { type ClusterMember, MaintenanceState, maintenanceState } from "../spec/cluster";
import { RequestWarning } from "../spec/request-warning";
import { HostosUpgradeOptionsSpec, UpgradeMechanism } from "../spec/upgrade-spec";
import { Timestamp, toTimestamp } from "../timestamp";
import { type ClusterWork, expectedGroupSeconds, secondsTogether } from "../upgrade/cluster-work";
import { isAtVersion, isSameVersion, productOfText } from "../version";
import { isInScope } from "./host-scope";
import { beginTime } from "./schedule";
import {
  type ClusterUpgradePlan,
  groupsOf,
  isCluster,
  type ProductPlan,
  type ResourcePlan,
  rolloutOf,
  type UpgradePlan,
} from "./upgrade-plan";

/** What kind of resource an upgrade brings to a version: two kinds of cluster, and two kinds of server. */
export const ResourceKind = OneOf("IMAGE", "BASELINE", "NETVIRT", "MGMT");

/**
 * The part of a wave that belongs to one resource. `hosts` are the names of those in work together; absent for servers, and where
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
  { product: Product, wave: WholeNumber, parts: t.array(WavePart) },
  { scheduledTimestamp: Timestamp },
);
export type ExpectedWave = t.TypeOf<typeof ExpectedWave>;

/** Hosts of clusters by resource id, in the order of their upgrade. */
type KnownHosts = ReadonlyMap<string, readonly ClusterMember[]>;

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
  const left = hosts.filter((host) => isInScope(cluster.hosts, host.id) && !isDone(host, cluster));
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

/**
 * What would be done to one resource. `retryDelay` and `soakSeconds` are in seconds; without `scheduledTimestamp` it
 * begins at once. The rollout policy of a cluster (docs/decisions/0007) is the one that it would really be upgraded by.
 * `hostCount`, `hostsAtTarget` (they are left alone) and `hostVersions` are of a cluster as its component manager tells it
 * now; `errors` tells why its hosts are not known, and so not in the waves. `hostsNotInScope`: names of those that the
 * request leaves out. `expectedSeconds`: how long its hosts take, by earlier upgrades; absent where that is not known.
 */
export const PreviewedResource = model(
  {
    resourceId: t.string,
    name: t.string,
    kind: ResourceKind,
    targetVersion: t.string,
    maximumAttempts: WholeNumber,
    retryDelay: WholeNumber,
  },
  {
    scheduledTimestamp: Timestamp,
    upgradeMechanism: UpgradeMechanism,
    startSwitchoverTimestamp: Timestamp,
    hostsAtOnce: WholeNumber,
    soakSeconds: WholeNumber,
    healthGate: t.boolean,
    toleratedFailures: WholeNumber,
    hostCount: WholeNumber,
    hostsAtTarget: WholeNumber,
    hostVersions: t.array(HostVersion),
    errors: t.array(ErrorBody),
    hostsNotInScope: t.array(t.string),
    expectedSeconds: WholeNumber,
    hostosUpgradeOptionsSpec: HostosUpgradeOptionsSpec,
    maintenance: MaintenanceState,
  },
);
export type PreviewedResource = t.TypeOf<typeof PreviewedResource>;

/** One product of an upgrade; its resources are upgraded in parallel. */
export const PreviewedProduct = model({ product: Product, resources: t.array(PreviewedResource) }, {});

/** What an upgrade would do, in the order in which it would: the answer of `POST /v1/upgrades/preview`. */
export const UpgradePreview = model(
  {
    name: t.string,
    bundleId: t.string,
    draftMode: t.boolean,
    products: t.array(PreviewedProduct),
    waves: t.array(ExpectedWave),
  },
  {
    bundleVersion: t.string,
    /** How many approvals it would need; absent means none. */
    requiredApprovals: WholeNumber,
    /** Seconds of work without waiting, by earlier upgrades; absent where that is not known of something. */
    expectedSeconds: WholeNumber,
    ...toldChangeRecord,
    ...toldOverride,
    /** What of the request has no effect. */
    warnings: t.array(RequestWarning),
  },
);
export type UpgradePreview = t.TypeOf<typeof UpgradePreview>;

/**
 * What is known of the hosts of clusters, and why those of others are not, both by resource id; and how long they took in
 * earlier upgrades, the latest first.
 */
export interface KnownForPreview {
  readonly hosts: KnownHosts;
  readonly errors: ReadonlyMap<string, ErrorBody>;
  readonly work?: readonly ClusterWork[];
}

/** Whether something may begin at these places at a moment (epoch milliseconds). */
export type OpeningAt = (places: readonly MaintenancePlace[], at: number) => Opening;

/** What would not begin at its time, because the maintenance window is closed then. */
export function closedWarnings({ products }: UpgradePlan, openingAt: OpeningAt, now: number): RequestWarning[] {
  return products
    .flatMap(({ resources }) => resources)
    .flatMap((resource) => {
      const at = Math.max(now, beginTime(resource));
      const opening = openingAt(resource.places, at);
      if (opening.isOpen) return [];
      const { errorCode: code = "", message } = closedError(opening);
      const when = at > now ? `At ${toTimestamp(at)}` : "Now";
      return [{ code, path: pathOf(resource, products), message: `${resource.name} waits. ${when}: ${message}` }];
    });
}

/** The field of the request by which something is upgraded. */
function pathOf(resource: ResourcePlan, products: readonly ProductPlan[]): string {
  const clusters = products.find(({ product }) => product === "HOSTOS")?.resources ?? [];
  const index = clusters.indexOf(resource);
  return index < 0 ? "bundleId" : `resourceUpgradeSpecs[${index}].scheduledTimestamp`;
}

/** The part of a plan that tells a user what would happen; where things are reached stays inside. */
export function previewOf(
  { name, bundle, draft, products, spec, approvals, warnings, maintenanceOverride }: UpgradePlan,
  { hosts, errors, work = [] }: KnownForPreview,
  openingOf: (places: readonly MaintenancePlace[]) => Opening = () => ({ isOpen: true }),
): UpgradePreview {
  const secondsOf = (resource: ResourcePlan) => clusterSeconds(resource, hosts.get(resource.resourceId), work);
  const all = products.flatMap(({ resources }) => resources);
  const expectedSeconds = secondsTogether(all.map((one) => ({ begin: beginTime(one), seconds: secondsOf(one) })));
  return {
    name,
    bundleId: bundle.id,
    draftMode: draft,
    products: products.map(({ product, resources }) => ({
      product,
      resources: resources.map((resource) => ({
        ...previewedResource(resource, errors.get(resource.resourceId)),
        ...(isCluster(resource) && hostFacts(resource, hosts.get(resource.resourceId))),
        ...expected(secondsOf(resource)),
        ...maintenanceOf(resource, openingOf),
      })),
    })),
    waves: expectedWaves(products, hosts),
    ...(bundle.version !== undefined && { bundleVersion: bundle.version }),
    ...(approvals !== undefined && { requiredApprovals: approvals }),
    ...expected(expectedSeconds),
    ...changeRecordOf(spec),
    ...overrideOf({ maintenanceOverride }),
    ...(warnings && { warnings: [...warnings] }),
  };
}

function expected(seconds: number | undefined) {
  return seconds === undefined || seconds === 0 ? {} : { expectedSeconds: seconds };
}

/** How long a cluster is expected to work; undefined of servers, and where its hosts or earlier upgrades are not known. */
function clusterSeconds(
  resource: ResourcePlan,
  hosts: readonly ClusterMember[] | undefined,
  work: readonly ClusterWork[],
): number | undefined {
  if (!isCluster(resource) || !hosts) return undefined;
  const groups = clusterSteps(resource, hosts).length;
  if (groups === 0) return 0;
  const seconds = expectedGroupSeconds(resource, work);
  return seconds === undefined ? undefined : Math.round(groups * seconds);
}

function previewedResource(resource: ResourcePlan, error: ErrorBody | undefined): PreviewedResource {
  const { resourceId, name, kind, targetVersion, attempts, scheduledTimestamp } = resource;
  return {
    resourceId,
    name,
    kind,
    targetVersion,
    ...attempts,
    ...(scheduledTimestamp !== undefined && { scheduledTimestamp }),
    ...(isCluster(resource) && {
      hostosUpgradeOptionsSpec: resource.options,
      ...rolloutOf(resource),
    }),
    ...(error && { errors: [error] }),
    ...(resource.kind === "MGMT" && {
      upgradeMechanism: resource.mechanism,
      ...(resource.startSwitchoverTimestamp !== undefined && {
        startSwitchoverTimestamp: resource.startSwitchoverTimestamp,
      }),
    }),
  };
}

/** Nothing where neither a window nor a change freeze holds for it. */
function maintenanceOf({ places }: ResourcePlan, openingOf: (places: readonly MaintenancePlace[]) => Opening) {
  const kept = places.filter(({ ignoresCalendar }) => ignoresCalendar !== true);
  const windows = new Set(kept.map(({ maintenanceWindow }) => maintenanceWindow));
  const [window] = windows.size === 1 ? windows : [];
  const maintenance = maintenanceState(openingOf(kept), window);
  return maintenance ? { maintenance } : {};
}

/** What the hosts of a cluster run; nothing where they are not known. */
function hostFacts(cluster: ClusterUpgradePlan, hosts: readonly ClusterMember[] | undefined) {
  if (!hosts) return {};
  const inScope = hosts.filter(({ id }) => isInScope(cluster.hosts, id));
  const others = hosts.filter((host) => !inScope.includes(host));
  const counts = new Map<string, number>();
  for (const { version } of hosts) if (version !== undefined) counts.set(version, (counts.get(version) ?? 0) + 1);
  return {
    hostCount: hosts.length,
    hostsAtTarget: inScope.filter((host) => isDone(host, cluster)).length,
    ...(others.length > 0 && { hostsNotInScope: others.map(({ fqdn }) => fqdn) }),
    hostVersions: [...counts]
      .map(([version, count]) => ({ version, hosts: count }))
      .sort((a, b) => (a.version < b.version ? -1 : 1)),
  };
}
