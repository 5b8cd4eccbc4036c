import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import type {
  ActivityProgress,
  ClusterTarget,
  FailureDetails,
  HealthLook,
  HostName,
  NotificationInput,
  RemediateHostsInput,
  RemediationPolicy,
  UpgradeActivities,
} from "../../activities/contract";
import { workerShutdownFailure } from "../../activities/failures";
import type { ErrorBody } from "../../src/domain/errors";
import type { Finding } from "../../src/domain/spec/finding";
import type { Stage } from "../../src/domain/spec/task";
import {
  type ClusterHost,
  hostPhases,
  type HostResult,
  type RemediationProgress,
  type RemediationResult,
} from "../../src/domain/task/host-remediation";
import { stagesOf } from "../../src/domain/task/resource-stages";
import { FakeMgmtActivities } from "./fake-mgmt-activities";
import { FakeNetvirtActivities } from "./fake-netvirt-activities";

const at = "2026-11-01T00:00:00.000Z";

/** The remediation policy of every cluster, as its component manager gives it. */
export const samplePolicy: RemediationPolicy = { failure_action: { action: "RETRY" } };

/** What `remediateHosts` is asked of one host alone. */
export interface OneHostInput extends RemediateHostsInput {
  readonly host: HostName;
}

/** Activities that a test replaces; `remediateHost` is what becomes of each host that goes alone. */
export type ReplacedActivities = Partial<UpgradeActivities> & {
  readonly remediateHost?: (input: OneHostInput) => Promise<HostResult>;
  /** What `remediateHosts` finds where it is to look at the cluster's health first. */
  readonly lookAtHealth?: (input: RemediateHostsInput) => Promise<HealthLook>;
};

/** An error as Activities report it. */
export function sampleError(errorCode: string, message = `${errorCode} happened`): ErrorBody {
  return { errorCode, errorType: "UPGRADE", message, remediationMessage: "Mend it." };
}

/** The failure of an Activity other than `remediateHosts`. */
export function activityFailure(errorCode: string, { nonRetryable = true } = {}): ApplicationFailure {
  const error = sampleError(errorCode);
  return ApplicationFailure.create({ message: error.message, type: errorCode, nonRetryable, details: [{ error }] });
}

/** What `remediateHosts` knows of hosts after the component manager has reported `reported` failures of each. */
export function hostProgress(
  { kind, hosts, attempts }: RemediateHostsInput,
  reported: number,
  lastError?: ErrorBody,
): RemediationProgress {
  return {
    kind,
    activity: `Remediating ${hosts[0]?.fqdn}.`,
    phases: hostPhases[lastError ? "FAILED_ONCE" : "REMEDIATE"].repeat(hosts.length),
    failures: hosts.map(() => reported),
    failed: lastError
      ? [{ code: lastError.errorCode ?? "", what: "failed", stage: "REMEDIATE", hosts: [...hosts.keys()], at }]
      : [],
    began: at,
    entered: { CHECK_COMPLIANCE: at, REMEDIATE: at },
    maximumAttempts: attempts.maximumAttempts,
  };
}

/** The failure by which `remediateHosts` reports that a host failed for the `reported`th time, and may be tried again. */
export function hostFailure(input: OneHostInput, reported = 1, code = "HOST_REMEDIATION_FAILED") {
  const error = sampleError(code, `Host ${input.host.fqdn} failed`);
  const details: FailureDetails = { error, progress: hostProgress(input, reported, error) };
  const nonRetryable = reported >= input.attempts.maximumAttempts;
  return ApplicationFailure.create({ message: error.message, type: code, nonRetryable, details: [details] });
}

/** Hosts of which none runs the target version. */
export function sampleHosts(count = 3): ClusterHost[] {
  return Array.from({ length: count }, (_, i) => ({
    host: `host-${i + 1}`,
    fqdn: `esx-0${i + 1}.example.com`,
    version: "9.0.0-0.24755229",
    atTarget: false,
  }));
}

/** When the server scheduled this attempt of the running Activity, in milliseconds on the server's clock. */
export function scheduledAt(): number {
  return Context.current().info.currentAttemptScheduledTimestampMs;
}

/** The Stages of a precheck run in which every check passed. */
export function passedCheck(): Stage[] {
  return stagesOf({ HOSTS_CONNECTED: "Hosts connected" }, at).map((stage) => ({
    ...stage,
    status: "SUCCESSFUL",
    completionTimestamp: at,
  }));
}

/** The Stages of a precheck run in which one check failed. */
export function failedCheck(error = sampleError("HOST_NOT_CONNECTED")): Stage[] {
  return passedCheck().map((stage) => ({ ...stage, status: "FAILED", errors: [error] }));
}

