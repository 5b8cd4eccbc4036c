import type { HostResult } from "../../src/domain/host-remediation";
import { DriverError, isBusy } from "../drivers/driver-error";
import { gaveUp } from "../patience";
import { isDesired } from "../target-image";
import { type ApplyVerdict, startOf, verdictOfTask } from "./apply-verdict";
import { awaitReconnect, verifyHost } from "./await-host";
import { connectionState, findRemediation } from "./find-remediation";
import { followTask } from "./follow-task";
import { NothingRuns } from "./nothing-runs";
import { desiredImageChanged, hostIncompatible, noTrace, otherOperation, stalledFor } from "./remediation-errors";
import { hostFailure, type RemediationContext } from "./remediation-context";

/** Requests that may leave no trace in the component manager before that is an error. */
const maximumRequests = 5;

/** Milliseconds by which two clocks are taken to differ where the last known result leaves room for it. */
const clockSlack = 2_000;

/** Why an attempt is in doubt, and has to wait and look again. */
type Doubt = "busy" | "away" | "unanswered" | "forgotten";

export interface HostRemediationOptions extends RemediationContext {
  /** Whether an earlier run may have asked for the remediation, which this run cannot know for sure. */
  readonly mayHaveRequested: boolean;
  /** The upgrade was cancelled: bring what runs to an end, start nothing. */
  readonly stopping: boolean;
}

/**
 * One attempt at one host, from wherever it stands. Invariants:
 * 1. A remediation is asked for only when no task runs, no result of this attempt exists and the host is connected
 *    and not at the target; and the intent is heartbeat before the request.
 * 2. After anything that leaves open whether a request arrived, the component manager is asked before it is repeated.
 * 3. While stopping nothing is asked for, and NothingRuns is thrown where the host was not upgraded.
 */
export class HostRemediationRun {
  readonly #o: HostRemediationOptions;
  /** Whether this attempt or an earlier one is known to have asked for a remediation. */
  #requested: boolean;
  #requests = 0;
  /** A remediation of ours was running when the component manager forgot its task. */
  #forgotten = false;
  /** Since when each doubt has lasted. */
  readonly #doubts = new Map<Doubt, number>();

  constructor(options: HostRemediationOptions) {
    this.#o = options;
    const { remoteTask, requestedAt, reportedFailures } = options.progress.current;
    this.#requested = remoteTask !== undefined || requestedAt !== undefined || reportedFailures > 0;
  }

