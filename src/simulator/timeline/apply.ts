import type { SimulatorContext } from "../state/context";
import type { FaultKind } from "../state/fault";
import type { LedgerStep } from "../state/ledger-entry";
import { type EffectivePolicy, effectivePolicy, parallelHosts } from "../state/remediation-policy";
import type { ClusterState, HostFailure, HostRun, HostState, TaskState, TimelineEvent } from "../state/simulator-state";
import { bringBack, describeEvacuation, evacuate } from "./evacuation";
import { planHost } from "./host-timeline";
import { isPatchedLive, maintenanceObstacle, remediationObstacle } from "./obstacles";
import { rescanHost } from "./scan";

const enteringFails: readonly FaultKind[] = ["MAINTENANCE_MODE_STUCK", "MAINTENANCE_MODE_HANGS"];
const installingFails: readonly FaultKind[] = ["REMEDIATION_FAILS", "REMEDIATION_TIMES_OUT"];
const rebootingFails: readonly FaultKind[] = ["HOST_NEVER_RECONNECTS"];

/** The failure after which the cluster's own failure action may try again (the product retries nothing else). */
const maintenanceModeFailed = "host.maintenance_mode_failed";

/** Why a host of a remediation was left alone although nothing went wrong. */
export const alreadyCompliant = "The host already has the desired image.";
const notInMaintenance = "The host is not in maintenance mode, which parallel remediation needs.";
const untouched: ReadonlySet<string | undefined> = new Set([alreadyCompliant, notInMaintenance]);

/** One remediation as it goes on, at the moment of one of its events. */
class Remediation {
  private readonly policy: EffectivePolicy;

  constructor(
    private readonly context: SimulatorContext,
    private readonly cluster: ClusterState,
    private readonly task: TaskState,
    private readonly at: number,
  ) {
    this.policy = effectivePolicy(context.state.global.defaultPolicy, cluster.policy);
  }

  private get runs(): HostRun[] {
    return this.task.runs ?? [];
  }

  private record(step: LedgerStep, host?: HostState, detail?: string): void {
    this.context.record({
      at: this.at,
      cluster: this.cluster.id,
      step,
      task: this.task.id,
      ...(host && { host: host.id, attempt: host.applies }),
      ...(detail !== undefined && { detail }),
    });
  }

  private hostOf(run: HostRun): HostState {
    const host = this.cluster.hosts.find(({ id }) => id === run.host);
    if (!host) throw new Error(`cluster ${this.cluster.id} has no host ${run.host}`);
    return host;
  }

  /** Switches off what the policy says, and begins with the first host, or the first few. */
  begin(): void {
    this.record("APPLY_REQUESTED", undefined, `hosts ${this.runs.map(({ host }) => host).join(", ")}`);
    const switchedOff = (["admissionControl", "dpm"] as const).filter(
      (setting) => this.cluster[setting] && this.policy[setting === "dpm" ? "disable_dpm" : "disable_hac"],
    );
    for (const setting of switchedOff) this.cluster[setting] = false;
    this.task.switchedOff = switchedOff;
    if (switchedOff.length > 0) this.record("SETTINGS_SWITCHED_OFF", undefined, switchedOff.join(", "));

    const parallel = parallelHosts(this.policy);
    const unsupported = this.context.findFault(["PARALLEL_REMEDIATION_UNSUPPORTED", "VSAN_ONE_AT_A_TIME"], {
      cluster: this.cluster.id,
    });
    if (parallel !== undefined && !unsupported) {
      this.task.parallel = parallel;
      for (const run of this.runs)
        if (run.status === "WAITING" && this.hostOf(run).maintenance !== "IN") this.skip(run, notInMaintenance);
    }
    this.goOn();
  }

