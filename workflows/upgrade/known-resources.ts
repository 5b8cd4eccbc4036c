import type { ServerStanding } from "../../src/domain/plan/schedule";
import { isCluster, type ResourcePlan, type UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import { isSkipped, type ResourceStanding } from "../../src/domain/requests/skip";
import type { PublishedPhase } from "../../src/domain/spec/upgrade";
import type { LeftOutResource, SkippedBy } from "../../src/domain/task/left-out";
import { resourceTitle } from "../../src/domain/task/resource-progress";
import { type HostCounts, interruptedHosts } from "../../src/domain/task/sub-task";
import {
  enterPublishedPhase,
  initialFacts,
  readVersions,
  reportHosts,
  type UpgradeFacts,
  type VersionCounts,
  withResourceFacts,
} from "../../src/domain/upgrade/upgrade-facts";
import { currentTime, now } from "../clock";
import type { ChildRun, HostsReport, ResourceResult } from "../messages";

/** A host that an operator leaves out. */
export interface KnownSkippedHost extends SkippedBy {
  readonly resourceId: string;
  readonly hostId: string;
  readonly hostName?: string;
}

/** What one run of an upgrade hands to the next about its resources. */
export interface CarriedResources {
  readonly children: readonly ChildRun[];
  readonly facts: UpgradeFacts;
  readonly results: readonly (readonly [resourceId: string, ResourceResult])[];
  readonly hosts: readonly (readonly [resourceId: string, HostCounts])[];
  readonly leftOut: readonly (readonly [resourceId: string, LeftOutResource])[];
  readonly skippedHosts?: readonly KnownSkippedHost[];
  /** Of a retry of some resources alone: their ids. */
  readonly attempted?: readonly string[];
}

/** What an upgrade knows of its resources: their Workflows, their hosts, how they have ended, and the facts that lists show. */
export class KnownResources {
  private readonly children = new Map<string, ChildRun>();
  private readonly results: Map<string, ResourceResult>;
  private readonly hosts: Map<string, HostCounts>;
  private readonly without: Map<string, LeftOutResource>;
  private hostsLeftOut: readonly KnownSkippedHost[];
  /** Ids of the resources that this attempt is about; undefined where it is about all. */
  private attempted: ReadonlySet<string> | undefined;
  private currentFacts: UpgradeFacts;
  /** Resources whose work has begun in this attempt. */
  private readonly begunIds = new Set<string>();

  constructor(plan: UpgradePlan, before?: CarriedResources) {
    this.currentFacts = before?.facts ?? initialFacts(plan);
    this.results = new Map(before?.results);
    this.hosts = new Map(before?.hosts);
    this.without = new Map(before?.leftOut);
    this.hostsLeftOut = before?.skippedHosts ?? [];
    this.attempted = before?.attempted && new Set(before.attempted);
    for (const child of before?.children ?? []) this.childStarted(child);
  }

  get carried(): CarriedResources {
    const { runs: children, facts, skippedHosts, attempted } = this;
    return {
      ...{ children, facts, results: [...this.results], hosts: [...this.hosts], leftOut: [...this.without] },
      ...(skippedHosts.length > 0 && { skippedHosts }),
      ...(attempted && { attempted: [...attempted] }),
    };
  }

  get facts(): UpgradeFacts {
    return this.currentFacts;
  }

  /** The Workflows of resources that were started. */
  get runs(): ChildRun[] {
    return [...this.children.values()];
  }

  get hostCounts(): readonly HostCounts[] {
    return [...this.hosts.values()];
  }

  get begun(): ReadonlySet<string> {
    return this.begunIds;
  }

  resultOf(resourceId: string): ResourceResult | undefined {
    return this.results.get(resourceId);
  }

  /** Resources that this attempt still has to upgrade, in the order of the plan, of which `all` are the resources. */
  unfinished(all: readonly ResourcePlan[]): readonly ResourcePlan[] {
    return this.inAttempt(all).filter(({ resourceId }) => this.isToDo(resourceId));
  }

  /** Resources that still have to be upgraded, and not by this attempt. */
  notAttempted(all: readonly ResourcePlan[]): readonly ResourcePlan[] {
    const { attempted } = this;
    return attempted ? all.filter(({ resourceId }) => !attempted.has(resourceId) && this.isToDo(resourceId)) : [];
  }

  /** Those of the resources that this attempt is about. */
  inAttempt(all: readonly ResourcePlan[]): readonly ResourcePlan[] {
    return all.filter(({ resourceId }) => this.attempted?.has(resourceId) ?? true);
  }

  /** The next attempt is about these resources alone; undefined: about all. One that an operator has left out comes back. */
  attemptOnly(ids: readonly string[] | undefined): void {
    for (const id of ids ?? []) this.without.delete(id);
    this.attempted = ids && new Set(ids);
  }

  private isToDo(resourceId: string): boolean {
    return !this.without.has(resourceId) && !this.isDone(resourceId);
  }

  private isDone(resourceId: string): boolean {
    const outcome = this.results.get(resourceId)?.outcome;
    return outcome === "SUCCESSFUL" || outcome === "WITHIN_TOLERANCE" || outcome === "NOTHING_TO_DO";
  }

  /** Whether an operator has left a resource out. */
  isSkipped({ resourceId }: Pick<ResourcePlan, "resourceId">): boolean {
    return this.without.get(resourceId)?.reasonCode === "SKIPPED_BY_OPERATOR";
  }

  isInWork(resourceId: string): boolean {
    return this.currentFacts.resources[resourceId]?.isInWork === true;
  }

  /** Hosts that operators have left out. */
  get skippedHosts(): readonly KnownSkippedHost[] {
    return this.hostsLeftOut;
  }

  /** Leaves a host out. False where it has been left out before. */
  skipHost(host: KnownSkippedHost): boolean {
    if (isSkipped(host, this.hostsLeftOut)) return false;
    this.hostsLeftOut = [...this.hostsLeftOut, host];
    return true;
  }

  /** Where resources stand, for requests that leave something out. */
  standings({ products }: UpgradePlan): readonly ResourceStanding[] {
    return products.flatMap(({ resources }, product) =>
      resources.map((resource) => ({
        resourceId: resource.resourceId,
        title: resourceTitle(resource),
        isCluster: isCluster(resource),
        product,
        state: this.standingOf(resource),
      })),
    );
  }

  private standingOf(resource: ResourcePlan): ResourceStanding["state"] {
    const { resourceId } = resource;
    if (this.isSkipped(resource)) return "SKIPPED";
    if (this.without.has(resourceId)) return "LEFT_OUT";
    if (this.isInWork(resourceId)) return "IN_WORK";
    return this.isDone(resourceId) ? "DONE" : "TO_DO";
  }

  /** Resources that the upgrade leaves out, by their ids. */
  get leftOut(): ReadonlyMap<string, LeftOutResource> {
    return this.without;
  }

  leaveOut(resourceId: string, why: LeftOutResource): void {
    this.without.set(resourceId, why);
  }

  /** Those of these resources that prechecks have left out are to be upgraded again, where the next ones let them. */
  takeBack(resources: readonly ResourcePlan[]): void {
    for (const resource of resources) if (!this.isSkipped(resource)) this.without.delete(resource.resourceId);
  }

  /** The management servers among `all`, as requests about their switchovers depend on them. */
  servers(all: readonly ResourcePlan[]): readonly ServerStanding[] {
    return all.flatMap((one) => (one.kind === "MGMT" ? [{ ...one, hasEnded: this.results.has(one.resourceId) }] : []));
  }

  childStarted(child: ChildRun): void {
    this.children.set(child.resourceId, child);
  }

  /** Its Workflow has given its lock back without having begun: its SubTask is as the upgrade itself tells it. */
  childReleased(resourceId: string): void {
    this.children.delete(resourceId);
  }

  /** Its work begins. */
  started(resourceId: string): void {
    this.begunIds.add(resourceId);
    const { startedAt = now() } = this.currentFacts;
    const { firstReport: _first, lastReport: _last, ...known } = this.currentFacts.resources[resourceId] ?? {};
    const resources = { ...this.currentFacts.resources, [resourceId]: { ...known, isInWork: true, isAtRest: false } };
    this.currentFacts = { ...this.currentFacts, startedAt, resources };
  }

  /** Another attempt: nothing of it has begun. */
  retried(): void {
    this.begunIds.clear();
  }

  /** The prechecks have read what its hosts run. */
  versionsRead(resourceId: string, versions: VersionCounts): void {
    this.currentFacts = readVersions(this.currentFacts, resourceId, versions);
  }

  /** Its hosts, as it reports them. */
  hostsReported({ resourceId, ...report }: Pick<HostsReport, "resourceId" | "hosts" | "versions" | "isAtRest">): void {
    this.hosts.set(resourceId, report.hosts);
    this.currentFacts = reportHosts(this.currentFacts, resourceId, report, currentTime());
  }

  /** Until when the window is open in which a resource works (epoch milliseconds); undefined where it is closed or has no end. */
  windowKnown(resourceId: string, windowClosesAt: number | undefined): void {
    this.currentFacts = withResourceFacts(this.currentFacts, resourceId, { windowClosesAt });
  }

  /**
   * Keeps a resource's result, with what is known of its hosts where it could not say that at its end: their numbers
   * as last reported, of which those in work were interrupted, and those that an earlier attempt has upgraded.
   */
  ended(resourceId: string, ended: ResourceResult): ResourceResult {
    const { total, leftOut = 0 } = ended.hosts;
    const isKnown = total + leftOut > 0;
    const hosts = isKnown ? ended.hosts : interruptedHosts(this.hosts.get(resourceId) ?? ended.hosts);
    const before = this.results.get(resourceId)?.upgradedHosts ?? [];
    const result = { ...ended, hosts, upgradedHosts: [...new Set([...before, ...ended.upgradedHosts])] };
    this.results.set(resourceId, result);
    this.hosts.set(resourceId, hosts);
    this.currentFacts = reportHosts(this.currentFacts, resourceId, result, currentTime());
    this.currentFacts = withResourceFacts(this.currentFacts, resourceId, { isInWork: false });
    return result;
  }

  /** The draft was committed. */
  committed(by: string | undefined): void {
    this.currentFacts = { ...this.currentFacts, committedAt: now(), ...(by !== undefined && { committedBy: by }) };
  }

  /** The phase that clients read. True where it is another one than before. */
  enterPublishedPhase(phase: PublishedPhase): boolean {
    const before = this.currentFacts;
    this.currentFacts = enterPublishedPhase(before, phase, now());
    return this.currentFacts !== before;
  }
}
