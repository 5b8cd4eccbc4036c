import { CancellationScope, patched, sleep } from "@temporalio/workflow";
import { applyClusterProgress, initialClusterSubTask, type ClusterProgress } from "../src/domain/cluster-progress";
import { countHosts } from "../src/domain/cluster-hosts";
import type { ResourceOutcome } from "../src/domain/resource-end";
import type { HostCounts } from "../src/domain/host-counts";
import type { ErrorBody } from "../src/domain/error-body";
import type { SubTask } from "../src/domain/task";
import type { ClusterUpgradeInput, ResourceResult } from "./messages";
import { now, ResourceState } from "./resource-state";

/** Progress without its time, which is now. */
type Happening = ClusterProgress extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/**
 * An upgrade is told of a cluster's hosts so often at most, in milliseconds: each time is work for both and for the server.
 * The memo may be without hosts that take but moments for as long.
 */
const untilToldAgain = 5_000;

/** A cluster's SubTask while its Workflow runs, and everywhere that it is shown. */
export class ClusterUpgradeState extends ResourceState<Happening> {
  protected readonly counted = "Hosts";
  private reportedTenth = -1;
  private tenthInMemo = -1;
  private reportedFailure = false;
  /** Whether hosts that follow a failed one are reported by tenths too; not known before one has failed. */
  private staysWithTenths: boolean | undefined;
  private told: Promise<void> = Promise.resolve();
  /** When the upgrade was told last, in epoch milliseconds of the Workflow; at first when there was nothing to tell yet. */
  private toldAt = Date.now();
  private tellsSoon = false;
  /**
   * Whether short reads are made in the Workflow task itself, and reports to the upgrade waited for by nobody. False for
   * clusters that older builds have begun.
   */
  savesRoundTrips = false;
  /**
   * Whether one Activity goes on from host to host while they take but moments (docs/decisions/0028), all short steps are
   * made in the Workflow task itself, and the upgrade is told at intervals (0031). The same of older builds.
   */
  savesTasks = false;
  /**
   * Whether the policy is read with the hosts, and one Activity prepares the cluster for them (docs/decisions/0033). The same
   * of older builds.
   */
  preparesTogether = false;

  constructor(readonly input: ClusterUpgradeInput) {
    super(input.upgradeId, input.cluster.resourceId, initialClusterSubTask(input.cluster, now()));
  }

  protected apply(happening: Happening, at: string): SubTask {
    return applyClusterProgress(this.subTask, { ...happening, at });
  }

  protected errorIn(happening: Happening): ErrorBody | undefined {
    return happening.type === "StageFailed" || happening.type === "HostFailed" ? happening.error : undefined;
  }

  protected counts(): HostCounts {
    return countHosts(this.subTask);
  }

  /**
   * Tells the upgrade how many hosts are done, and keeps them in the memo: at every tenth of them and at the first error,
   * so that a large cluster floods neither its upgrade with Signals nor its history with memos. `goesOn`: the next hosts are
   * likely to be done within moments, which the memo can wait for until the upgrade is told.
   */
  override async report(goesOn = false): Promise<void> {
    const hosts = this.counts();
    const done = hosts.upgraded + hosts.skipped + hosts.failed;
    const tenth = tenthOf(hosts);
    // Clusters that older builds have begun go on telling of every host after an error.
    if (hosts.failed > 0) this.staysWithTenths ??= patched("reports-by-tenths");
    const isNews = hosts.failed > 0 && !(this.staysWithTenths && this.reportedFailure);
    const mayWait = goesOn && done < hosts.total && hosts.failed === 0;
    if (!mayWait) this.keep(tenth, isNews);
    if (tenth === this.reportedTenth && !isNews) return;
    this.reportedTenth = tenth;
    this.reportedFailure = hosts.failed > 0;
    this.show();
    if (!this.savesRoundTrips) return super.report();
    // The end comes right after the last host, and tells all.
    if (this.savesTasks && !isNews) this.tellSoon(done < hosts.total ? this.toldAt : Date.now());
    else this.tell();
  }

  override publish(doing?: string): void {
    // What it is told for another reason need not be written once more for its hosts.
    if (this.preparesTogether) this.tenthInMemo = tenthOf(this.counts());
    super.publish(doing);
  }

  private keep(tenth: number, isNews = false): void {
    if (tenth === this.tenthInMemo && !isNews) return;
    this.tenthInMemo = tenth;
    this.publish();
  }

  /** One after the other, so that the last word is right; what the end says itself need not be sent any more. */
  private tell(): void {
    this.toldAt = Date.now();
    // What the memo could wait for; whatever comes next may take its time.
    if (this.savesTasks) this.keep(this.reportedTenth);
    this.told = this.told.then(() => super.report());
  }

  /** Told an interval after `since`, with what is true then. */
  private tellSoon(since: number): void {
    const wait = since + untilToldAgain - Date.now();
    if (wait <= 0) return this.tell();
    if (this.tellsSoon) return;
    this.tellsSoon = true;
    sleep(wait, { summary: "until the upgrade is told of the hosts again" }).then(
      () => {
        this.tellsSoon = false;
        this.tell();
      },
      // Only a cancellation ends the wait, and its end tells what is left.
      () => undefined,
    );
  }

  /**
   * Before any end: waits for what is being told, because a Workflow that has ended tells nothing any more. An end by
   * cancellation gives no result, so what is still to be told is told then.
   */
  async tellLastWord(): Promise<void> {
    if (!this.savesTasks) return;
    const isCancelled = CancellationScope.current().consideredCancelled;
    await CancellationScope.nonCancellable(() => {
      if (this.tellsSoon && isCancelled) this.tell();
      return this.told;
    });
  }

  /** The end, in the Task, the memo and the Web UI; gives the result for the upgrade. */
  end(outcome: ResourceOutcome, doing: string, error?: ErrorBody): ResourceResult {
    this.close({ type: "Ended", outcome, ...(error && { error }) }, doing, error);
    return {
      outcome,
      hosts: this.counts(),
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

  hostCounts(): HostCounts {
    return this.counts();
  }
}

/** How many tenths of the hosts are done. */
function tenthOf({ total, upgraded, skipped, failed }: HostCounts): number {
  return total === 0 ? 0 : Math.floor((10 * (upgraded + skipped + failed)) / total);
}
