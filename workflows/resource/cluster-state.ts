import { CancellationScope } from "@temporalio/workflow";
import { isRight } from "fp-ts/Either";
import type { ErrorBody } from "../../src/domain/errors";
import { isInScope } from "../../src/domain/plan/host-scope";
import type { SubTask } from "../../src/domain/spec/task";
import {
  applyClusterProgress,
  type ClusterProgress,
  type ClusterStageType,
  countHosts,
  initialClusterSubTask,
} from "../../src/domain/task/cluster-progress";
import { leftOutWarnings, notInScope, skippedByOperator } from "../../src/domain/task/left-out";
import type { ClusterHost, OutOfService } from "../../src/domain/task/host-remediation";
import type { HostCounts, ResourceOutcome } from "../../src/domain/task/sub-task";
import type { VersionCounts } from "../../src/domain/upgrade/upgrade-facts";
import { now } from "../clock";
import {
  type BeginPayload,
  type ClusterUpgradeInput,
  type HostSkip,
  type HostSkipAnswer,
  HostSkipQuestion,
  hostSkippedSignal,
  skipHostSignal,
} from "../messages";
import { type CommonEvent, type EndDetails, ResourceState, upgradedIds } from "./resource-state";
import { tellUpgrade } from "./tell-upgrade";

/** Progress without its time, which is now. */
type ProgressEvent = ClusterProgress extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/** A cluster's SubTask while its Workflow runs, and everywhere that it is shown. */
export class ClusterUpgradeState extends ResourceState<ProgressEvent, ClusterStageType> {
  protected readonly counted = "Hosts";
  /** Ids of the virtual machines that ran on each host, by its id, before the upgrade switched them off. */
  private readonly running = new Map<string, readonly string[]>();
  private readonly outOfService = new Map<string, OutOfService>();
  /** Whether something was found at the end that is not as it should be, and could not be put back. */
  hasLeftovers = false;
  private publishedTenth = -1;
  private publishedFailure = false;
  private reportedRunning = 0;
  private reportIsDue = false;
  /** Versions of the hosts, by their ids, as last read. */
  private readonly hostVersions = new Map<string, string>();

  /** Hosts that operators have left out, some perhaps before they were read. */
  private readonly skips: HostSkip[] = [];
  /** Ids of hosts that wait and have failed before, so that they have begun all the same. */
  private readonly attempted = new Set<string>();
  private answers: Promise<unknown> = Promise.resolve();

  constructor(private readonly given: ClusterUpgradeInput) {
    super({ ...given, ...given.cluster }, initialClusterSubTask(given.cluster, now()));
    this.signals.on(skipHostSignal, (payload) => {
      const question = HostSkipQuestion.decode(payload);
      if (isRight(question)) this.answer(question.right);
    });
  }

  /** As it was started, with what its upgrade ignores since. */
  get input(): ClusterUpgradeInput {
    return { ...this.given, cluster: this.current(this.given.cluster) };
  }

  override begun(input: BeginPayload): void {
    super.begun(input);
    this.skips.push(...(input.skippedHosts ?? []));
  }

  /** Says whether a host is left out from here on. The end of a cancelled cluster answers as well. */
  private answer({ number, ...skip }: HostSkipQuestion): void {
    const answer: HostSkipAnswer = { number, ...this.skip(skip) };
    const told = CancellationScope.nonCancellable(() => tellUpgrade(hostSkippedSignal, answer));
    this.answers = Promise.all([this.answers, told]);
  }

  private skip(skip: HostSkip): Omit<HostSkipAnswer, "number"> {
    if (this.subTask.subTasks === undefined) {
      this.skips.push(skip);
      return { found: "LEFT_OUT" };
    }
    const host = this.hosts.find((one) => names(skip, one));
    if (!host) return { found: "UNKNOWN" };
    const { status, reasonCode, name: hostName, resources } = host;
    const hostId = resources?.[0]?.resourceId ?? "";
    const told = { hostId, hostName };
    // One that has failed is left out by the next attempt, if there is one.
    if (status === "FAILED" || reasonCode === "SKIPPED_BY_OPERATOR") return { ...told, found: "LEFT_OUT" };
    if (status === "IN_PROGRESS" || this.attempted.has(hostId)) return { ...told, found: "IN_WORK" };
    if (status !== "PENDING") return { ...told, found: "NOT_NEEDED" };
    this.record({ type: "HostLeftOut", host: hostId, ...skippedByOperator(skip) });
    this.hostsChanged();
    this.report();
    return { ...told, found: "LEFT_OUT" };
  }

