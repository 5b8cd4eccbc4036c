import type { SimulatorContext } from "../state/context";
import type { ClusterState } from "../state/simulator-state";
import { applianceOf, note } from "../vcsa/appliance";
import type { ApplianceFailure } from "../vcsa/vcsa-state";
import { abandonApply } from "./apply";

/** What a component manager says of a task that it ended itself. */
export const endedByRestart = {
  id: "TaskError.CanceledDueToServiceRestart",
  message: "Task was canceled due to service restart.",
} as const;

/**
 * Ends every task, as a component manager does whose service restarts. Hosts stay as they are: those in maintenance mode
 * stay in it, those that restart come back, and nobody takes them further. `fault` is to blame.
 */
export function endTasksByRestart(context: SimulatorContext, fault: string): void {
  const at = context.now();
  context.record({ at, step: "MANAGER_RESTARTED" });
  for (const cluster of context.state.clusters) {
    const open = cluster.tasks.filter(({ status }) => status === "OPEN");
    for (const task of open) {
      task.endedByRestart = true;
      if (task.kind === "apply") {
        abandonApply(context, cluster, task, at, endedByRestart);
        continue;
      }
      task.status = "FAILED";
      task.endedAt = at;
      task.events = [];
    }
    endManagementTasks(cluster, at);
    context.changed(cluster);
  }
  endApplianceTasks(context, at, { kind: "FAILS", ...endedByRestart, fault });
}

/** What the management server prepares for its own upgrade; an installation and a switchover need none of its services. */
function endApplianceTasks(context: SimulatorContext, at: number, failure: ApplianceFailure): void {
  const appliance = applianceOf(context);
  const { update, migration } = appliance;
  if (update?.kind === "stage" && update.status === "RUNNING") {
    Object.assign(update, { status: "FAILED", endedAt: at, failure });
    delete appliance.staged;
    note(context, "MGMT_STAGING_FAILED", at, failure.message);
  }
  if (migration?.status === "RUNNING" && !["SWITCHOVER", "CANCELING"].includes(migration.state)) {
    Object.assign(migration, { status: "FAILED", endedAt: at, failure });
    delete migration.endsAt;
    note(context, "MGMT_MIGRATION_FAILED", at, `${migration.state}: ${failure.message}`);
  }
}

function endManagementTasks(cluster: ClusterState, at: number): void {
  for (const task of cluster.vim25?.tasks ?? []) {
    if (task.status !== "OPEN") continue;
    task.status = "ERROR";
    task.endedAt = at;
    task.error = { type: "RequestCanceled", message: endedByRestart.message };
    // A host that was told to restart does so without the component manager.
    task.events = task.events.filter(({ kind }) => kind === "HOST_DOWN" || kind === "HOST_UP");
    const host = cluster.hosts.find(({ id }) => id === task.entity);
    if (host?.maintenance === "ENTERING") host.maintenance = "OUT";
  }
}
