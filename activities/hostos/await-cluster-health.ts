import { Context } from "@temporalio/activity";
import type { ActivityLimits } from "../activity-dependencies";
import { activityPatience, runActivity } from "../activity-run";
import { redStatuses } from "../baseline/red-statuses";
import { completeTask } from "../complete-task";
import type { ClusterTarget, HealthWait } from "../contract";
import { DriverError } from "../drivers/driver-error";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import { checkFindings } from "../drivers/vlcm/check-findings";
import type { Patience } from "../patience";
import type { HostMaintenance } from "./host-maintenance";

interface HealthGateDependencies {
  clientOf(componentManagerId: string): VlcmClient;
  /** The management interface, which knows the health of clusters without an image. */
  managementOf(componentManagerId: string): Vim25Client;
  maintenanceOf(componentManagerId: string): HostMaintenance;
  readonly limits: ActivityLimits;
}

/** Problems that the operator is told of at once; more say nothing more. */
const toldProblems = 3;

/** Waits until nothing is wrong with a cluster, so that the next of its hosts may be taken out of service. */
export function awaitClusterHealth(dependencies: HealthGateDependencies, input: ClusterTarget): Promise<void> {
  const { limits } = dependencies;
  const { cluster } = input;
  const context = { cluster: cluster.name, componentManager: cluster.componentManagerId };
  let progress: HealthWait = { waitingFor: `for the component manager to tell the health of ${cluster.name}.` };
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
          log.info("A step waits", { ...context, doing: `Waiting ${waitingFor}` });
        progress = { waitingFor };
        beat();
      };
      // Trouble with the manager is not green either, so it is waited out no longer than the gate is.
      const bound = (limit: number) => Math.min(limit, limits.healthGate);
      const bounds = { ...limits, outage: bound(limits.outage), operationBusy: bound(limits.operationBusy) };
      const patience = activityPatience(bounds, (error) => tell(`for the health of ${cluster.name}: ${error.message}`));
      const began = Date.now();
      for (let round = 0; ; round++) {
        const problems = await problemsOf(dependencies, patience, input);
        if (problems.length === 0) return;
        tell(`until ${cluster.name} is healthy: ${shown(problems)}`);
        if (Date.now() - began >= limits.healthGate) throw gateClosed(input, problems, limits.healthGate);
        await patience.pause(round);
      }
    },
  );
}

/** What is not green, each as a sentence; the dearer looks only where the cheaper ones find nothing. */
async function problemsOf(
  { clientOf, managementOf, maintenanceOf }: HealthGateDependencies,
  patience: Patience,
  { cluster: { cluster, name, componentManagerId }, kind }: ClusterTarget,
): Promise<string[]> {
  const client = clientOf(componentManagerId);
  const hosts = await patience.persist(() => client.listHosts(cluster));
  const away = hosts
    .filter(({ connection_state, power_state }) => connection_state !== "CONNECTED" || power_state !== "POWERED_ON")
    .map(
      (host) =>
        `Host ${host.name} is ${host.connection_state === "CONNECTED" ? host.power_state : host.connection_state}.`,
    );
  const inside = await maintenanceOf(componentManagerId).inMaintenance(cluster, patience);
  const kept = hosts.filter(({ host }) => inside.has(host)).map((host) => `Host ${host.name} is in maintenance mode.`);
  if (away.length + kept.length > 0) return [...away, ...kept];

  if (kind === "BASELINE") {
    const red = await redStatuses(managementOf(componentManagerId), patience, cluster);
    return red.map((title) => `${title} has the status red.`);
  }

  const task = await completeTask(client, patience, await patience.persist(() => client.check(cluster)));
  const found = task && checkFindings(task);
  if (!found) return [`The health check of ${name} gave no result.`];
  const nameOf = (id: string) => hosts.find(({ host }) => host === id)?.name ?? id;
  return found.map(({ host, check, issue }) => `${host === undefined ? name : nameOf(host)}: ${check}: ${issue}`);
}

function shown(problems: readonly string[]): string {
  const more = problems.length - toldProblems;
  return problems.slice(0, toldProblems).join(" ") + (more > 0 ? ` And ${more} more.` : "");
}

function gateClosed({ cluster }: ClusterTarget, problems: readonly string[], after: number): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "HEALTH_GATE_CLOSED",
    message: `Cluster ${cluster.name} did not become healthy within ${Math.round(after / 60_000)} minutes, so no further host was begun. ${shown(problems)}`,
    remediation: "Resolve what is not healthy in the component manager, then retry the upgrade; it goes on from there.",
    causes: problems,
  });
}
