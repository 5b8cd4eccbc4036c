import { setCurrentDetails, setHandler, upsertMemo } from "@temporalio/workflow";
import {
  applyClusterProgress,
  countHosts,
  initialClusterSubTask,
  type ClusterOutcome,
  type ClusterProgress,
} from "../src/domain/cluster-progress";
import type { ErrorBody } from "../src/domain/error-body";
import type { SubTask } from "../src/domain/task";
import { toTimestamp } from "../src/domain/timestamp";
import { subTaskQuery, type ClusterUpgradeInput, type ResourceMemo, type ResourceResult } from "./messages";
import { PauseGate } from "./pause-gate";
import { reportHosts } from "./report-hosts";
import { describeResource, pausedWhile } from "./upgrade-details";

/** Progress without its time, which is now. */
type Happening = ClusterProgress extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/** A cluster's SubTask while its Workflow runs, and everywhere that it is shown. */
export class ClusterUpgradeState {
  private subTask: SubTask;
  private lastError: string | undefined;
  private reportedTenth = -1;
  private doing = "";
  private ended = false;
  /** Where the cluster stays while its upgrade is paused. */
  readonly pause = new PauseGate((paused) => this.pauseChanged(paused));

  constructor(readonly input: ClusterUpgradeInput) {
    this.subTask = initialClusterSubTask(input.cluster, now());
    setHandler(subTaskQuery, () => this.subTask);
  }

  /** Records what has happened; cheap, shown by the next Query. */
  record(happening: Happening): void {
    this.subTask = applyClusterProgress(this.subTask, { ...happening, at: now() });
    if (happening.type === "StageFailed" || happening.type === "HostFailed") this.lastError = happening.error.message;
  }

  /** A change of phase: says where the cluster stands in the Web UI, and in the memo for when no worker answers. */
  publish(doing = this.doing): void {
    this.doing = doing;
    const { upgraded, skipped, total, failed } = countHosts(this.subTask);
    const hosts = total > 0 ? [`Hosts: **${upgraded + skipped} of ${total}** at the target, ${failed} failed.`] : [];
    setCurrentDetails(describeResource(this.headline(), hosts, this.lastError));
    upsertMemo({ upgradeId: this.input.upgradeId, subTask: this.subTask } satisfies ResourceMemo);
  }

  private headline(): string {
    return this.pause.closed && !this.ended ? pausedWhile(this.doing) : this.doing;
  }

  private pauseChanged(paused: boolean): void {
    this.record({ type: "PauseChanged", paused });
    this.publish();
  }

  /**
   * Tells the upgrade how many hosts are done, and keeps them in the memo: at every tenth of them and at every error,
   * so that a large cluster floods neither its upgrade with Signals nor its history with memos.
   */
  async report(): Promise<void> {
    const hosts = countHosts(this.subTask);
    const done = hosts.upgraded + hosts.skipped + hosts.failed;
    const tenth = hosts.total === 0 ? 0 : Math.floor((10 * done) / hosts.total);
    if (tenth === this.reportedTenth && hosts.failed === 0) return;
    this.reportedTenth = tenth;
    this.publish();
    await reportHosts({
      resourceId: this.input.cluster.resourceId,
      hosts,
      ...(this.lastError !== undefined && { lastError: this.lastError }),
    });
  }

  /** The end, in the Task, the memo and the Web UI; gives the result for the upgrade. */
  end(outcome: ClusterOutcome, doing: string, error?: ErrorBody): ResourceResult {
    this.ended = true;
    this.record({ type: "Ended", outcome, ...(error && { error }) });
    if (error) this.lastError = error.message;
    this.publish(doing);
    return {
      outcome,
      hosts: countHosts(this.subTask),
      upgradedHosts: (this.subTask.subTasks ?? [])
        .filter((host) => host.status === "SUCCESSFUL")
        .flatMap((host) => host.resources?.[0]?.resourceId ?? []),
      ...(error && { error }),
    };
  }

  /** Ids of the hosts that still have to be upgraded, in their order. */
  waitingHosts(): readonly string[] {
    return (this.subTask.subTasks ?? [])
      .filter((host) => host.status === "PENDING")
      .flatMap((host) => host.resources?.[0]?.resourceId ?? []);
  }

  /** Errors of the hosts that failed, as one. */
  hostErrors(failed: number): ErrorBody {
    const errors = (this.subTask.subTasks ?? []).flatMap((host) =>
      host.status === "FAILED" ? (host.errors ?? []) : [],
    );
    return {
      errorCode: "HOSTS_FAILED_WITHIN_TOLERANCE",
      errorType: "UPGRADE",
      message: `${failed} hosts of cluster ${this.input.cluster.name} failed, which its rollout policy tolerates.`,
      remediationMessage: "Mend what the errors of the hosts name, then upgrade the cluster again for the rest.",
      nestedErrors: errors.slice(0, 10),
    };
  }

  hostCounts() {
    return countHosts(this.subTask);
  }
}

function now(): string {
  return toTimestamp(Date.now());
}