  override async reported(): Promise<void> {
    for (let answers; answers !== this.answers;) {
      ({ answers } = this);
      await answers;
    }
    await super.reported();
  }

  protected apply(event: ProgressEvent | CommonEvent<ClusterStageType>, at: string): SubTask {
    return applyClusterProgress(this.subTask, { ...event, at });
  }

  override record(event: ProgressEvent | CommonEvent<ClusterStageType>): void {
    super.record(event);
    if (event.type === "HostsRead" || event.type === "HostsJoined" || event.type === "HostsLookedAt")
      this.hostsSeen(event.hosts);
    else if (event.type === "HostSucceeded") this.hostVersions.set(event.host, event.result.version);
    else if (event.type === "HostLeft") this.hostVersions.delete(event.host);
    if (event.type === "HostsRead" || event.type === "HostsJoined") this.leaveOut(event.hosts);
  }

  /** Those of hosts that were just read which are not to be upgraded. */
  private leaveOut(hosts: readonly ClusterHost[]): void {
    for (const { host, fqdn, version } of hosts) {
      const skip = this.skips.find((one) => names(one, { name: fqdn, resources: [{ resourceId: host }] }));
      if (!isInScope(this.input.cluster.hosts, host))
        this.record({ type: "HostLeftOut", host, ...notInScope(version) });
      else if (skip) this.record({ type: "HostLeftOut", host, ...skippedByOperator(skip) });
    }
  }

  /** Of these hosts those that are still to be begun. */
  stillWaiting<H extends Pick<ClusterHost, "host">>(hosts: readonly H[]): H[] {
    const waiting = new Set(this.waitingHosts());
    return hosts.filter(({ host }) => waiting.has(host));
  }

  /** Of these hosts those of which this upgrade has done something. */
  endedAmong<H extends Pick<ClusterHost, "host">>(hosts: readonly H[]): H[] {
    const ended = new Set(
      this.hosts
        .filter(({ status }) => status === "SUCCESSFUL" || status === "FAILED")
        .map(({ resources }) => resources?.[0]?.resourceId),
    );
    return hosts.filter(({ host }) => ended.has(host));
  }

  /** A host waits for another attempt. */
  noteAttempted(host: string): void {
    this.attempted.add(host);
  }

  /** What hosts run, as just read. */
  private hostsSeen(hosts: readonly ClusterHost[]): void {
    for (const { host, version } of hosts) this.hostVersions.set(host, version);
  }

  counts(): HostCounts {
    return countHosts(this.subTask);
  }

  protected override countsToReport(): HostCounts {
    const counts = this.counts();
    this.reportedRunning = runningOf(counts);
    return counts;
  }

  protected override versions(): VersionCounts | undefined {
    if (this.hostVersions.size === 0) return undefined;
    const counts: Record<string, number> = {};
    for (const version of this.hostVersions.values())
      counts[version || "unknown"] = (counts[version || "unknown"] ?? 0) + 1;
    return counts;
  }

  protected ending(outcome: ResourceOutcome, { error }: EndDetails): ProgressEvent {
    return { type: "Ended", outcome, ...(error && { error }) };
  }

  protected upgradedHosts(): readonly string[] {
    return upgradedIds(this.subTask.subTasks ?? []);
  }

  /**
   * Publishes the hosts: at every tenth of them and at the first failure, so that a large cluster floods neither its upgrade
   * with Signals nor its history with memos. They are reported to the upgrade by {@link hostsBegan} or {@link hostsWait}, so
   * that the same Signal tells of the next ones.
   */
  hostsChanged(): void {
    const hosts = this.counts();
    const done = hosts.upgraded + hosts.skipped + hosts.failed;
    const tenth = hosts.total === 0 ? 0 : Math.floor((10 * done) / hosts.total);
    const isFirstFailure = hosts.failed > 0 && !this.publishedFailure;
    if (tenth === this.publishedTenth && !isFirstFailure) return this.show();
    this.publishedTenth = tenth;
    this.publishedFailure = hosts.failed > 0;
    this.publish();
    this.reportIsDue = true;
  }

