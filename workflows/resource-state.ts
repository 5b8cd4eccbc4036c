import { setCurrentDetails, setHandler } from "@temporalio/workflow";
import type { HostCounts } from "../src/domain/host-counts";
import type { ErrorBody } from "../src/domain/error-body";
import type { SubTask } from "../src/domain/task";
import { toTimestamp } from "../src/domain/timestamp";
import { subTaskQuery } from "./messages";
import { PauseGate } from "./pause-gate";
import { reportHosts } from "./report-hosts";
import { ResourceLog } from "./resource-log";
import { describeResource, pausedWhile } from "./upgrade-details";
import { writeMemo } from "./write-memo";

/** What happens to any resource. */
type CommonHappening = { readonly type: "PauseChanged"; readonly paused: boolean };

/** The SubTask of a resource (cluster or server) while its Workflow runs, and everywhere that it is shown. */
export abstract class ResourceState<Happening extends { readonly type: string }> {
  protected lastError: string | undefined;
  private doing = "";
  private readonly log: ResourceLog;
  private ended = false;
  private published = 0;
  /** Where the resource stays while its upgrade is paused. */
  readonly pause = new PauseGate();

  protected constructor(
    private readonly upgradeId: string,
    private readonly resourceId: string,
    protected subTask: SubTask,
  ) {
    this.log = new ResourceLog({ resourceId, name: subTask.resources?.[0]?.name });
    setHandler(subTaskQuery, () => ({ ...this.subTask, published: this.published }));
    // Last: a pause that has come before is told at once.
    this.pause.listen((paused) => {
      this.record({ type: "PauseChanged", paused });
      this.publish();
    });
  }

  /** The SubTask after a happening. Pure. */
  protected abstract apply(happening: Happening | CommonHappening, at: string): SubTask;
  /** The error that a happening tells, where it tells one. */
  protected abstract errorIn(happening: Happening | CommonHappening): ErrorBody | undefined;
  /** How many of the resource's parts are done. */
  protected abstract counts(): HostCounts;
  /** What the counted parts are called in the Web UI; undefined where they are not shown. */
  protected abstract readonly counted: string | undefined;

  /** Records what has happened; cheap, shown by the next Query. */
  record(happening: Happening | CommonHappening): void {
    const before = this.subTask;
    this.subTask = this.apply(happening, now());
    this.log.happened(happening.type, before, this.subTask);
    this.lastError = this.errorIn(happening)?.message ?? this.lastError;
  }

  /** A change of phase: says where the resource stands in the Web UI, and in the memo for when no worker answers. */
  publish(doing = this.doing): void {
    if (doing !== this.doing && !this.ended) this.log.entered(doing);
    this.doing = doing;
    this.show();
    this.published += 1;
    writeMemo({ upgradeId: this.upgradeId, subTask: this.subTask, published: this.published });
  }

  /** Says in the Web UI where the resource stands. */
  protected show(): void {
    const headline = this.pause.closed && !this.ended ? pausedWhile(this.doing) : this.doing;
    setCurrentDetails(describeResource(headline, this.countLines(), this.lastError));
  }

  /** Tells the upgrade how many parts are done. */
  async report(): Promise<void> {
    await reportHosts({
      resourceId: this.resourceId,
      hosts: this.counts(),
      ...(this.lastError !== undefined && { lastError: this.lastError }),
    });
  }

  /** Records and shows the end. */
  protected close(ending: Happening, doing: string, error: ErrorBody | undefined): void {
    this.ended = true;
    this.record(ending);
    if (error) this.lastError = error.message;
    this.log.ended(doing, this.counts(), error);
    this.publish(doing);
  }

  private countLines(): string[] {
    const { upgraded, skipped, total, failed } = this.counts();
    if (this.counted === undefined || total === 0) return [];
    return [`${this.counted}: **${upgraded + skipped} of ${total}** at the target, ${failed} failed.`];
  }
}

/** The time of the Workflow, as a Timestamp. */
export function now(): string {
  return toTimestamp(Date.now());
}