  /** Begins as many hosts as may be in work; ends the remediation where none is left. */
  private goOn(): void {
    const inWork = this.runs.filter(({ status }) => status === "RUNNING" || status === "RETRY_PENDING").length;
    const waiting = this.task.cancelledAt === undefined ? this.runs.filter(({ status }) => status === "WAITING") : [];
    const begun = this.task.events.filter(({ kind }) => kind === "HOST_STARTED").map(({ host }) => host);
    const next = waiting
      .filter(({ host }) => !begun.includes(host))
      .slice(0, Math.max(0, (this.task.parallel ?? 1) - inWork - begun.length));
    this.plan(next.map(({ host }) => ({ at: this.at, kind: "HOST_STARTED", host })));
    if (inWork === 0 && this.task.events.length === 0) this.end();
  }

  private plan(events: readonly TimelineEvent[]): void {
    this.task.events = [...this.task.events, ...events].sort((a, b) => a.at - b.at);
  }

  happen(event: TimelineEvent): void {
    const run = this.runs.find(({ host }) => host === event.host);
    if (!run) return;
    const host = this.hostOf(run);
    switch (event.kind) {
      case "HOST_STARTED":
        return this.startHost(run, host);
      case "MAINTENANCE_ENTERED":
        evacuate(this.cluster, host, this.policy);
        host.maintenance = "IN";
        return this.record("MAINTENANCE_ENTERED", host, describeEvacuation(this.policy, host));
      case "REMEDIATED":
        return this.record("REMEDIATED", host, this.task.version);
      case "HOST_DOWN":
        host.connection = "NOT_RESPONDING";
        if (event.fault !== undefined) host.lostBy = event.fault;
        return;
      case "HOST_UP":
        host.connection = "CONNECTED";
        this.takeImage(host);
        return this.record("REBOOTED", host, this.policy.enable_quick_boot ? "quick boot" : "full boot");
      case "LIVE_PATCHED":
        this.takeImage(host);
        this.record("LIVE_PATCHED", host, this.task.version);
        return this.finish(run, host);
      case "MAINTENANCE_EXITED":
        if (!run.inMaintenance) {
          bringBack(this.cluster, host);
          host.maintenance = "OUT";
          this.record("MAINTENANCE_EXITED", host);
        }
        return this.finish(run, host);
      case "HOST_FAILED":
        return event.failure && this.failHost(run, host, event.failure);
      case "TASK_ENDED":
        return;
    }
  }

  private takeImage(host: HostState): void {
    const { version, extras } = this.task;
    if (version !== undefined) host.version = version;
    delete host.stagedVersion;
    delete host.extras;
    if (extras) host.extras = extras;
  }

  private finish(run: HostRun, host: HostState): void {
    run.status = "OK";
    run.endedAt = this.at;
    rescanHost(this.context, this.cluster, host);
    this.goOn();
  }

  private startHost(run: HostRun, host: HostState): void {
    const on = { cluster: this.cluster.id, host: host.id };
    const { version = host.version, extras } = this.task;
    const image = { version, ...(extras && { extras }) };
    const slow = this.context.findFault(["HOST_SLOW"], on, this.at);
    if (slow) this.context.useFault(slow);

    const obstacle = remediationObstacle(this.context, this.cluster, host, image, this.policy);
    const livePatch = isPatchedLive(this.context, host, image, this.policy);
    const inMaintenance = run.inMaintenance ?? host.maintenance === "IN";
    const entersMaintenance = obstacle === undefined && !livePatch && !inMaintenance;
    const failing = this.context.findFault(
      [...(entersMaintenance ? enteringFails : []), ...installingFails, ...(livePatch ? [] : rebootingFails)],
      on,
      this.at,
    );
    if (failing && obstacle === undefined) this.context.useFault(failing);
    const stuckFor =
      entersMaintenance && !failing ? maintenanceObstacle(this.context, this.cluster, host, this.policy) : undefined;

    if (run.tries === 0) {
      host.applies += 1;
      this.record("APPLY_STARTED", host, this.task.version);
    }
    run.tries += 1;
    run.status = "RUNNING";
    run.startedAt ??= this.at;
    if (inMaintenance) run.inMaintenance = true;
    if (entersMaintenance) host.maintenance = "ENTERING";
    const fault =
      stuckFor === undefined
        ? failing
        : ({ id: "", kind: "MAINTENANCE_MODE_STUCK", createdAt: this.at, message: stuckFor } as const);
    const planned = planHost({
      host: host.id,
      name: host.name,
      start: this.at,
      duration: this.context.hostMilliseconds() * (slow?.factor ?? 1),
      quickBoot: this.policy.enable_quick_boot,
      inMaintenance,
      livePatch,
      ...(obstacle !== undefined && { obstacle }),
      ...(fault && { fault }),
    });
    run.marks = planned.marks;
    this.plan(planned.events);
  }