  /** Hosts have begun: shows them, and reports them where there is something new to tell; at once how many are in work. */
  hostsBegan(): void {
    this.show();
    if (runningOf(this.counts()) !== this.reportedRunning) this.report();
    else this.hostsWait();
    this.reportIsDue = false;
  }

  /** No further host begins for now: reports what has changed. */
  hostsWait(): void {
    if (this.reportIsDue) this.reportSoon();
    this.reportIsDue = false;
  }

  /** Ids of the hosts that still have to be upgraded, in their order. */
  waitingHosts(): readonly string[] {
    return (this.subTask.subTasks ?? [])
      .filter((host) => host.status === "PENDING")
      .flatMap((host) => host.resources?.[0]?.resourceId ?? []);
  }

  /** Hosts of the cluster, as far as the upgrade knows them. */
  get hosts(): readonly SubTask[] {
    return this.subTask.subTasks ?? [];
  }

  /** Those hosts that the upgrade does not know yet. */
  unknownAmong(hosts: readonly ClusterHost[]): readonly ClusterHost[] {
    const known = new Set(this.hosts.map(({ resources }) => resources?.[0]?.resourceId));
    return hosts.filter(({ host }) => !known.has(host));
  }

  /** What is to be told of the hosts of a cluster that has not failed. */
  hostWarnings(): readonly ErrorBody[] {
    const failures = this.hostErrors();
    return [...(failures ? [failures] : []), ...leftOutWarnings(this.input.cluster.name, this.hosts)];
  }

  /** Errors of the hosts that failed, as one; undefined where none has. */
  private hostErrors(): ErrorBody | undefined {
    const { failed } = this.counts();
    if (failed === 0) return undefined;
    const errors = (this.subTask.subTasks ?? []).flatMap((host) =>
      host.status === "FAILED" ? (host.errors ?? []) : [],
    );
    const hosts = failed === 1 ? "1 host" : `${failed} hosts`;
    return {
      errorCode: "HOSTS_FAILED_WITHIN_TOLERANCE",
      errorType: "UPGRADE",
      message: `${hosts} of cluster ${this.input.cluster.name} failed, which its rollout policy tolerates.`,
      remediationMessage: "Fix what the errors of the hosts name, then upgrade the cluster again for the rest.",
      nestedErrors: errors.slice(0, 10),
    };
  }

  /** What runs on a host and is about to be switched off. */
  rememberRunning(host: string, vms: readonly string[]): void {
    if (vms.length > 0) this.running.set(host, vms);
  }

  /** Ids of all the virtual machines that the upgrade may have switched off. */
  get switchedOff(): readonly string[] {
    return [...new Set([...this.running.values()].flat())];
  }

  /** Those that ran on one host. */
  switchedOffOn(host: string): readonly string[] {
    return this.running.get(host) ?? [];
  }

  /** What the attempts at a host have changed of it and not put back. */
  rememberOutOfService(host: string, left: OutOfService): void {
    this.outOfService.set(host, left);
  }

  /** The same, as known since the last attempt. */
  outOfServiceOf(host: string): OutOfService {
    return this.outOfService.get(host) ?? {};
  }

  /** Whether a host was begun, so that what became of it is looked at in the end. */
  get hasBegunHosts(): boolean {
    return this.hosts.some(({ status }) => status === "IN_PROGRESS" || status === "SUCCESSFUL" || status === "FAILED");
  }
}

/** Whether an operator means this host. */
function names({ host }: HostSkip, { name, resources }: Pick<SubTask, "name" | "resources">): boolean {
  return resources?.[0]?.resourceId === host || name.toLowerCase() === host.toLowerCase();
}

function runningOf({ total, upgraded, skipped, failed, left }: HostCounts): number {
  return total - upgraded - skipped - failed - left;
}
