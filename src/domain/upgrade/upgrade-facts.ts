import { beginTime, firstPhase, upgradeView } from "../plan/schedule";
import {
  clustersOf,
  isCluster,
  type ResourcePlan,
  resourcesOf,
  rolloutOf,
  type UpgradePlan,
} from "../plan/upgrade-plan";
import {
  hasEnded,
  type HostVersion,
  type ProductVersions,
  type PublishedPhase,
  type Upgrade,
  type UpgradeApprovals,
  type UpgradeHosts,
  type UpgradePhase,
} from "../spec/upgrade";
import type { SkippedHost } from "../requests/skip";
import type { LeftOutResource } from "../task/left-out";
import { initialResourceSubTask } from "../task/resource-progress";
import type { HostCounts } from "../task/sub-task";
import type { FindingCounts } from "../spec/finding";
import { toEpochMilliseconds, toTimestamp } from "../timestamp";
import { isSameVersion } from "../version";
import { phaseEnd, type PhaseState, phaseWait, publishedPhase } from "./published-phase";

/** How many hosts run which version. */
export type VersionCounts = Readonly<Record<string, number>>;

/** What an upgrade keeps of a resource for its facts. */
export interface ResourceFacts {
  readonly hosts?: HostCounts;
  readonly versions?: VersionCounts;
  /** The versions of its hosts when they were read first. */
  readonly versionsBefore?: readonly string[];
  /** Its Workflow has begun and not ended. */
  readonly isInWork?: boolean;
  /** While it is in work: nothing of it is being done, because it is paused or waits. */
  readonly isAtRest?: boolean;
  /** When the maintenance window in which it works closes, or a change freeze begins (epoch milliseconds). */
  readonly windowClosesAt?: number | undefined;
  /** How many hosts had ended at the first and the latest report of this attempt, and how long the upgrade had worked by then. */
  readonly firstReport?: Report;
  readonly lastReport?: Report;
}

interface Report {
  readonly ended: number;
  readonly workMilliseconds: number;
}

/** Facts of an upgrade beside its plan and its Task, as its Workflow keeps and hands them on. Times are Timestamps. */
export interface UpgradeFacts {
  readonly phase: PublishedPhase;
  readonly since: string;
  /** Time of work without waiting before {@link workingSince}. */
  readonly workMilliseconds: number;
  readonly workingSince?: string;
  readonly startedAt?: string;
  readonly committedAt?: string;
  readonly committedBy?: string;
  readonly resources: Readonly<Record<string, ResourceFacts>>;
}

/** Phases in which an upgrade works. */
const atWork: ReadonlySet<PublishedPhase> = new Set(["RUNNING", "PAUSING", "CANCELLING"]);

/** The facts of an upgrade that has been accepted. */
export function initialFacts(plan: UpgradePlan): UpgradeFacts {
  const { phase } = initialState(plan);
  return {
    phase: publishedPhase(initialState(plan, phase)),
    since: plan.creationTimestamp,
    workMilliseconds: 0,
    resources: {},
  };
}

/** The facts after the phase that clients read may have changed; the same object where it has not. */
export function enterPublishedPhase(facts: UpgradeFacts, phase: PublishedPhase, at: string): UpgradeFacts {
  if (facts.phase === phase) return facts;
  const { workingSince, ...rest } = facts;
  return {
    ...rest,
    phase,
    since: at,
    workMilliseconds: workedBy(facts, toEpochMilliseconds(at)),
    ...(atWork.has(phase) && { workingSince: at }),
  };
}

/** The facts with something else of one resource. */
export function withResourceFacts(facts: UpgradeFacts, resourceId: string, change: ResourceFacts): UpgradeFacts {
  const known = facts.resources[resourceId];
  return { ...facts, resources: { ...facts.resources, [resourceId]: { ...known, ...change } } };
}

/** The facts after prechecks have read what the hosts of a resource run. Before its work that is what they ran before. */
export function readVersions(facts: UpgradeFacts, resourceId: string, versions: VersionCounts): UpgradeFacts {
  const known = facts.resources[resourceId];
  const before = known?.hosts && known.versionsBefore ? known.versionsBefore : Object.keys(versions).sort();
  return withResourceFacts(facts, resourceId, { versions, versionsBefore: before });
}

