import { completeTask, reasonsOf } from "../complete-task";
import { CheckResult } from "../drivers/vlcm/vlcm-models";
import { findingsOf, type Precheck } from "./precheck";

const passed = new Set(["OK", "WARNING"]);

/** The component manager's own health check of the cluster and its hosts finds no error. Warnings do not fail it. */
export const clusterHealth: Precheck = {
  type: "CLUSTER_HEALTH",
  name: "Cluster health",
  description: "The component manager's own health check of the cluster and its hosts finds no error.",
  needs: ["CLUSTER_IMAGE_MANAGED", "NO_OPERATION_IN_PROGRESS"],
  run: async (input) => {
    const { target, client, patience } = input;
    const { cluster, name } = target.cluster;
    const task = await completeTask(client, patience, await patience.persist(() => client.check(cluster)));
    if (!task || !CheckResult.is(task.result)) {
      const reason = task ? reasonsOf(task)[0] : "the component manager has forgotten it";
      return findingsOf(input, [
        {
          code: "HEALTH_CHECK_FAILED",
          message: `The health check of ${name} gave no result${reason ? `: ${reason}` : "."}`,
          remediation: "Run the check of the cluster in the component manager, then run the prechecks again.",
        },
      ]);
    }
    const hosts = await patience.persist(() => client.listHosts(cluster));
    const nameOf = (host: string) => hosts.find((listed) => listed.host === host)?.name ?? host;
    const findings = task.result.entity_results.flatMap(({ host, status, check_statuses }) => {
      const about = host === undefined ? name : nameOf(host);
      const context: Record<string, string> = host === undefined ? {} : { host: about };
      const failed = check_statuses.filter((check) => !passed.has(check.status));
      if (failed.length === 0 && !passed.has(status)) {
        return [finding(about, "health check", `is ${status}`, context)];
      }
      return failed.map(({ check, status: found, issues }) => {
        const texts = issues.map(({ default_message }) => default_message).join(" ");
        return finding(about, check.name.default_message, texts || `is ${found}`, context);
      });
    });
    if (findings.length === 0 && !passed.has(task.result.status)) {
      findings.push(finding(name, "health check", `is ${task.result.status}`, {}));
    }
    return findingsOf(input, findings);
  },
};

function finding(about: string, check: string, issue: string, context: Readonly<Record<string, string>>) {
  return {
    code: "HEALTH_CHECK_ERROR",
    message: `${about}: ${check}: ${issue}`,
    remediation: `Resolve what the check "${check}" reports for ${about}, then run the prechecks again.`,
    context: { ...context, check },
  };
}
