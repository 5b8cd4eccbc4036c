import type { ActivityLimits } from "../../activity-limits";
import { reasonsOf, saysServiceRestart } from "../../complete-task";
import type { ClusterTarget } from "../../contract";
import { type Begin, ClosureError } from "../../closure-check";
import { DriverError, isAnsweredForNow, isBusy } from "../../drivers/driver-error";
import type { VlcmClient } from "../../drivers/vlcm/vlcm-client";
import { ApplyResult, type TaskInfo, textsOf } from "../../drivers/vlcm/vlcm-models";
import { GiveUpError, type RetryPolicy } from "../../retry-policy";
import { desiredImageChanged, noTrace } from "../remediation-errors";
import type { RemediationTracker } from "../remediation-tracker";
import { isDesired } from "./target-image";

/** Requests that may leave no trace in the component manager before that is an error. */
const maximumRequests = 5;

/** Milliseconds by which two clocks are taken to differ where the last known result leaves room for it. */
const clockSlack = 2_000;

/** Why it is uncertain how an attempt stands, so that it has to wait and look again. */
type Uncertain = "busy" | "away" | "unanswered" | "forgotten";

interface RequestsOptions {
  readonly client: VlcmClient;
  readonly input: ClusterTarget & { readonly commit?: string };
  readonly limits: ActivityLimits;
  readonly retryPolicy: RetryPolicy;
  readonly progress: RemediationTracker;
  readonly begin: Begin;
  /** Whether an earlier run may have asked for a remediation, which this run cannot know for sure. */
  readonly mayHaveRequested: boolean;
}

interface RemediationRequest {
  /** Whether it begins the hosts, of which nothing is in work yet. */
  readonly begins: boolean;
  /** Ids of the hosts, and what they are called in errors. */
  readonly hosts: readonly string[];
  readonly named: string;
  /** The last result of this host tells from when on a result is that of this request. */
  readonly witness: string;
  /** Heartbeats that the request is about to be made; `requestedAt` by the component manager's clock, in epoch milliseconds. */
  readonly intend: (requestedAt: number) => void;
}

/** What an attempt knows of its requests for a remediation, and for how long it has been uncertain of them. */
export class RemediationRequests {
  readonly #o: RequestsOptions;
  /** Since when each has been uncertain. */
  readonly #uncertain = new Map<Uncertain, number>();
  #withoutTrace = 0;
  #areKnown: boolean;

  /** `areKnown`: whether this attempt or an earlier one is known to have asked for a remediation. */
  constructor(options: RequestsOptions, areKnown: boolean) {
    this.#o = options;
    this.#areKnown = areKnown;
  }

  get areKnown(): boolean {
    return this.#areKnown;
  }

  get arePossible(): boolean {
    return this.#areKnown || this.#o.mayHaveRequested;
  }

  /** What runs is of a request that no run knew of. */
  found(): void {
    this.#areKnown = true;
  }

  /** Hosts have moved, so the requests have left a trace. */
  moved(): void {
    this.#withoutTrace = 0;
  }

