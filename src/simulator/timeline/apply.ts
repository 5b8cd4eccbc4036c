import type { FaultKind } from "../state/fault";
import type { LedgerStep } from "../state/ledger-entry";
import { type EffectivePolicy, effectivePolicy } from "../state/remediation-policy";
import type { ClusterState, HostFailure, HostRun, HostState, TaskState, TimelineEvent } from "../state/simulator-state";
import type { World } from "../state/world";
import { bringBack, evacuate, evacuationObstacle } from "./evacuation";
import { planHost } from "./host-timeline";
import { rescanHost } from "./scan";

const failingKinds: readonly FaultKind[] = [
  "MAINTENANCE_MODE_STUCK",
  "MAINTENANCE_MODE_HANGS",
  "REMEDIATION_FAILS",
  "HOST_NEVER_RECONNECTS",
];

/** The failure after which the cluster's own failure action may try again (the product retries nothing else). */
const maintenanceModeFailed = "host.maintenance_mode_failed";

/** One remediation as it goes on, at the moment of one of its events. */
class Remediation {
  private readonly policy: EffectivePolicy;

  constructor(
    private readonly world: World,
    private readonly cluster: ClusterState,
    private readonly task: TaskState,
    private readonly at: number,
  ) {
    this.policy = effectivePolicy(world.state.global.defaultPolicy, cluster.policy);
  }

  private get runs(): HostRun[] {
    return this.task.runs ?? [];
  }