/** The facts after a resource has said how many of its hosts are done. `at` in epoch milliseconds. */
export function reportHosts(
  facts: UpgradeFacts,
  resourceId: string,
  told: { readonly hosts: HostCounts; readonly versions?: VersionCounts; readonly isAtRest?: boolean },
  at: number,
): UpgradeFacts {
  const known = facts.resources[resourceId];
  const { hosts, versions, isAtRest = false } = told;
  const report = { ended: endedOf(hosts), workMilliseconds: workedBy(facts, at) };
  const before = known?.versionsBefore ?? (versions && Object.keys(versions).sort());
  return withResourceFacts(facts, resourceId, {
    hosts,
    isAtRest,
    ...(versions && { versions }),
    ...(before && { versionsBefore: before }),
    firstReport: known?.firstReport ?? report,
    lastReport: report,
  });
}

/** Whether something is being done that a pause lets go on to its end. */
export function isInWork({ resources }: UpgradeFacts): boolean {
  return Object.values(resources).some((one) => one.isInWork === true && one.isAtRest !== true);
}

/** When the first of the open windows closes in which something is being done; undefined where none closes. */
export function windowEnd({ resources }: UpgradeFacts): number | undefined {
  const ends = Object.values(resources).flatMap((one) =>
    one.isInWork === true && one.windowClosesAt !== undefined ? [one.windowClosesAt] : [],
  );
  return ends.length > 0 ? Math.min(...ends) : undefined;
}

/** How many hosts are being upgraded now, as last reported. */
export function hostsInWork(facts: UpgradeFacts): number {
  return Object.values(facts.resources).reduce(
    (sum, { hosts, isInWork: works }) => sum + (hosts && works === true ? runningOf(hosts) : 0),
    0,
  );
}

/**
 * Changes whenever so many more hosts are done that lists are to show it: each twentieth of them, the first that is in work
 * and the first that fails. An upgrade of many clusters so writes its memo a few dozen times, however many reports it gets.
 */
export function hostsMilestone(plan: UpgradePlan, facts: UpgradeFacts): string {
  const hosts = sumHosts(plan, facts);
  if (!hosts) return "";
  const { total, done, failed, running } = hosts;
  const allKnown = Object.values(facts.resources).every((one) => one.isInWork !== true || one.hosts);
  return [total === 0 ? 0 : Math.floor((20 * (done + failed)) / total), running > 0, failed > 0, allKnown].join("/");
}

/** What is told of an upgrade beside its facts. */
export interface Told {
  readonly createdBy?: string | undefined;
  readonly state: PhaseState;
  /** When the Workflow's phase was entered; of an end its end. A Timestamp. */
  readonly phaseSince?: string;
  /** Resources that still have to be upgraded. */
  readonly unfinished: readonly ResourcePlan[];
  /** By resource id. */
  readonly leftOut?: ReadonlyMap<string, LeftOutResource>;
  /** Hosts that operators have left out. */
  readonly skippedHosts?: readonly SkippedHost[];
  /** Epoch milliseconds. */
  readonly now: number;
  /** Absent where the upgrade needs none. */
  readonly approvals?: UpgradeApprovals | undefined;
  /** What its prechecks have found; absent where nothing. */
  readonly findings?: FindingCounts | undefined;
}

