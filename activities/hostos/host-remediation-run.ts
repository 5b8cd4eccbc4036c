import type { HostResult } from "../../src/domain/host-remediation";
import { type ApplyVerdict, verdictOfTask } from "./apply-verdict";
import { awaitReconnect, verifyHost } from "./await-host";
import { connectionState, findRemediation } from "./find-remediation";
import { followTask } from "./follow-task";
import { NothingRuns } from "./nothing-runs";
import { hostIncompatible, otherOperation, stalledFor } from "./remediation-errors";
import { hostFailure, type RemediationContext } from "./remediation-context";
import { RemediationRequests } from "./remediation-requests";

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
  readonly #requests: RemediationRequests;
  /** A remediation of ours was running when the component manager forgot its task. */
  #forgotten = false;

  constructor(options: HostRemediationOptions) {
    this.#o = options;
    const { remoteTask, requestedAt, reportedFailures } = options.progress.current;
    const areKnown = remoteTask !== undefined || requestedAt !== undefined || reportedFailures > 0;
    this.#requests = new RemediationRequests(options, areKnown);
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
        mayHaveRequested: this.#requests.arePossible,
        since: this.#requests.since(progress.current.reportedFailures > 0),
      });
      switch (finding.found) {
        case "RUNNING":
          this.#requests.found();
          progress.attach(finding.task);
          continue;
        case "ENDED":
          await this.#judge(finding.verdict);
          return true;
        case "AT_TARGET":
          return this.#requests.areKnown;
        case "OTHER_OPERATION":
          if (stopping) throw new NothingRuns();
          progress.note(`Waiting for another operation on the cluster (task ${finding.task}) to end.`);
          this.#requests.waitAtMost("busy", () => otherOperation(client.id, finding.task));
          break;
        case "AWAY":
          if (stopping && !this.#requests.arePossible) throw new NothingRuns();
          progress.note(`Waiting for the host, which is ${finding.state}.`);
          this.#requests.waitAtMost("away", () => hostFailure(this.#o, "HOST_NOT_RECONNECTED", `is ${finding.state}`));
          break;
        case "INCOMPATIBLE":
          if (stopping) throw new NothingRuns();
          throw hostIncompatible(input, input.host.fqdn, finding.reasons);
        case "NOT_AT_TARGET":
          if (stopping) {
            if (!this.#forgotten) throw new NothingRuns();
            progress.note("Waiting for the end of the remediation, whose task the component manager has forgotten.");
            this.#requests.waitAtMost("forgotten", () => new NothingRuns());
          } else if (await this.#request()) continue;
      }
      await patience.pause(round);
    }
  }

  /** Asks for the remediation. True where the answer says how it goes on; false where that has to be found out. */
  #request(): Promise<boolean> {
    const { progress, input } = this.#o;
    const { host, fqdn } = input.host;
    return this.#requests.ask({
      hosts: [host],
      named: fqdn,
      witness: host,
      intend: (requestedAt) => {
        progress.intend(requestedAt);
        // The host was compared with the image: what becomes of the request is not the failure of that.
        progress.begin("REMEDIATE", "Requesting the remediation.");
      },
      retract: (requestedAt) => progress.retract(requestedAt),
    });
  }

  /** Follows a task; true where it ended and did not fail, false where it told nothing of this host. */
  async #follow(task: string): Promise<boolean> {
    const { client, patience, progress, input, limits, stopping } = this.#o;
    progress.begin("REMEDIATE", "The component manager remediates the host.");
    const { host } = input.host;
    const onProgress = progress.note.bind(progress);
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
}
