import { setCurrentDetails, setHandler, upsertMemo } from "@temporalio/workflow";
import type { ClusterOutcome, HostCounts } from "../src/domain/cluster-progress";
import type { ErrorBody } from "../src/domain/error-body";
import {
  applyNetvirtProgress,
  countNodes,
  initialNetvirtSubTask,
  nodesOf,
  waitingComponents,
  type NetvirtHappening,
} from "../src/domain/netvirt-progress";
import type { NetvirtComponentType } from "../src/domain/netvirt-upgrade";
import type { SubTask } from "../src/domain/task";
import { toTimestamp } from "../src/domain/timestamp";
import { subTaskQuery, type NetvirtUpgradeInput, type ResourceMemo, type ResourceResult } from "./messages";
import { PauseGate } from "./pause-gate";
import { reportHosts } from "./report-hosts";
import { describeResource, pausedWhile } from "./upgrade-details";

/** A happening without its time, which is now. */
type Happening = NetvirtHappening extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/** A NETVIRT instance's SubTask while its Workflow runs, and everywhere that it is shown. */
export class NetvirtUpgradeState {
  private subTask: SubTask;
  private lastError: string | undefined;
  private doing = "";
  private ended = false;
  /** Where the instance stays while its upgrade is paused. */
  readonly pause = new PauseGate((paused) => this.pauseChanged(paused));

  constructor(readonly input: NetvirtUpgradeInput) {
    this.subTask = initialNetvirtSubTask(input.netvirt, now());
    setHandler(subTaskQuery, () => this.subTask);
  }

  /** Records what has happened; cheap, shown by the next Query. */
  record(happening: Happening): void {
    this.subTask = applyNetvirtProgress(this.subTask, { ...happening, at: now() });
    if (happening.type === "StageFailed" || happening.type === "ComponentFailed") {
      this.lastError = happening.error.message;
    }
  }

  /** A change of phase: says where the instance stands in the Web UI, and in the memo for when no worker answers. */
  publish(doing = this.doing): void {
    this.doing = doing;
    const { upgraded, skipped, total, failed } = this.nodeCounts();
    const nodes = total > 0 ? [`Nodes: **${upgraded + skipped} of ${total}** at the target, ${failed} failed.`] : [];
    setCurrentDetails(describeResource(this.headline(), nodes, this.lastError));
    upsertMemo({ upgradeId: this.input.upgradeId, subTask: this.subTask } satisfies ResourceMemo);
  }

  private headline(): string {
    return this.pause.closed && !this.ended ? pausedWhile(this.doing) : this.doing;
  }

  private pauseChanged(paused: boolean): void {
    this.record({ type: "PauseChanged", paused });
    this.publish();
  }

  /** Tells the upgrade how many nodes are done. Called once a component. */
  report(): Promise<void> {
    return reportHosts({
      resourceId: this.input.netvirt.resourceId,
      hosts: this.nodeCounts(),
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
      hosts: this.nodeCounts(),
      upgradedHosts: nodesOf(this.subTask)
        .filter((node) => node.status === "SUCCESSFUL")
        .flatMap((node) => node.resources?.[0]?.resourceId ?? []),
      ...(error && { error }),
    };
  }

  /** Components that still have to be upgraded, in their order. */
  waitingComponents(): readonly NetvirtComponentType[] {
    return waitingComponents(this.subTask);
  }

  nodeCounts(): HostCounts {
    return countNodes(this.subTask);
  }
}

function now(): string {
  return toTimestamp(Date.now());
}