  private record(step: LedgerStep, host?: HostState, detail?: string): void {
    this.world.record({
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

  /** Switches off what the policy says, and begins with the first host. */
  begin(): void {
    this.record("APPLY_REQUESTED", undefined, `hosts ${this.runs.map(({ host }) => host).join(", ")}`);
    const switchedOff = (["admissionControl", "dpm"] as const).filter(
      (setting) => this.cluster[setting] && this.policy[setting === "dpm" ? "disable_dpm" : "disable_hac"],
    );
    for (const setting of switchedOff) this.cluster[setting] = false;
    this.task.switchedOff = switchedOff;
    if (switchedOff.length > 0) this.record("SETTINGS_SWITCHED_OFF", undefined, switchedOff.join(", "));
    this.beginNextHost();
  }

  private beginNextHost(): void {
    const run = this.runs.find(({ status }) => status === "WAITING");
    if (run && this.task.cancelledAt === undefined)
      this.task.events = [{ at: this.at, kind: "HOST_STARTED", host: run.host }];
    else this.end();
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
        return this.record("MAINTENANCE_ENTERED", host, this.policy.pre_remediation_power_action);
      case "REMEDIATED":
        return this.record("REMEDIATED", host, this.task.version);
      case "HOST_DOWN":
        host.connection = "NOT_RESPONDING";
        if (event.fault !== undefined) host.lostBy = event.fault;
        return;
      case "HOST_UP":
        host.connection = "CONNECTED";
        if (this.task.version !== undefined) host.version = this.task.version;
        delete host.stagedVersion;
        return this.record("REBOOTED", host, this.policy.enable_quick_boot ? "quick boot" : "full boot");
      case "MAINTENANCE_EXITED":
        bringBack(this.cluster, host);
        host.maintenance = "OUT";
        run.status = "OK";
        run.endedAt = this.at;
        rescanHost(this.cluster, host);
        this.record("MAINTENANCE_EXITED", host);
        return this.beginNextHost();
      case "HOST_FAILED":
        return event.failure && this.failHost(run, host, event.failure);
      case "TASK_ENDED":
        return;
    }
  }

  private startHost(run: HostRun, host: HostState): void {
    const on = { cluster: this.cluster.id, host: host.id };
    const slow = this.world.findFault(["HOST_SLOW"], on, this.at);
    if (slow) this.world.useFault(slow);
    const failing = this.world.findFault(failingKinds, on, this.at);
    const stuckFor = evacuationObstacle(this.cluster, host, this.policy);
    const isUnreachable = host.connection !== "CONNECTED";
    if (failing && !isUnreachable) this.world.useFault(failing);

    if (run.tries === 0) {
      host.applies += 1;
      this.record("APPLY_STARTED", host, this.task.version);
    }
    run.tries += 1;
    run.status = "RUNNING";
    run.startedAt ??= this.at;
    if (!isUnreachable) host.maintenance = "ENTERING";
    const planned = planHost({
      host: host.id,
      name: host.name,
      start: this.at,
      duration: this.world.hostMilliseconds() * (slow?.factor ?? 1),
      ...(isUnreachable && { obstacle: `Host ${host.name} is not connected.` }),
      ...(failing
        ? { fault: failing }
        : stuckFor !== undefined && {
            fault: { id: "", kind: "MAINTENANCE_MODE_STUCK", createdAt: this.at, message: stuckFor },
          }),
    });
    run.marks = planned.marks;
    this.task.events = planned.events;
  }

  private failHost(run: HostRun, host: HostState, failure: HostFailure): void {
    const { id, message, retriable } = failure;
    run.failures = [...(run.failures ?? []), { at: this.at, id, message, retriable }];
    if (host.maintenance === "ENTERING") host.maintenance = "OUT";
    if (host.maintenance === "IN" && host.connection === "CONNECTED") {
      bringBack(this.cluster, host);
      host.maintenance = "OUT";
      this.record("MAINTENANCE_EXITED", host);
    }
    // The VMs of a host that is lost stay where they went.
    delete host.evacuation;

    const { action, retry_count: retries = 0, retry_delay: delay = 0 } = this.policy.failure_action;
    const mayTryAgain = id === maintenanceModeFailed && action === "RETRY" && this.task.cancelledAt === undefined;
    if (mayTryAgain && run.tries <= retries) {
      run.status = "RETRY_PENDING";
      this.task.events = [{ at: this.at + delay * 1000, kind: "HOST_STARTED", host: host.id }];
      return this.record("RETRY_PENDING", host, message);
    }
    run.status = failure.status;
    run.endedAt = this.at;
    rescanHost(this.cluster, host);
    this.record("APPLY_FAILED", host, message);
    this.end();
  }

  /**
   * Stops at once where that is safe (no host is past entering maintenance mode, or the host is lost anyway);
   * otherwise the host that is being remediated is finished first and no other begins.
   */
  cancel(): void {
    this.task.cancelledAt = this.at;
    const run = this.runs.find(({ status }) => status === "RUNNING" || status === "RETRY_PENDING");
    const host = run && this.hostOf(run);
    this.record("CANCELLED", host);
    if (!run || !host) return this.end();
    if (run.status === "RUNNING" && host.maintenance === "IN" && host.lostBy === undefined) return;
    this.failHost(run, host, {
      status: "ERROR",
      id: "host.remediation_cancelled",
      message: `The remediation of host ${host.name} was cancelled.`,
      retriable: true,
    });
  }

  private end(): void {
    for (const run of this.runs) {
      if (run.status !== "WAITING") continue;
      run.status = "SKIPPED";
      run.endedAt = this.at;
      run.note = "The remediation ended before this host's turn.";
    }
    const succeeded = this.runs.every(
      ({ status, note }) => status === "OK" || (status === "SKIPPED" && note === alreadyCompliant),
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

/** Why a host of a remediation was left alone although nothing went wrong. */
export const alreadyCompliant = "The host already has the desired image.";

/** Begins a remediation whose task is already one of the cluster's. */
export function beginApply(world: World, cluster: ClusterState, task: TaskState): void {
  new Remediation(world, cluster, task, task.createdAt).begin();
}

/** Lets one event of a remediation happen. */
export function happenToApply(world: World, cluster: ClusterState, task: TaskState, event: TimelineEvent): void {
  new Remediation(world, cluster, task, event.at).happen(event);
}

/** Cancels a remediation that has not ended (epoch milliseconds). */
export function cancelApply(world: World, cluster: ClusterState, task: TaskState, at: number): void {
  new Remediation(world, cluster, task, at).cancel();
}

/** A host that never reconnected is repaired: it is back on the image that it had, without VMs. */
export function repairHost(world: World, cluster: ClusterState, host: HostState, at: number): void {
  delete host.lostBy;
  host.connection = "CONNECTED";
  host.maintenance = "OUT";
  // What was installed went with the failed start; the host has started once more since.
  if (cluster.vim25) cluster.vim25.hosts[host.id] = { bootTime: at };
  rescanHost(cluster, host);
  world.record({ at, cluster: cluster.id, host: host.id, step: "HOST_REPAIRED" });
}
