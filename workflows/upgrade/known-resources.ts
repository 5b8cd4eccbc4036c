import type { ServerStanding } from "../../src/domain/plan/schedule";
import type { ResourcePlan, UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { PublishedPhase } from "../../src/domain/spec/upgrade";
import type { LeftOutResource } from "../../src/domain/task/left-out";
import type { HostCounts } from "../../src/domain/task/sub-task";
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

/** What one run of an upgrade hands to the next about its resources. */
export interface CarriedResources {
  readonly children: readonly ChildRun[];
  readonly facts: UpgradeFacts;
  readonly results: readonly (readonly [resourceId: string, ResourceResult])[];
  readonly hosts: readonly (readonly [resourceId: string, HostCounts])[];
  readonly leftOut: readonly (readonly [resourceId: string, LeftOutResource])[];
}

/** What an upgrade knows of its resources: their Workflows, their hosts, how they have ended, and the facts that lists show. */
export class KnownResources {
  private readonly children = new Map<string, ChildRun>();
  private readonly results: Map<string, ResourceResult>;
  private readonly hosts: Map<string, HostCounts>;
  private readonly without: Map<string, LeftOutResource>;
  private currentFacts: UpgradeFacts;
  /** Resources whose work has begun in this attempt. */
  private readonly begunIds = new Set<string>();

  constructor(plan: UpgradePlan, before?: CarriedResources) {
    this.currentFacts = before?.facts ?? initialFacts(plan);
    this.results = new Map(before?.results);
    this.hosts = new Map(before?.hosts);
    this.without = new Map(before?.leftOut);
    for (const child of before?.children ?? []) this.childStarted(child);
  }

  get carried(): CarriedResources {
    const { runs: children, facts } = this;
    return { children, facts, results: [...this.results], hosts: [...this.hosts], leftOut: [...this.without] };
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

  /** Resources that still have to be upgraded, in the order of the plan, of which `all` are the resources. */
  unfinished(all: readonly ResourcePlan[]): readonly ResourcePlan[] {
    return all.filter(({ resourceId }) => {
      if (this.without.has(resourceId)) return false;
      const outcome = this.results.get(resourceId)?.outcome;
      return outcome !== "SUCCESSFUL" && outcome !== "WITHIN_TOLERANCE" && outcome !== "NOTHING_TO_DO";
    });
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
    for (const { resourceId } of resources) this.without.delete(resourceId);
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
   * as last reported, and those that an earlier attempt has upgraded.
   */
  ended(resourceId: string, ended: ResourceResult): ResourceResult {
    const hosts = ended.hosts.total > 0 ? ended.hosts : (this.hosts.get(resourceId) ?? ended.hosts);
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