/** The Upgrade (Spec 2.6) with all the facts that a list shows. */
export function upgradeWithFacts(plan: UpgradePlan, facts: UpgradeFacts, told: Told): Upgrade {
  const { state, createdBy, unfinished, approvals, findings } = told;
  const { spec, warnings } = plan;
  const { phase, since, workMilliseconds, workingSince, startedAt, committedAt, committedBy } = facts;
  const resources = resourcesOf(plan);
  const waiting = phaseWait(state);
  const until = phaseEnd(state);
  const begins = Math.min(...(unfinished.length > 0 ? unfinished : resources).map(beginTime));
  const hosts = sumHosts(plan, facts);
  // When a freeze or a window lets it continue is not known to those in work.
  const end = state.closed ? undefined : expectedEnd(plan, facts, unfinished, told.now);
  const hostVersions = sumVersions(plan, facts);
  const closes = windowEnd(facts);
  const leftOut = resources.flatMap(({ resourceId, name }) => {
    const reasonCode = told.leftOut?.get(resourceId)?.reasonCode;
    const hosts = (told.skippedHosts ?? [])
      .filter((host) => host.resourceId === resourceId)
      .map(({ hostId, hostName = hostId }) => ({ hostId, hostName, reasonCode: "SKIPPED_BY_OPERATOR" as const }));
    return [...(reasonCode ? [{ reasonCode }] : []), ...hosts].map((one) => ({ resourceId, name, ...one }));
  });
  return {
    ...upgradeView(plan, state.phase, told.phaseSince),
    name: plan.name,
    phase,
    since,
    ...(until !== undefined && { until }),
    ...(waiting && { waitingFor: { since, ...waiting } }),
    createdAt: plan.creationTimestamp,
    ...(createdBy !== undefined && { createdBy }),
    ...(committedAt !== undefined && { committedAt }),
    ...(committedBy !== undefined && { committedBy }),
    ...(begins > 0 && { beginsAt: toTimestamp(begins) }),
    ...(startedAt !== undefined && { startedAt }),
    ...(closes !== undefined && !hasEnded(state.phase) && { windowClosesAt: toTimestamp(closes) }),
    workSeconds: Math.floor(workMilliseconds / 1000),
    ...(workingSince !== undefined && { workingSince }),
    ...(hosts && { hosts }),
    ...(end !== undefined && { expectedEnd: toTimestamp(end) }),
    ...(phase === "ACTION_REQUIRED" && state.decideBy !== undefined && { decideBy: toTimestamp(state.decideBy) }),
    ...(leftOut.length > 0 && { leftOut }),
    versions: versionsOf(plan, facts),
    ...(hostVersions.length > 0 && { hostVersions }),
    resources: resources.flatMap((one) => initialResourceSubTask(one, plan.creationTimestamp).resources ?? []),
    draftMode: plan.draft,
    ...(spec.netvirtUpgradeUserInputSpecs && { netvirtUpgradeUserInputSpecs: spec.netvirtUpgradeUserInputSpecs }),
    ...(spec.mgmtUpgradeUserInputSpecs && { mgmtUpgradeUserInputSpecs: spec.mgmtUpgradeUserInputSpecs }),
    ...(approvals && { approvals }),
    ...(findings && { findings }),
    ...(warnings && { warnings: [...warnings] }),
  };
}

/** The Upgrade as it is accepted, before a worker has seen it. */
export function initialUpgrade(plan: UpgradePlan, createdBy?: string): Upgrade {
  const state = initialState(plan);
  const upgrade = upgradeWithFacts(plan, initialFacts(plan), {
    createdBy,
    state,
    unfinished: resourcesOf(plan),
    now: toEpochMilliseconds(plan.creationTimestamp),
    ...(plan.approvals !== undefined && {
      approvals: { required: plan.approvals, given: [], ...(createdBy !== undefined && { askedBy: [createdBy] }) },
    }),
  });
  if (state.phase !== "ACCEPTED") return upgrade;
  const message = "No worker has started it yet.";
  return { ...upgrade, waitingFor: { code: "WORKER", message, since: plan.creationTimestamp } };
}

function initialState(plan: UpgradePlan, phase: UpgradePhase = firstPhase(plan)): PhaseState {
  const earliest = Math.min(...resourcesOf(plan).map(beginTime));
  return {
    phase,
    cancelling: false,
    failedPrechecks: [],
    missedStart: undefined,
    inWork: false,
    hostsInWork: 0,
    nextTime: phase === "SCHEDULED" ? earliest : undefined,
    closed: undefined,
    lockHeld: undefined,
    decision: "OPEN",
    decideBy: undefined,
    lastError: undefined,
  };
}

function workedBy({ workMilliseconds, workingSince }: UpgradeFacts, at: number): number {
  return workMilliseconds + (workingSince === undefined ? 0 : Math.max(0, at - toEpochMilliseconds(workingSince)));
}

function endedOf({ upgraded, skipped, failed }: HostCounts): number {
  return upgraded + skipped + failed;
}

function runningOf(hosts: HostCounts): number {
  return Math.max(0, hosts.total - endedOf(hosts) - hosts.left);
}

/** The hosts of all clusters that have told theirs; undefined before the first. */
function sumHosts(plan: UpgradePlan, { resources }: UpgradeFacts): UpgradeHosts | undefined {
  const known = clustersOf(plan).flatMap(({ resourceId }) => resources[resourceId]?.hosts ?? []);
  if (known.length === 0) return undefined;
  const sum = (count: (hosts: HostCounts) => number) => known.reduce((all, one) => all + count(one), 0);
  const leftOut = sum((one) => one.leftOut ?? 0);
  return {
    total: sum(({ total }) => total),
    done: sum(({ upgraded, skipped }) => upgraded + skipped),
    running: sum(runningOf),
    failed: sum(({ failed }) => failed),
    left: sum(({ left }) => left),
    ...(leftOut > 0 && { leftOut }),
  };
}

