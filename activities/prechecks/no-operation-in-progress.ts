import { findingsOf, type Precheck } from "./precheck";

/** Operations that only look; a run of these checks that was cut short leaves some behind. */
const harmless = /(^|[.:])(scan|check|validate|export)(\$task)?$/;

/** Nobody else's lifecycle operation runs on the cluster. */
export const noOperationInProgress: Precheck = {
  type: "NO_OPERATION_IN_PROGRESS",
  name: "No operation in progress",
  description: "No other lifecycle operation runs on the cluster.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const tasks = await retryPolicy.retry(() => client.listUnfinishedTasks(target.cluster.cluster));
    return findingsOf(
      input,
      [...tasks]
        .filter(([, { operation }]) => !harmless.test(operation))
        .map(([id, task]) => ({
          code: "CLUSTER_BUSY",
          message: `Task ${id} (${task.description?.default_message ?? task.operation}) is ${task.status} on ${target.cluster.name}.`,
          remediation: "Wait for that task to end or cancel it in the component manager, then run the prechecks again.",
          context: { task: id },
        })),
    );
  },
};
