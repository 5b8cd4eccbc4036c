import { completeTask, reasonsOf } from "../complete-task";
import { checkFindings } from "../drivers/vlcm/check-findings";
import type { TaskInfo } from "../drivers/vlcm/vlcm-models";
import { findingsOf, type Precheck, type PrecheckInput } from "./precheck";

/** How often the check is begun again where the component manager, as after its restart, has forgotten its task. */
const maximumRounds = 5;

/** The component manager's own health check of the cluster and its hosts finds no error. Warnings do not fail it. */
export const clusterHealth: Precheck = {
  type: "CLUSTER_HEALTH",
  name: "Cluster health",
  description: "The component manager's own health check of the cluster and its hosts finds no error.",
  needs: ["CLUSTER_IMAGE_MANAGED", "NO_OPERATION_IN_PROGRESS"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { cluster, name } = target.cluster;
    const task = await checked(input);
    const found = task && checkFindings(task);
    if (!found) {
      const reason = task ? reasonsOf(task)[0] : "the component manager has forgotten it";
      return findingsOf(input, [
        {
          code: "HEALTH_CHECK_FAILED",
          message: `The health check of ${name} gave no result${reason ? `: ${reason}` : "."}`,
          remediation: "Run the check of the cluster in the component manager, then run the prechecks again.",
        },
      ]);
    }
    const hosts = await retryPolicy.retry(() => client.listHosts(cluster));
    return findingsOf(
      input,
      found.map(({ host, check, issue }) => {
        const about = host === undefined ? name : (hosts.find((listed) => listed.host === host)?.name ?? host);
        return {
          code: "HEALTH_CHECK_ERROR",
          message: `${about}: ${check}: ${issue}`,
          remediation: `Resolve what the check "${check}" reports for ${about}, then run the prechecks again.`,
          context: { ...(host === undefined ? {} : { host: about }), check },
        };
      }),
    );
  },
};

/** The ended task of a health check; undefined where the component manager forgets each of them. */
async function checked({ target, client, retryPolicy }: PrecheckInput): Promise<TaskInfo | undefined> {
  const { cluster } = target.cluster;
  for (let round = 0; ; round++) {
    const task = await completeTask(client, retryPolicy, await retryPolicy.retry(() => client.check(cluster)));
    if (task || round === maximumRounds) return task;
    await retryPolicy.pause(round);
  }
}