/** A finding of a precheck; of a sample of each code that is asked for. */
export function sampleFinding(resourceId: string, more: Partial<Finding> = {}): Finding {
  const { code = "HOST_NOT_CONNECTED", severity = "ERROR" } = more;
  const message = `${code} ${more.subject ?? more.hostId ?? resourceId}`;
  return { severity, code, message, remediationMessage: "Mend it.", resourceId, isAcknowledgeable: true, ...more };
}

/** The Stages of a precheck run in which one check has found this. */
export function foundCheck(findings: readonly Finding[]): Stage[] {
  const errors = findings
    .filter(({ severity }) => severity === "ERROR")
    .map(({ code, message }) => sampleError(code, message));
  return passedCheck().map((stage) => ({
    ...stage,
    status: errors.length > 0 ? "FAILED" : "SUCCESSFUL",
    findings: [...findings],
    ...(errors.length > 0 && { errors }),
  }));
}

/** A point in an Activity at which it stays until the test lets it go on. */
export class Gate {
  private arrive: () => void = () => undefined;
  /** Lets the Activity go on, and every later one. */
  open: () => void = () => undefined;
  /** Settles when an Activity has come here. */
  readonly reached = new Promise<void>((resolve) => (this.arrive = resolve));
  private readonly opened = new Promise<void>((resolve) => (this.open = resolve));

  /**
   * Stays, with heartbeats. A cancellation of the Activity ends the stay as a CancelledFailure, the end of its worker
   * as the real Activities end then.
   */
  async pass(progress?: ActivityProgress): Promise<void> {
    const activity = Context.current();
    activity.heartbeat(progress);
    const beat = setInterval(() => activity.heartbeat(progress), 50);
    this.arrive();
    try {
      await Promise.race([this.opened, activity.cancelled]);
    } catch (failure) {
      throw activity.cancellationDetails?.workerShutdown ? workerShutdownFailure({}, progress) : failure;
    } finally {
      clearInterval(beat);
    }
  }

  /** Stays without further heartbeats, as seen from the server like an Activity whose worker was killed. */
  async die(progress?: ActivityProgress): Promise<never> {
    const activity = Context.current();
    activity.heartbeat(progress);
    this.arrive();
    return activity.cancelled;
  }
}

/** Activities that succeed at once, and a record of what was asked of them; a test replaces those it is about. */
export class FakeActivities {
  /** What was asked, in order: `name resourceId`, or `remediate resourceId/host`. */
  readonly calls: string[] = [];
  readonly remediations: OneHostInput[] = [];
  /** What receivers were told, in order, each attempt. */
  readonly notifications: NotificationInput[] = [];
  /** What was asked of the NETVIRT Activities. */
  readonly netvirt: FakeNetvirtActivities;

  constructor(
    private readonly replaced: ReplacedActivities = {},
    private readonly hosts = 3,
    /** Hosts that run the target version, as `resourceId/host`. */
    readonly atTarget = new Set<string>(),
  ) {
    this.netvirt = new FakeNetvirtActivities(replaced);
  }

  /** Calls of Activities that change something. */
  get changes(): string[] {
    return this.calls.filter((call) => /^(putPolicy|setImage|remediate|restorePolicy) /.test(call));
  }

