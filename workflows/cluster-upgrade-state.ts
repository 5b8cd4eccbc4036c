import {
  getExternalWorkflowHandle,
  log,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  workflowInfo,
} from "@temporalio/workflow";
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
import {
  hostsSignal,
  subTaskQuery,
  type ClusterUpgradeInput,
  type HostsReport,
  type ResourceMemo,
  type ResourceResult,
} from "./messages";
import { blankEnd } from "./upgrade-details";

/** Progress without its time, which is now. */
type Happening = ClusterProgress extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/** A cluster's SubTask while its Workflow runs, and everywhere that it is shown. */
export class ClusterUpgradeState {
  private subTask: SubTask;
  private lastError: string | undefined;
  private reportedTenth = -1;
  private doing = "";

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
    const error = this.lastError === undefined ? [] : [`Last error: ${this.lastError}`, blankEnd];
    setCurrentDetails([`**${doing}**`, ...hosts, ...error].join("\n\n"));
    upsertMemo({ upgradeId: this.input.upgradeId, subTask: this.subTask } satisfies ResourceMemo);
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
    const { parent } = workflowInfo();
    if (!parent) return;
    const { resourceId } = this.input.cluster;
    const report: HostsReport = {
      resourceId,
      hosts,
      ...(this.lastError !== undefined && { lastError: this.lastError }),
    };
    try {
      await getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(hostsSignal, report);
    } catch (error) {
      log.warn("The upgrade could not be told how many hosts are done", { resourceId, error });
    }
  }

  /** The end, in the Task, the memo and the Web UI; gives the result for the upgrade. */
  end(outcome: ClusterOutcome, doing: string, error?: ErrorBody): ResourceResult {
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

  hostCounts() {
    return countHosts(this.subTask);
  }
}

function now(): string {
  return toTimestamp(Date.now());
}
