import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import { isInScope } from "../../src/domain/plan/host-scope";
import { type FindingKey, isSameFinding } from "../../src/domain/task/findings";
import type { ActivityLimits } from "../activity-limits";
import { activityRetryPolicy, cancelledFailure, runActivity, stopReason } from "../activity-run";
import { completeTask } from "../complete-task";
import type { AwaitHealthInput, ClusterTarget, HealthLook, HealthWait } from "../contract";
import { DriverError, isBusy } from "../drivers/driver-error";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import { checkFindings, checkSubject } from "../drivers/vlcm/check-findings";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { HostSummary } from "../drivers/vlcm/vlcm-models";
import { createRetryPolicy, type RetryPolicy } from "../retry-policy";
import { findHeldHosts, type ReadHolds } from "../closure-check";
import { readAlarms } from "./baseline/read-alarms";
import type { HostMaintenance } from "./host-maintenance";

/** What looking at a cluster's health takes, with how long and how often that is done. */
export interface HealthGateDependencies extends ClusterHealthDependencies {
  readonly limits: ActivityLimits;
}

/** Problems that the operator is told of at once; more say nothing more. */
const reportedProblems = 3;

/** Waits until nothing is wrong with a cluster, so that the next of its hosts may be taken out of service. */
export function awaitClusterHealth(dependencies: HealthGateDependencies, input: AwaitHealthInput): Promise<void> {
  const { limits } = dependencies;
  const { cluster } = input;
  const context = { cluster: cluster.name, componentManager: cluster.componentManagerId };
  let progress: HealthWait = { waitingFor: `for the component manager to report the health of ${cluster.name}.` };
  return runActivity(
    {
      context,
      heartbeat: () => progress,
      failure: () => ({ retryable: false }),
    },
    async (beat) => {
      const { log } = Context.current();
      const tell = (waitingFor: string) => {
        if (waitingFor !== progress.waitingFor)
          log.info("Activity waits", { ...context, doing: `Waiting ${waitingFor}` });
        progress = { waitingFor };
        beat();
      };
      const bounds = { ...limits, operationBusy: Math.min(limits.operationBusy, limits.healthGate) };
      let outages = 0;
      const retryPolicy = activityRetryPolicy(bounds, (error) => {
        if (!isBusy(error)) outages++;
        tell(`for the health of ${cluster.name}: ${error.message}`);
      });
      const health = new ClusterHealth(dependencies, retryPolicy, input);
      let began = retryPolicy.clock.now();
      for (let round = 0; ; round++) {
        const asked = retryPolicy.clock.now();
        const before = outages;
        const problems = await health.problems(round === 0 ? input.check : undefined);
        if (problems.length === 0) return;
        // Time in which the manager does not answer says nothing about the cluster.
        if (outages > before) began += retryPolicy.clock.now() - asked;
        tell(`until ${cluster.name} is healthy: ${shown(problems)}`);
        if (retryPolicy.clock.now() - began >= limits.healthGate) throw gateClosed(input, problems, limits.healthGate);
        await retryPolicy.pause(round);
      }
    },
  );
}

function shown(problems: readonly string[]): string {
  const more = problems.length - reportedProblems;
  return problems.slice(0, reportedProblems).join(" ") + (more > 0 ? ` And ${more} more.` : "");
}

function gateClosed({ cluster }: ClusterTarget, problems: readonly string[], after: number): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "HEALTH_GATE_CLOSED",
    message: `Cluster ${cluster.name} did not become healthy within ${Math.round(after / 60_000)} minutes, so no further host was started. ${shown(problems)}`,
    remediation: "Resolve what is unhealthy in the component manager, then retry the upgrade.",
    causes: problems,
  });
}

/** A look that takes longer finds nothing healthy (milliseconds): the upgrade may have been paused meanwhile. */
const longestLook = 5_000;

/** How long a component manager that is away or busy is waited for (milliseconds); the gate waits for longer. */
const longestOutage = 1_000;

class LookTooLongError extends Error {}

/** A short look at a cluster's health. Whatever it cannot find out at once is left to `awaitClusterHealth`. */
export async function lookAtHealth(
  { limits, ...dependencies }: ClusterHealthDependencies & { readonly limits: Pick<ActivityLimits, "poll" | "clock"> },
  input: WatchedCluster,
): Promise<HealthLook> {
  const { poll, clock } = limits;
  const began = clock.now();
  const interruption = () => {
    if (stopReason()) return cancelledFailure();
    return clock.now() - began > longestLook ? new LookTooLongError() : undefined;
  };
  const retryPolicy = createRetryPolicy(
    { poll, clock, outage: longestOutage, operationBusy: longestLook },
    { stage: "IN_WORK", signal: Context.current().cancellationSignal, interruption },
  );
  const health = new ClusterHealth(dependencies, retryPolicy, input);
  let check: string | undefined;
  try {
    const look = await health.firstLook();
    if (!look.needsCheck) return { healthy: look.problems.length === 0 && !interruption() };
    check = await health.startCheck();
    return { healthy: (await health.checkProblems(look, check)).length === 0 && !interruption() };
  } catch (error) {
    // Nothing has been begun: where the upgrade is cancelled, nothing is left to be brought to an end either.
    if (error instanceof CancelledFailure && stopReason() !== "STOP_REQUESTED") throw error;
    if (!(error instanceof DriverError || error instanceof CancelledFailure || error instanceof LookTooLongError))
      Context.current().log.error("Reading the health of a cluster failed", { cluster: input.cluster.name, error });
    return { healthy: false, ...(check !== undefined && { check }) };
  }
}

