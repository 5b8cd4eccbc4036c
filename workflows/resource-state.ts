import { CancellationScope, setCurrentDetails, setHandler, upsertMemo } from "@temporalio/workflow";
import type { HostCounts } from "../src/domain/host-counts";
import type { ErrorBody } from "../src/domain/error-body";
import type { ResourceOutcome } from "../src/domain/resource-end";
import type { StageProgress } from "../src/domain/resource-stages";
import type { SubTask } from "../src/domain/task";
import { now } from "./clock";
import { subTaskQuery, type ResourceMemo, type ResourceResult } from "./messages";
import { PauseGate } from "./pause-gate";
import { reportHosts } from "./report-hosts";
import { ResourceLog } from "./resource-log";
import { describeResource, pausedWhile } from "./upgrade-details";

/** What happens to any resource. */
export type CommonHappening<S extends string> =
  { readonly type: "PauseChanged"; readonly paused: boolean } | StageProgress<S>;

/** What an end tells beside its outcome: what went wrong, or a sentence for the SubTask's description. */
export interface EndDetails {
  readonly error?: ErrorBody | undefined;
  readonly remark?: string | undefined;
}

/** The SubTask of a resource while its Workflow runs, and everywhere that it is shown. `S` are the types of its stages. */
export abstract class ResourceState<Happening extends { readonly type: string }, S extends string> {
  protected lastError: string | undefined;
  private doing = "";
  private readonly log: ResourceLog;
  private ended = false;
  private published = 0;
  private countsChanged = false;
  private reporting: Promise<void> | undefined;
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
  protected abstract apply(happening: Happening | CommonHappening<S>, at: string): SubTask;
  /** How many of the resource's parts are done. */
  protected abstract counts(): HostCounts;
  /** What the counted parts are called in the Web UI; undefined where they are not shown. */
  protected abstract readonly counted: string | undefined;
  /** What happens at the end. */
  protected abstract ending(outcome: ResourceOutcome, details: EndDetails): Happening;
  /** Ids of the hosts that run the target version because of this upgrade. */
  protected abstract upgradedHosts(): readonly string[];

  /** Records what has happened; cheap, shown by the next Query. */
  record(happening: Happening | CommonHappening<S>): void {
    const before = this.subTask;
    this.subTask = this.apply(happening, now());
    this.log.happened(happening.type, before, this.subTask);
    const error = "error" in happening ? (happening.error as ErrorBody | undefined) : undefined;
    this.lastError = error?.message ?? this.lastError;
  }

  /** A change of phase: says where the resource stands in the Web UI, and in the memo for when no worker answers. */
  publish(doing = this.doing): void {
    if (doing !== this.doing && !this.ended) this.log.entered(doing);
    this.doing = doing;
    this.show();
    this.published += 1;
    const { upgradeId, subTask, published } = this;
    upsertMemo({ upgradeId, subTask, published, publishedAt: now() } satisfies ResourceMemo);
  }

  /** Says in the Web UI where the resource stands. */
  protected show(): void {
    const headline = this.pause.closed && !this.ended ? pausedWhile(this.doing) : this.doing;
    setCurrentDetails(describeResource(headline, this.countLines(), this.lastError));
  }

  /**
   * Tells the upgrade how many parts are done. Nobody waits for that: counts that change while it is being told are told
   * by the next Signal, all at once. {@link reported} waits for the last one.
   */
  report(): void {
    this.countsChanged = true;
    // The end of a cancelled resource is told as well.
    this.reporting ??= CancellationScope.nonCancellable(() => this.sendCounts());
  }

  /** Ends when the upgrade knows all that was reported. To be awaited before the Workflow ends, which sends nothing more. */
  async reported(): Promise<void> {
    while (this.reporting) await this.reporting;
  }

  private async sendCounts(): Promise<void> {
    while (this.countsChanged) {
      this.countsChanged = false;
      await reportHosts({
        resourceId: this.resourceId,
        hosts: this.counts(),
        ...(this.lastError !== undefined && { lastError: this.lastError }),
      });
    }
    this.reporting = undefined;
  }

  /** The end, in the Task, the memo and the Web UI; gives the result for the upgrade. */
  end(outcome: ResourceOutcome, doing: string, details: EndDetails = {}): ResourceResult {
    const { error } = details;
    this.ended = true;
    this.record(this.ending(outcome, details));
    if (error) this.lastError = error.message;
    this.log.ended(doing, this.counts(), error);
    this.publish(doing);
    return { outcome, hosts: this.counts(), upgradedHosts: this.upgradedHosts(), ...(error && { error }) };
  }

  private countLines(): string[] {
    const { upgraded, skipped, total, failed } = this.counts();
    if (this.counted === undefined || total === 0) return [];
    return [`${this.counted}: **${upgraded + skipped} of ${total}** at the target, ${failed} failed.`];
  }
}

/** Ids of parts that were upgraded. */
export function upgradedIds(parts: readonly SubTask[]): readonly string[] {
  return parts
    .filter(({ status }) => status === "SUCCESSFUL")
    .flatMap(({ resources }) => resources?.[0]?.resourceId ?? []);
}
