import { Context } from "@temporalio/activity";
import type { ActivityLimits } from "../activity-dependencies";
import { activityRetryPolicy, runActivity } from "../activity-run";
import type { AwaitHealthInput, ClusterTarget, HealthWait } from "../contract";
import { DriverError, isBusy } from "../drivers/driver-error";
import { ClusterHealth, type ClusterHealthDependencies } from "./cluster-health";

/** What looking at a cluster's health takes, with how long and how often that is done. */
export interface HealthGateDependencies extends ClusterHealthDependencies {
  readonly limits: ActivityLimits;
}

/** Problems that the operator is told of at once; more say nothing more. */
const toldProblems = 3;

/** Waits until nothing is wrong with a cluster, so that the next of its hosts may be taken out of service. */
export function awaitClusterHealth(dependencies: HealthGateDependencies, input: AwaitHealthInput): Promise<void> {
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