interface ClusterHealthDependencies {
  clientOf(componentManagerId: string): VlcmClient;
  /** The management interface, which knows the health of clusters without an image. */
  managementOf(componentManagerId: string): Vim25Client;
  maintenanceOf(componentManagerId: string): HostMaintenance;
  readonly readHolds: ReadHolds;
}

/** A cluster, and what of its health an operator has accepted. */
type WatchedCluster = ClusterTarget & Pick<AwaitHealthInput, "acknowledged">;

/** What the cheap looks say. Where they find nothing in an image-managed cluster, its own check has the last word. */
interface FirstLook {
  readonly problems: readonly string[];
  readonly hosts: readonly HostSummary[];
  readonly needsCheck: boolean;
}

/** What is not green in a cluster, each as a sentence; the dearer looks only where the cheaper ones find nothing. */
class ClusterHealth {
  readonly #dependencies: ClusterHealthDependencies;
  readonly #retryPolicy: RetryPolicy;
  readonly #target: WatchedCluster;

  constructor(dependencies: ClusterHealthDependencies, retryPolicy: RetryPolicy, target: WatchedCluster) {
    this.#dependencies = dependencies;
    this.#retryPolicy = retryPolicy;
    this.#target = target;
  }

  /** `check`: a check that was asked for just now and has not been looked at. */
  async problems(check?: string): Promise<readonly string[]> {
    const look = await this.firstLook();
    return look.needsCheck ? this.checkProblems(look, check ?? (await this.startCheck())) : look.problems;
  }

  async firstLook(): Promise<FirstLook> {
    const { cluster, componentManagerId } = this.#target.cluster;
    const [hosts, inside] = await Promise.all([
      this.#retryPolicy.retry(() => this.#client.listHosts(cluster)),
      this.#dependencies.maintenanceOf(componentManagerId).inMaintenance(cluster, this.#retryPolicy),
    ]);
    const asked = hosts.filter(({ host }) => isInScope(this.#target.scope, host));
    const isAway = ({ connection_state, power_state }: HostSummary) =>
      connection_state !== "CONNECTED" || power_state !== "POWERED_ON";
    const held = await this.#heldAmong(
      asked.filter((one) => isAway(one) || inside.has(one.host)).map(({ host }) => host),
    );
    const away = asked
      .filter(({ host }) => !this.#isAccepted({ code: "HOST_NOT_CONNECTED", hostId: host }))
      .filter((one) => isAway(one) && !held.has(one.host))
      .map(
        (host) =>
          `Host ${host.name} is ${host.connection_state === "CONNECTED" ? host.power_state : host.connection_state}.`,
      );
    const kept = asked
      .filter(({ host }) => inside.has(host) && !this.#isAccepted({ code: "HOST_IN_MAINTENANCE_MODE", hostId: host }))
      .filter(({ host }) => !held.has(host))
      .map((host) => `Host ${host.name} is in maintenance mode.`);
    if (away.length + kept.length > 0) return { problems: [...away, ...kept], hosts, needsCheck: false };
    if (this.#target.kind !== "BASELINE") return { problems: [], hosts, needsCheck: true };
    const management = this.#dependencies.managementOf(componentManagerId);
    const alarms = await readAlarms(management, this.#retryPolicy, this.#target);
    const red = alarms.filter(({ status, host }) => status === "red" && !this.#isAccepted(healthError(host?.id)));
    return { problems: red.map(({ title }) => `${title} has the status red.`), hosts, needsCheck: false };
  }

  /** Asks for the component manager's own check; gives its task. */
  startCheck(): Promise<string> {
    return this.#retryPolicy.retry(() => this.#client.check(this.#target.cluster.cluster));
  }

  /** Waits for a check's end. */
  async checkProblems({ hosts }: Pick<FirstLook, "hosts">, check: string): Promise<readonly string[]> {
    const { name } = this.#target.cluster;
    const task = await completeTask(this.#client, this.#retryPolicy, check);
    const found = task && checkFindings(task, this.#target.scope);
    if (!found) return [`The health check of ${name} gave no result.`];
    const nameOf = (id: string) => hosts.find(({ host }) => host === id)?.name ?? id;
    const errors = found.filter(
      (one) => one.severity === "ERROR" && !this.#isAccepted({ ...healthError(one.host), subject: checkSubject(one) }),
    );
    const held = await this.#heldAmong(errors.flatMap(({ host }) => host ?? []));
    return errors
      .filter(({ host }) => host === undefined || !held.has(host))
      .map(({ host, check, issue }) => `${host === undefined ? name : nameOf(host)}: ${check}: ${issue}`);
  }

  /** Those of hosts that are not as they should be which are held: who holds them answers for them. */
  async #heldAmong(hosts: readonly string[]): Promise<ReadonlySet<string>> {
    if (hosts.length === 0) return new Set();
    const { resourceId: cluster } = this.#target.cluster;
    const held = await findHeldHosts(this.#dependencies, { cluster, hosts }).catch(() => new Map<string, unknown>());
    return new Set(held.keys());
  }

  #isAccepted(finding: Omit<FindingKey, "resourceId">): boolean {
    const { resourceId } = this.#target.cluster;
    return this.#target.acknowledged?.some((one) => isSameFinding(one, { ...finding, resourceId })) === true;
  }

  get #client(): VlcmClient {
    return this.#dependencies.clientOf(this.#target.cluster.componentManagerId);
  }
}

function healthError(host: string | undefined): Pick<FindingKey, "code" | "hostId"> {
  return { code: "HEALTH_CHECK_ERROR", ...(host !== undefined && { hostId: host }) };
}
