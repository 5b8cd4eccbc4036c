import { setCurrentDetails, setHandler, upsertMemo } from "@temporalio/workflow";
import type { ClusterOutcome } from "../src/domain/cluster-progress";
import type { ErrorBody } from "../src/domain/error-body";
import {
  applyMgmtProgress,
  countMgmt,
  describeMgmtEnd,
  initialMgmtSubTask,
  type MgmtEvent,
} from "../src/domain/mgmt-progress";
import type { SubTask } from "../src/domain/task";
import { toTimestamp } from "../src/domain/timestamp";
import { subTaskQuery, type MgmtUpgradeInput, type ResourceMemo, type ResourceResult } from "./messages";
import { PauseGate } from "./pause-gate";
import { reportHosts } from "./report-hosts";
import { describeResource, pausedWhile } from "./upgrade-details";

/** An event without its time, which is now. */
type Happening = MgmtEvent extends infer E ? (E extends unknown ? Omit<E, "at"> : never) : never;

/** A management server's SubTask while its Workflow runs, and everywhere that it is shown. */
export class MgmtUpgradeState {
  private subTask: SubTask;
  private lastError: string | undefined;
  private doing = "";
  private ended = false;
  /** Where the server stays while its upgrade is paused. */
  readonly pause = new PauseGate((paused) => this.pauseChanged(paused));

  constructor(readonly input: MgmtUpgradeInput) {
    this.subTask = initialMgmtSubTask(input.mgmt, now());
    setHandler(subTaskQuery, () => this.subTask);
  }

  /** Records what has happened; cheap, shown by the next Query. */
  record(happening: Happening): void {
    this.subTask = applyMgmtProgress(this.subTask, { ...happening, at: now() });
    if (happening.type === "StageFailed") this.lastError = happening.error.message;
  }

  /** A change of phase: says where the server stands in the Web UI, and in the memo for when no worker answers. */
  publish(doing = this.doing): void {
    this.doing = doing;
    setCurrentDetails(describeResource(this.headline(), [], this.lastError));
    upsertMemo({ upgradeId: this.input.upgradeId, subTask: this.subTask } satisfies ResourceMemo);
  }

  private headline(): string {
    return this.pause.closed && !this.ended ? pausedWhile(this.doing) : this.doing;
  }

  private pauseChanged(paused: boolean): void {
    this.record({ type: "PauseChanged", paused });
    this.publish();
  }

  /** Tells the upgrade how the server, which counts as one host, stands. */
  report(): Promise<void> {
    return reportHosts({
      resourceId: this.input.mgmt.resourceId,
      hosts: countMgmt(this.subTask),
      ...(this.lastError !== undefined && { lastError: this.lastError }),
    });
  }

  /** The end, in the Task, the memo and the Web UI; gives the result for the upgrade. */
  end(outcome: ClusterOutcome, doing: string, { error, remark }: { error?: ErrorBody; remark?: string } = {}) {
    const { mgmt } = this.input;
    const description = [describeMgmtEnd(mgmt, outcome, error), remark].filter((part) => part !== undefined).join(" ");
    this.ended = true;
    this.record({ type: "Ended", outcome, description, ...(error && { error }) });
    if (error) this.lastError = error.message;
    this.publish(doing);
    return {
      outcome,
      hosts: countMgmt(this.subTask),
      upgradedHosts: [],
      ...(error && { error }),
    } satisfies ResourceResult;
  }
}

function now(): string {
  return toTimestamp(Date.now());
}