  get #mayHaveRequested(): boolean {
    return this.#requested || this.#o.mayHaveRequested;
  }

  /** Throws ReportedFailure, DriverError, NothingRuns or the interruption of the patience. */
  async toTheEnd(): Promise<HostResult> {
    const { progress, input } = this.#o;
    const remediated = await this.#remediate();
    if (!remediated) {
      progress.succeed("CHECK_COMPLIANCE", "The host is at the target already.");
      const stages = progress.current.stages.slice(0, 1);
      return { host: input.host.host, outcome: "ALREADY_AT_TARGET", version: input.targetVersion, stages };
    }
    await awaitReconnect(this.#o);
    const version = await verifyHost(this.#o);
    progress.succeed("VERIFY", `Upgraded to ${version}.`);
    return { host: input.host.host, outcome: "UPGRADED", version, stages: progress.current.stages };
  }

  /** Until a remediation has ended well; false where none was needed. */
  async #remediate(): Promise<boolean> {
    const { client, patience, progress, input, stopping } = this.#o;
    if (!progress.current.requestedAt) progress.begin("CHECK_COMPLIANCE", "Comparing the host with the target image.");
    for (let round = 0; ; round++) {
      if (progress.current.remoteTask) {
        if (await this.#follow(progress.current.remoteTask)) return true;
        await patience.pause(round);
        continue;
      }
      const finding = await findRemediation({
        client,
        patience,
        input,
        mayHaveRequested: this.#mayHaveRequested,
        since: this.#requestedSince(),
      });
      switch (finding.found) {
        case "RUNNING":
          this.#requested = true;
          progress.attach(finding.task);
          continue;
        case "ENDED":
          await this.#judge(finding.verdict);
          return true;
        case "AT_TARGET":
          return this.#requested;
        case "OTHER_OPERATION":
          if (stopping) throw new NothingRuns();
          progress.note(`Waiting for another operation on the cluster (task ${finding.task}) to end.`);
          this.#waitAtMost("busy", () => otherOperation(client.id, finding.task));
          break;
        case "AWAY":
          if (stopping && !this.#mayHaveRequested) throw new NothingRuns();
          progress.note(`Waiting for the host, which is ${finding.state}.`);
          this.#waitAtMost("away", () => hostFailure(this.#o, "HOST_NOT_RECONNECTED", `is ${finding.state}`));
          break;
        case "INCOMPATIBLE":
          if (stopping) throw new NothingRuns();
          throw hostIncompatible(input, input.host.fqdn, finding.reasons);
        case "NOT_AT_TARGET":
          if (stopping) {
            if (!this.#forgotten) throw new NothingRuns();
            progress.note("Waiting for the end of the remediation, whose task the component manager has forgotten.");
            this.#waitAtMost("forgotten", () => new NothingRuns());
          } else if (await this.#request()) continue;
      }
      await patience.pause(round);
    }
  }

  /** Asks for the remediation. True where the answer says how it goes on; false where that has to be found out. */
  async #request(): Promise<boolean> {
    const { client, patience, progress, input } = this.#o;
    const { cluster } = input.cluster;
    const desired = await patience.persist(() => client.readDesiredImage(cluster));
    if (!isDesired(desired, input)) throw desiredImageChanged(input, desired.base_image.version);
    if (++this.#requests > maximumRequests) throw noTrace(input.host.fqdn, maximumRequests);

    const last = await patience.persist(() => client.readLastApplyResult(cluster));
    const lastStart = last && startOf(last, input.host.host);
    const before = { requested: this.#requested, requestedAt: progress.current.requestedAt };
    progress.intend(Math.max(client.now() - clockSlack, (lastStart ?? 0) + 1));
    this.#requested = true;
    // The host was compared with the image: what becomes of the request is not the failure of that.
    progress.begin("REMEDIATE", "Requesting the remediation.");
    try {
      const commit = input.commit === undefined ? {} : { commit: input.commit };
      // Not through patience: a request whose answer is lost must not be repeated without looking.
      progress.attach(await client.apply(cluster, { hosts: [input.host.host], ...commit }));
      this.#doubts.clear();
      return true;
    } catch (error) {
      if (!(error instanceof DriverError) || error.kind === "permanent") throw error;
      progress.note(error.message);
      if (isBusy(error) || error.kind === "alreadyDone") {
        // Refused: this request, unlike one without an answer, has certainly started nothing.
        this.#requested = before.requested;
        progress.retract(before.requestedAt);
      }
      if (isBusy(error)) this.#waitAtMost("busy", () => gaveUp(error, this.#o.limits.operationBusy));
      // Also "already in the desired state" is looked up: it is the host that has to say so.
      else if (error.kind === "transient") this.#waitAtMost("unanswered", () => gaveUp(error, this.#o.limits.outage));
      if (isBusy(error)) this.#requests--;
      return false;
    }
  }

  /** Follows a task; true where it ended and did not fail, false where it told nothing of this host. */
  async #follow(task: string): Promise<boolean> {
    const { client, patience, progress, input, limits, stopping } = this.#o;
    progress.begin("REMEDIATE", "The component manager remediates the host.");
    const { host } = input.host;
    const onProgress = (activity: string) => progress.note(activity);
    const options = { client, patience, task, hosts: [host], onProgress };
    let followed = await followTask({ ...options, stall: limits.stall, cancel: stopping });
    if (followed.end === "STALLED") {
      progress.note("No progress for too long: cancelling the remediation.");
      followed = await followTask({ ...options, stall: limits.operationBusy, cancel: true });
      const upgraded = followed.end === "ENDED" && verdictOfTask(followed.task, host).verdict === "OK";
      const ended = followed.end === "ENDED" ? followed.task : undefined;
      if (!upgraded) throw hostFailure(this.#o, "HOST_REMEDIATION_STALLED", stalledFor(task, ended).replace(/\.$/, ""));
    }
    if (followed.end !== "ENDED") {
      this.#forgotten = true;
      progress.detach();
      return false;
    }
    const verdict = verdictOfTask(followed.task, host);
    if (verdict.verdict === "OTHER") {
      progress.detach();
      return false;
    }
    await this.#judge(verdict);
    return true;
  }

  async #judge(verdict: ApplyVerdict): Promise<void> {
    const { client, patience, progress, input } = this.#o;
    progress.begin("REMEDIATE", "The remediation has ended.");
    if (verdict.verdict !== "FAILED") return;
    const state = await connectionState(client, patience, input.cluster.cluster, input.host.host);
    if (state === "CONNECTED") throw hostFailure(this.#o, "HOST_REMEDIATION_FAILED", "failed", verdict.reasons);
    throw hostFailure(this.#o, "HOST_NOT_RECONNECTED", `is ${state}`, verdict.reasons);
  }

  /** From when on a remediation of this host must be ours; undefined where this attempt cannot have asked. */
  #requestedSince(): number | undefined {
    const { client, progress } = this.#o;
    const { requestedAt } = progress.current;
    if (requestedAt !== undefined) return Date.parse(requestedAt);
    // A crash may have lost the heartbeat of the intent, never the attempt's beginning. That is our clock's.
    if (!this.#mayHaveRequested) return undefined;
    const slack = progress.current.reportedFailures > 0 ? 0 : clockSlack;
    return progress.began + (client.now() - Date.now()) - slack;
  }

  #waitAtMost(what: Doubt, error: () => Error): void {
    const { limits } = this.#o;
    const bound = {
      // What keeps the cluster busy may well be our own remediation, if there is one.
      busy: this.#requested ? Math.max(limits.stall, limits.operationBusy) : limits.operationBusy,
      away: limits.reconnect,
      unanswered: limits.outage,
      forgotten: limits.stall,
    }[what];
    const since = this.#doubts.get(what) ?? Date.now();
    this.#doubts.set(what, since);
    if (Date.now() - since >= bound) throw error();
  }
}