/** What the hosts of all clusters run that have told it, at the latest. */
export function sumVersions(plan: UpgradePlan, { resources }: UpgradeFacts): HostVersion[] {
  const counts = new Map<string, number>();
  for (const { versions = {} } of clustersOf(plan).map(({ resourceId }) => resources[resourceId] ?? {}))
    for (const [version, hosts] of Object.entries(versions)) counts.set(version, (counts.get(version) ?? 0) + hosts);
  return [...counts].map(([version, hosts]) => ({ version, hosts })).sort((a, b) => (a.version < b.version ? -1 : 1));
}

function versionsOf(plan: UpgradePlan, { resources }: UpgradeFacts): ProductVersions[] {
  return plan.products
    .filter((one) => one.resources.length > 0)
    .map(({ product, resources: all }) => {
      const to = [...new Set(all.map(({ targetVersion }) => targetVersion))].sort();
      const from = [...new Set(all.flatMap(({ resourceId }) => resources[resourceId]?.versionsBefore ?? []))].sort();
      return { product, to, ...(from.length > 0 && { from }) };
    });
}

/**
 * When the last of the resources ends (epoch milliseconds): those in work by the time that their hosts have taken so far, those
 * that only wait for their time by what hosts of clusters like them have taken in this upgrade. Undefined where that is
 * not known of one of them: the first host is not done, an earlier product is in work, or something else waits.
 */
function expectedEnd(
  plan: UpgradePlan,
  facts: UpgradeFacts,
  unfinished: readonly ResourcePlan[],
  now: number,
): number | undefined {
  if ((facts.phase !== "RUNNING" && facts.phase !== "WAITING") || unfinished.length === 0) return undefined;
  const worked = workedBy(facts, now);
  const inOneProduct = plan.products.filter(({ resources }) => resources.some((one) => unfinished.includes(one)));
  if (inOneProduct.length > 1) return undefined;
  const ends = unfinished.map((resource) => {
    const { hosts, firstReport, isInWork: works } = facts.resources[resource.resourceId] ?? {};
    if (works !== true) return endOfOneToCome(plan, facts, resource, now);
    if (!hosts || !firstReport) return Infinity;
    const ended = endedOf(hosts) - firstReport.ended;
    if (ended <= 0) return Infinity;
    const remaining = runningOf(hosts) + hosts.left;
    return now + ((worked - firstReport.workMilliseconds) / ended) * remaining;
  });
  const last = Math.max(...ends);
  return Number.isFinite(last) ? Math.round(last) : undefined;
}

/** When a cluster ends that has not begun and waits for its time alone; Infinity where that cannot be known. */
function endOfOneToCome(plan: UpgradePlan, facts: UpgradeFacts, resource: ResourcePlan, now: number): number {
  const { versions, hosts } = facts.resources[resource.resourceId] ?? {};
  if (!isCluster(resource) || !versions || hosts || beginTime(resource) <= now) return Infinity;
  const { kind, image, targetVersion } = resource;
  const { hostsAtOnce } = rolloutOf(resource);
  const slowest = Math.max(
    ...clustersOf(plan)
      .filter((other) => other.kind === kind && rolloutOf(other).hostsAtOnce === hostsAtOnce)
      .map(({ resourceId }) => millisecondsOfHost(facts.resources[resourceId])),
  );
  // A personality has more than its version: hosts that run that may still lack the rest.
  const isDone = (version: string) => image === undefined && isSameVersion(version, targetVersion);
  const left = Object.entries(versions).reduce((sum, [version, count]) => sum + (isDone(version) ? 0 : count), 0);
  return slowest > 0 ? beginTime(resource) + slowest * left : Infinity;
}

/** How long a host of a cluster took on the average, with those beside it; 0 where none was done. */
function millisecondsOfHost({ firstReport, lastReport }: ResourceFacts = {}): number {
  if (!firstReport || !lastReport || lastReport.ended <= firstReport.ended) return 0;
  return (lastReport.workMilliseconds - firstReport.workMilliseconds) / (lastReport.ended - firstReport.ended);
}