  private failHost(run: HostRun, host: HostState, failure: HostFailure): void {
    const { id, message, retriable } = failure;
    run.failures = [...(run.failures ?? []), { at: this.at, id, message, retriable }];
    this.task.events = this.task.events.filter((event) => event.host !== host.id);
    if (host.maintenance === "ENTERING") host.maintenance = "OUT";
    if (!run.inMaintenance) {
      if (host.maintenance === "IN" && host.connection === "CONNECTED") {
        bringBack(this.cluster, host);
        host.maintenance = "OUT";
        this.record("MAINTENANCE_EXITED", host);
      }
      // The VMs of a host that is lost stay where they went.
      delete host.evacuation;
    }

    const { action, retry_count: retries = 0, retry_delay: delay = 0 } = this.policy.failure_action;
    const mayTryAgain = id === maintenanceModeFailed && action === "RETRY" && this.task.cancelledAt === undefined;
    if (mayTryAgain && run.tries <= retries) {
      run.status = "RETRY_PENDING";
      this.plan([{ at: this.at + delay * 1000, kind: "HOST_STARTED", host: host.id }]);
      return this.record("RETRY_PENDING", host, message);
    }
    run.status = failure.status;
    run.endedAt = this.at;
    rescanHost(this.context, this.cluster, host);
    this.record("APPLY_FAILED", host, message);
    // One after another, the first that fails is the last; at the same time, the others go on.
    if (this.task.parallel === undefined) this.end();
    else this.goOn();
  }

  /**
   * Stops at once where that is safe (no host is past entering maintenance mode, or the host is lost anyway);
   * otherwise the hosts that are being remediated are finished first and no other begins.
   */
  cancel(): void {
    this.task.cancelledAt = this.at;
    const inWork = this.runs.filter(({ status }) => status === "RUNNING" || status === "RETRY_PENDING");
    for (const run of inWork) this.record("CANCELLED", this.hostOf(run));
    if (inWork.length === 0) this.record("CANCELLED");
    this.task.events = this.task.events.filter(
      ({ kind, host }) => kind !== "HOST_STARTED" || inWork.some((run) => run.host === host),
    );
    for (const run of inWork) {
      const host = this.hostOf(run);
      const isPastReturn = host.maintenance === "IN" || this.task.events.some((e) => isLive(e, host));
      if (run.status === "RUNNING" && isPastReturn && host.lostBy === undefined) continue;
      this.failHost(run, host, {
        status: "ERROR",
        id: "host.remediation_cancelled",
        message: `The remediation of host ${host.name} was cancelled.`,
        retriable: true,
      });
    }
    if (this.task.status === "OPEN") this.goOn();
  }

  /** Takes a host out that is no longer there: one that waits is skipped, one in work fails. */
  leave(host: HostState, why: string): void {
    const run = this.runs.find((known) => known.host === host.id);
    if (run?.status === "WAITING") {
      this.skip(run, why);
      this.task.events = this.task.events.filter((event) => event.host !== host.id);
      return this.goOn();
    }
    if (run?.status !== "RUNNING" && run?.status !== "RETRY_PENDING") return;
    this.failHost(run, host, { status: "ERROR", id: "host.removed", message: why, retriable: false });
  }