  /** Asks for a remediation. True where the answer says how it goes on; false where that has to be found out. */
  async ask({ begins, hosts, named, witness, intend }: RemediationRequest): Promise<boolean> {
    const { client, retryPolicy, progress, input, limits, begin } = this.#o;
    const { cluster } = input.cluster;
    const desired = await retryPolicy.retry(() => client.readDesiredImage(cluster));
    if (!isDesired(desired, input)) throw desiredImageChanged(input, desired.base_image.version);
    if (++this.#withoutTrace > maximumRequests) throw noTrace(named, maximumRequests);

    const last = await retryPolicy.retry(() => client.readLastApplyResult(cluster));
    const lastStart = last && startOf(last, witness);
    const wereKnown = this.#areKnown;
    this.#areKnown = true;
    intend(Math.max(client.now() - clockSlack, (lastStart ?? 0) + 1));
    try {
      const commit = input.commit === undefined ? {} : { commit: input.commit };
      // Not through retryPolicy: a request whose answer is lost must not be repeated without looking.
      const apply = () => retryPolicy.once(() => client.apply(cluster, { hosts, ...commit }));
      progress.attach(await (begins ? begin(apply, { cluster: input.cluster.resourceId, hosts }) : apply()));
      this.#uncertain.clear();
      return true;
    } catch (error) {
      if (error instanceof ClosureError) progress.retract();
      if (!(error instanceof DriverError) || error.kind === "permanent") throw error;
      progress.note(error.message);
      if (isBusy(error) || error.kind === "alreadyDone") {
        // Refused: this request, unlike one without an answer, has certainly started nothing.
        this.#areKnown = wereKnown;
        progress.retract();
      }
      if (isBusy(error)) this.waitAtMost("busy", () => new GiveUpError(error, limits.operationBusy));
      // Also "already in the desired state" is looked up: it is the host that has to say so.
      else if (error.kind === "transient") this.waitAtMost("unanswered", () => new GiveUpError(error, limits.outage));
      if (isAnsweredForNow(error)) this.#withoutTrace--;
      return false;
    }
  }

  /**
   * From when on a remediation must be ours, by the component manager's clock; undefined where this attempt cannot have
   * asked. `hasFailures`: an attempt at one of the hosts has failed before.
   */
  since(hasFailures: boolean): number | undefined {
    const { client, progress, retryPolicy } = this.#o;
    const { requestedAt } = progress.current;
    if (requestedAt !== undefined) return Date.parse(requestedAt);
    // A crash may have lost the heartbeat of the intent, never the attempt's beginning. That is our clock's.
    if (!this.arePossible) return undefined;
    return progress.began + (client.now() - retryPolicy.clock.timeOfDay()) - (hasFailures ? 0 : clockSlack);
  }

  /** Throws the error once this has been uncertain for as long as its limit. */
  waitAtMost(what: Uncertain, error: () => Error): void {
    if (this.isOver(what)) throw error();
  }

  /** Whether this, uncertain from the first time that it is asked for, has been so for as long as its limit. */
  isOver(what: Uncertain): boolean {
    const { limits, retryPolicy } = this.#o;
    const bound = {
      // What keeps the cluster busy may well be our own remediation, if there is one.
      busy: this.#areKnown ? Math.max(limits.stall, limits.operationBusy) : limits.operationBusy,
      away: limits.reconnect,
      unanswered: limits.outage,
      forgotten: limits.stall,
    }[what];
    const since = this.#uncertain.get(what) ?? retryPolicy.clock.now();
    this.#uncertain.set(what, since);
    return retryPolicy.clock.now() - since >= bound;
  }
}

/**
 * What a remediation came to for one host. OTHER: it was not about this host. UNKNOWN: it ended and does not say, so
 * that the host itself has to be looked at.
 */
export type ApplyVerdict =
  | { readonly verdict: "OK" | "OTHER" | "UNKNOWN" }
  | { readonly verdict: "FAILED"; readonly reasons: readonly string[] };

/** The verdict of a remediation's result; a host that was skipped or not finished is not judged by it. */
export function verdictOfResult(result: ApplyResult, host: string): ApplyVerdict {
  const own = result.host_status?.[host];
  const status = own?.status ?? "";
  if (wasEndedByRestart(result, host)) return { verdict: "UNKNOWN" };
  if (result.failed_hosts?.includes(host) || status === "ERROR" || status === "TIMED_OUT") {
    const reasons = [
      ...textsOf(own?.notifications?.errors),
      ...textsOf(result.status?.notifications?.errors),
      ...textsOf(result.notifications?.errors),
    ];
    return {
      verdict: "FAILED",
      reasons: reasons.length > 0 ? reasons : [`The host's status is ${status || "failed"}.`],
    };
  }
  if (result.successful_hosts?.includes(host) || status === "OK") return { verdict: "OK" };
  if (own || result.skipped_hosts?.includes(host)) return { verdict: "UNKNOWN" };
  return namesHosts(result) ? { verdict: "OTHER" } : { verdict: "UNKNOWN" };
}

/** Whether the manager has ended the remediation of a host by its own restart, so that the host has to be looked at. */
function wasEndedByRestart({ host_status, status, notifications }: ApplyResult, host: string): boolean {
  const own = host_status?.[host];
  const isOfAll = textsOf(own?.notifications?.errors).length === 0 && own?.status !== "OK";
  return [own?.notifications, ...(isOfAll ? [status?.notifications, notifications] : [])].some(saysServiceRestart);
}

/** The verdict of a task that has ended. A task may succeed with a failed host in it. */
export function verdictOfTask(task: TaskInfo, host: string): ApplyVerdict {
  const result = ApplyResult.is(task.result) ? task.result : {};
  const judged = verdictOfResult(result, host);
  if (judged.verdict === "FAILED") {
    const told = reasonsOf({ ...task, result: undefined });
    return { verdict: "FAILED", reasons: [...new Set([...judged.reasons, ...told])] };
  }
  if (wasEndedByRestart(result, host)) return judged;
  if (task.status === "SUCCEEDED" || judged.verdict === "OK" || judged.verdict === "OTHER") return judged;
  const reasons = reasonsOf(task);
  return { verdict: "FAILED", reasons };
}

/** The verdict of one of several hosts: one that was skipped has not failed, whatever became of the others. */
export function verdictAmongHosts(task: TaskInfo, host: string): ApplyVerdict {
  const result = ApplyResult.is(task.result) ? task.result : {};
  const judged = verdictOfResult(result, host);
  return namesHosts(result) && judged.verdict === "UNKNOWN" ? judged : verdictOfTask(task, host);
}

/** Whether an unfinished remediation works on this host; undefined where it does not say yet. */
export function worksOn(task: TaskInfo, host: string): boolean | undefined {
  if (!ApplyResult.is(task.result) || !namesHosts(task.result)) return undefined;
  return verdictOfResult(task.result, host).verdict !== "OTHER";
}

/** Epoch milliseconds at which a remediation began, by the component manager's clock. */
export function startOf(result: ApplyResult, host: string): number | undefined {
  const start = Date.parse(result.status?.start_time ?? result.host_status?.[host]?.start_time ?? "");
  return Number.isNaN(start) ? undefined : start;
}

function namesHosts({ host_status, successful_hosts, failed_hosts, skipped_hosts }: ApplyResult): boolean {
  const listed = [successful_hosts, failed_hosts, skipped_hosts].some((hosts) => hosts && hosts.length > 0);
  return listed || Object.keys(host_status ?? {}).length > 0;
}
