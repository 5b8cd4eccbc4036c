import { setHandler } from "@temporalio/workflow";
import type { ResourceOutcome } from "../src/domain/resource-end";
import type { HostCounts } from "../src/domain/host-counts";
import {
  applyMgmtProgress,
  countMgmt,
  describeMgmtEnd,
  initialMgmtSubTask,
  type MgmtEvent,
  type MgmtStageType,
} from "../src/domain/mgmt-progress";
import type { SubTask } from "../src/domain/task";
import { Timestamp } from "../src/domain/timestamp";
import { now } from "./clock";
import { switchoverSignal, type MgmtUpgradeInput } from "./messages";
import { type CommonHappening, type EndDetails, ResourceState } from "./resource-state";

/** An event without its time, which is now. */
type Happening = MgmtEvent extends infer E ? (E extends unknown ? Omit<E, "at"> : never) : never;

/** A management server's SubTask while its Workflow runs, and everywhere that it is shown. */
export class MgmtUpgradeState extends ResourceState<Happening, MgmtStageType> {
  protected readonly counted = undefined;
  /** The time that the switchover waits for; undefined where it waits for none. */
  switchoverAt: string | undefined;

  constructor(readonly input: MgmtUpgradeInput) {
    super(input.upgradeId, input.mgmt.resourceId, initialMgmtSubTask(input.mgmt, now()));
    this.switchoverAt = input.mgmt.startSwitchoverTimestamp;
    setHandler(switchoverSignal, (time) => {
      if (Timestamp.is(time)) this.switchoverAt = time;
    });
  }

  protected apply(happening: Happening | CommonHappening<MgmtStageType>, at: string): SubTask {
    return applyMgmtProgress(this.subTask, { ...happening, at });
  }

  /** The server counts as one host. */
  protected counts(): HostCounts {
    return countMgmt(this.subTask);
  }

  protected ending(outcome: ResourceOutcome, { error, remark }: EndDetails): Happening {
    const end = describeMgmtEnd(this.input.mgmt, outcome, error);
    const description = remark === undefined ? end : `${end} ${remark}`;
    return { type: "Ended", outcome, description, ...(error && { error }) };
  }

  protected upgradedHosts(): readonly string[] {
    return [];
  }
}
