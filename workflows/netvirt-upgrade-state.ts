import type { ResourceOutcome } from "../src/domain/resource-end";
import type { HostCounts } from "../src/domain/host-counts";
import {
  applyNetvirtProgress,
  countNodes,
  initialNetvirtSubTask,
  nodesOf,
  waitingComponents,
  type NetvirtHappening,
  type NetvirtStageType,
} from "../src/domain/netvirt-progress";
import type { NetvirtComponentType } from "../src/domain/netvirt-upgrade";
import type { SubTask } from "../src/domain/task";
import { now } from "./clock";
import type { NetvirtUpgradeInput } from "./messages";
import { type CommonHappening, type EndDetails, ResourceState, upgradedIds } from "./resource-state";

/** A happening without its time, which is now. */
type Happening = NetvirtHappening extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/** A NETVIRT instance's SubTask while its Workflow runs, and everywhere that it is shown. */
export class NetvirtUpgradeState extends ResourceState<Happening, NetvirtStageType> {
  protected readonly counted = "Nodes";

  constructor(readonly input: NetvirtUpgradeInput) {
    super(input.upgradeId, input.netvirt.resourceId, initialNetvirtSubTask(input.netvirt, now()));
  }

  protected apply(happening: Happening | CommonHappening<NetvirtStageType>, at: string): SubTask {
    return applyNetvirtProgress(this.subTask, { ...happening, at });
  }

  protected counts(): HostCounts {
    return countNodes(this.subTask);
  }

  protected ending(outcome: ResourceOutcome, { error }: EndDetails): Happening {
    return { type: "Ended", outcome, ...(error && { error }) };
  }

  protected upgradedHosts(): readonly string[] {
    return upgradedIds(nodesOf(this.subTask));
  }

  /** Components that still have to be upgraded, in their order. */
  waitingComponents(): readonly NetvirtComponentType[] {
    return waitingComponents(this.subTask);
  }

  nodeCounts(): HostCounts {
    return this.counts();
  }
}