  implementation(): UpgradeActivities {
    const record = (name: string, { cluster }: ClusterTarget) => void this.calls.push(`${name} ${cluster.resourceId}`);
    return {
      ...new FakeMgmtActivities(this.replaced).implementation(),
      lookAtClosure: async (look) => (await this.replaced.lookAtClosure?.(look)) ?? {},
      checkBundle: async (input) => (await this.replaced.checkBundle?.(input)) ?? {},
      runClusterPrechecks: async (target) => {
        record("prechecks", target);
        return (await this.replaced.runClusterPrechecks?.(target)) ?? { stages: passedCheck() };
      },
      readClusterHosts: async (target) => {
        record("readHosts", target);
        const hosts = (await this.replaced.readClusterHosts?.(target)) ?? sampleHosts(this.hosts);
        return hosts.map((host) => ({ ...host, atTarget: this.atTarget.has(hostKey(target, host)) }));
      },
      readRemediationPolicy: async (target) =>
        (await this.replaced.readRemediationPolicy?.(target)) ?? { previous: samplePolicy },
      putRemediationPolicy: async (target) => {
        record("putPolicy", target);
        await this.replaced.putRemediationPolicy?.(target);
      },
      restoreRemediationPolicy: async (target) => {
        record("restorePolicy", target);
        await this.replaced.restoreRemediationPolicy?.(target);
      },
      setDesiredImage: async (target) => {
        record("setImage", target);
        return (await this.replaced.setDesiredImage?.(target)) ?? { changed: true, commit: "1" };
      },
      readHostBefore: async (input) => {
        this.calls.push(`before ${hostKey(input, input.host)}`);
        const asFound = { at, inMaintenanceMode: false, rebootRequired: false, atTarget: false, runningVms: [] };
        return (await this.replaced.readHostBefore?.(input)) ?? asFound;
      },
      readRunningVms: async (input) => {
        this.calls.push(`running ${input.cluster.resourceId}/${input.hosts.map(({ host }) => host).join(",")}`);
        const asFound = Object.fromEntries(input.hosts.map(({ host }) => [host, [`vm-of-${host}`]]));
        return (await this.replaced.readRunningVms?.(input)) ?? asFound;
      },
      remediateHosts: async (input) => {
        const { healthy, check } = await this.look(input);
        if (!healthy)
          return { upgraded: [], failed: [], stopped: [], gateClosed: { ...(check !== undefined && { check }) } };
        const result = await this.remediate(input);
        for (const host of result.upgraded) this.atTarget.add(hostKey(input, host));
        return result;
      },
      restoreHosts: async (input) => {
        this.calls.push(`restoreHosts ${input.cluster.resourceId}/${input.hosts.map(({ host }) => host).join(",")}`);
        await this.replaced.restoreHosts?.(input);
      },
      awaitClusterHealth: async (input) => {
        this.calls.push(`gate ${input.cluster.resourceId}`);
        await this.replaced.awaitClusterHealth?.(input);
      },
      askCheck: async (input) => {
        this.calls.push(`check ${input.check}`);
        return (await this.replaced.askCheck?.(input)) ?? { verdict: "PASSED", text: "All is well." };
      },
      deliverNotification: async (input) => {
        this.notifications.push(input);
        return (await this.replaced.deliverNotification?.(input)) ?? { outcome: "DELIVERED" };
      },
      readUpgradeEnd: async (input) => (await this.replaced.readUpgradeEnd?.(input)) ?? { isRunning: false },
      readUpgradeWaits: async (input) => (await this.replaced.readUpgradeWaits?.(input)) ?? { waits: [] },
      readLockHolder: async (lock) => {
        this.calls.push(`holder ${lock.workflowId}`);
        return (await this.replaced.readLockHolder?.(lock)) ?? {};
      },
      readLockHolders: async (locks) => {
        this.calls.push(`holders ${locks.workflowIds.join(" ")}`);
        return (await this.replaced.readLockHolders?.(locks)) ?? [];
      },
      ...this.netvirt.implementation(),
    };
  }

  /** Healthy where nothing says otherwise: a test that replaces the gate has it looked at by the gate. */
  private async look(input: RemediateHostsInput): Promise<HealthLook> {
    if (!input.gate || input.resume || Context.current().info.attempt > 1) return { healthy: true };
    if (this.replaced.lookAtHealth) return this.replaced.lookAtHealth(input);
    if (this.replaced.awaitClusterHealth) return { healthy: false };
    this.calls.push(`gate ${input.cluster.resourceId}`);
    return { healthy: true };
  }

  /** Hosts that go alone, and those that their component manager remediates together. */
  private async remediate(input: RemediateHostsInput): Promise<RemediationResult> {
    const { cluster, hosts, emptying } = input;
    const [host] = hosts;
    if (!host || emptying) {
      this.calls.push(`remediateHosts ${cluster.resourceId}/${hosts.map((one) => one.host).join(",")}`);
      return (await this.replaced.remediateHosts?.(input)) ?? allUpgraded(input);
    }
    this.calls.push(`remediate ${hostKey(input, host)}`);
    const alone = { ...input, host };
    this.remediations.push(alone);
    if (!this.replaced.remediateHost) return (await this.replaced.remediateHosts?.(input)) ?? allUpgraded(input);
    return { upgraded: [await this.replaced.remediateHost(alone)], failed: [], stopped: [] };
  }
}

/** What `remediateHosts` gives of a host that has been upgraded. */
export function upgraded({ host, targetVersion }: Pick<OneHostInput, "host" | "targetVersion">): HostResult {
  const stages = stagesOf({ REMEDIATE: "Remediate" }, at).map((stage) => ({
    ...stage,
    status: "SUCCESSFUL" as const,
    completionTimestamp: at,
  }));
  return { host: host.host, outcome: "UPGRADED", version: targetVersion, stages };
}

/** What `remediateHosts` gives when every host has been upgraded. */
export function allUpgraded({ hosts, ...target }: RemediateHostsInput): RemediationResult {
  return { upgraded: hosts.map((host) => upgraded({ ...target, host })), failed: [], stopped: [] };
}

function hostKey({ cluster }: ClusterTarget, { host }: Pick<ClusterHost, "host">): string {
  return `${cluster.resourceId}/${host}`;
}
