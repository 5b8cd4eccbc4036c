import type { ResourceOutcome } from "../src/domain/resource-end";
import type { HostCounts } from "../src/domain/host-counts";
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
import type { NetvirtUpgradeInput, ResourceResult } from "./messages";
import { now, ResourceState } from "./resource-state";

/** A happening without its time, which is now. */
type Happening = NetvirtHappening extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/** A NETVIRT instance's SubTask while its Workflow runs, and everywhere that it is shown. */
export class NetvirtUpgradeState extends ResourceState<Happening> {
  protected readonly counted = "Nodes";

  constructor(readonly input: NetvirtUpgradeInput) {
    super(input.upgradeId, input.netvirt.resourceId, initialNetvirtSubTask(input.netvirt, now()));
  }

  protected apply(happening: Happening, at: string): SubTask {
    return applyNetvirtProgress(this.subTask, { ...happening, at });
  }

  protected errorIn(happening: Happening): ErrorBody | undefined {
    return happening.type === "StageFailed" || happening.type === "ComponentFailed" ? happening.error : undefined;
  }

  protected counts(): HostCounts {
    return countNodes(this.subTask);
  }

  /** The end, in the Task, the memo and the Web UI; gives the result for the upgrade. */
  end(outcome: ResourceOutcome, doing: string, error?: ErrorBody): ResourceResult {
    this.close({ type: "Ended", outcome, ...(error && { error }) }, doing, error);
    return {
      outcome,
      hosts: this.counts(),
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
    return this.counts();
  }
}
