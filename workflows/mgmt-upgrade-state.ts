import type { ResourceOutcome } from "../src/domain/resource-end";
import type { HostCounts } from "../src/domain/host-counts";
import type { ErrorBody } from "../src/domain/error-body";
import {
  applyMgmtProgress,
  countMgmt,
  describeMgmtEnd,
  initialMgmtSubTask,
  type MgmtEvent,
} from "../src/domain/mgmt-progress";
import type { SubTask } from "../src/domain/task";
import type { MgmtUpgradeInput, ResourceResult } from "./messages";
import { now, ResourceState } from "./resource-state";

/** An event without its time, which is now. */
type Happening = MgmtEvent extends infer E ? (E extends unknown ? Omit<E, "at"> : never) : never;

/** A management server's SubTask while its Workflow runs, and everywhere that it is shown. */
export class MgmtUpgradeState extends ResourceState<Happening> {
  protected readonly counted = undefined;

  constructor(readonly input: MgmtUpgradeInput) {
    super(input.upgradeId, input.mgmt.resourceId, initialMgmtSubTask(input.mgmt, now()));
  }

  protected apply(happening: Happening, at: string): SubTask {
    return applyMgmtProgress(this.subTask, { ...happening, at });
  }

  protected errorIn(happening: Happening): ErrorBody | undefined {
    return happening.type === "StageFailed" ? happening.error : undefined;
  }

  /** The server counts as one host. */
  protected counts(): HostCounts {
    return countMgmt(this.subTask);
  }

  /** The end, in the Task, the memo and the Web UI; gives the result for the upgrade. */
  end(outcome: ResourceOutcome, doing: string, { error, remark }: { error?: ErrorBody; remark?: string } = {}) {
    const { mgmt } = this.input;
    const description = [describeMgmtEnd(mgmt, outcome, error), remark].filter((part) => part !== undefined).join(" ");
    this.close({ type: "Ended", outcome, description, ...(error && { error }) }, doing, error);
    return { outcome, hosts: this.counts(), upgradedHosts: [], ...(error && { error }) } satisfies ResourceResult;
  }
}