  /** Ends at once, and leaves each host where it is; one that restarts comes back by itself. */
  abandon(reason: { readonly id: string; readonly message: string }): void {
    for (const run of this.runs) {
      if (run.status !== "RUNNING" && run.status !== "RETRY_PENDING") continue;
      const host = this.hostOf(run);
      if (host.maintenance === "ENTERING") host.maintenance = "OUT";
      if (host.connection === "NOT_RESPONDING" && host.lostBy === undefined) {
        host.connection = "CONNECTED";
        this.takeImage(host);
        this.record("REBOOTED", host);
      }
      run.failures = [...(run.failures ?? []), { at: this.at, ...reason, retriable: true }];
      run.status = "ERROR";
      run.endedAt = this.at;
      rescanHost(this.context, this.cluster, host);
      this.record("APPLY_FAILED", host, reason.message);
    }
    this.end();
  }

  private skip(run: HostRun, note: string): void {
    run.status = "SKIPPED";
    run.endedAt = this.at;
    run.note = note;
  }

  private end(): void {
    for (const run of this.runs)
      if (run.status === "WAITING") this.skip(run, "The remediation ended before this host's turn.");
    const succeeded = this.runs.every(
      ({ status, note }) => status === "OK" || (status === "SKIPPED" && untouched.has(note)),
    );
    this.task.status = succeeded ? "SUCCEEDED" : "FAILED";
    this.task.endedAt = this.at;
    this.task.events = [];
    const restored = this.task.switchedOff ?? [];
    for (const setting of restored) this.cluster[setting] = true;
    if (restored.length > 0) this.record("SETTINGS_RESTORED", undefined, restored.join(", "));
    this.record("APPLY_FINISHED", undefined, this.task.status);
    this.cluster.lastApply = {
      commit: this.task.commit ?? "",
      startedAt: this.task.createdAt,
      endedAt: this.at,
      succeeded,
      runs: structuredClone(this.runs),
    };
  }
}

/** A host that is being patched while it runs: that cannot be stopped half way. */
function isLive({ kind, host }: TimelineEvent, { id }: HostState): boolean {
  return kind === "LIVE_PATCHED" && host === id;
}

/** Begins a remediation whose task is already one of the cluster's. */
export function beginApply(context: SimulatorContext, cluster: ClusterState, task: TaskState): void {
  new Remediation(context, cluster, task, task.createdAt).begin();
}

/** Lets one event of a remediation happen. */
export function happenToApply(
  context: SimulatorContext,
  cluster: ClusterState,
  task: TaskState,
  event: TimelineEvent,
): void {
  new Remediation(context, cluster, task, event.at).happen(event);
}

/** Cancels a remediation that has not ended (epoch milliseconds). */
export function cancelApply(context: SimulatorContext, cluster: ClusterState, task: TaskState, at: number): void {
  new Remediation(context, cluster, task, at).cancel();
}

/** Goes on with a remediation, if it is one, without a host that leaves the cluster. */
export function leaveApply(
  context: SimulatorContext,
  cluster: ClusterState,
  task: TaskState,
  host: HostState,
  why: string,
): void {
  if (task.kind === "apply") new Remediation(context, cluster, task, context.now()).leave(host, why);
}

/** Ends a remediation in the middle of what it does (epoch milliseconds). */
export function abandonApply(
  context: SimulatorContext,
  cluster: ClusterState,
  task: TaskState,
  at: number,
  reason: { readonly id: string; readonly message: string },
): void {
  new Remediation(context, cluster, task, at).abandon(reason);
}

/** A host that never reconnected is repaired: it is back on the image that it had, without VMs. */
export function repairHost(context: SimulatorContext, cluster: ClusterState, host: HostState, at: number): void {
  delete host.lostBy;
  host.connection = "CONNECTED";
  host.maintenance = "OUT";
  // What was installed went with the failed start; the host has started once more since.
  if (cluster.vim25) cluster.vim25.hosts[host.id] = { bootTime: at };
  rescanHost(context, cluster, host);
  context.record({ at, cluster: cluster.id, host: host.id, step: "HOST_REPAIRED" });
}
