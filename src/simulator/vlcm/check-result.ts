import type { CheckSnapshot, ClusterState } from "../state/simulator-state";
import { hostInfo } from "./apply-result";
import { localizable } from "./localizable";

const readiness = {
  check: "com.vmware.vcIntegrity.lifecycle.host_readiness",
  name: localizable("check.host_readiness.name", "Host readiness"),
  description: localizable("check.host_readiness.description", "Whether the host can be remediated."),
};
const clusterHealth = {
  check: "com.vmware.vcIntegrity.lifecycle.cluster_health",
  name: localizable("check.cluster_health.name", "Cluster health"),
  description: localizable("check.cluster_health.description", "Whether the cluster as a whole can be remediated."),
};

/** Result of a health check: one entry for the cluster, one for each host that was checked. */
export function checkResult(cluster: ClusterState, check: CheckSnapshot) {
  const entries = Object.entries(check.issues);
  const hosts = entries.map(([host, issues]) => {
    const warnings = check.warnings?.[host] ?? [];
    const status = issues.length > 0 ? "ERROR" : warnings.length > 0 ? "WARNING" : "OK";
    const messages = [...issues, ...warnings].map((issue) => localizable("check.host_readiness.issue", issue));
    return { type: "HOST", host, status, check_statuses: [{ check: readiness, status, issues: messages }] };
  });
  const worst = (["ERROR", "WARNING"] as const).find((status) => hosts.some((host) => host.status === status)) ?? "OK";
  return {
    status: worst,
    start_time: new Date(check.startedAt).toISOString(),
    end_time: new Date(check.endedAt).toISOString(),
    commit: check.commit,
    host_info: hostInfo(
      cluster,
      entries.map(([host]) => host),
    ),
    entity_results: [
      {
        type: "CLUSTER",
        cluster: cluster.id,
        status: "OK",
        check_statuses: [{ check: clusterHealth, status: "OK", issues: [] }],
      },
      ...hosts,
    ],
  };
}
