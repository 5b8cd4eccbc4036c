import type Router from "@koa/router";
import { hasImage } from "../state/image-extras";
import { desiredImage, type ClusterState } from "../state/simulator-state";
import type { World } from "../state/world";
import { hostInfo, lastApplyResult } from "./apply-result";
import { checkResult } from "./check-result";
import { clusterCompliance } from "./compliance-view";
import { hardwareProblem } from "../timeline/obstacles";
import { localizable, notification } from "./localizable";
import { VapiError } from "./vapi-error";
import { imageClusterOf, withSession } from "./vlcm-calls";

const none = (what: string) => new VapiError("NOT_FOUND", "report.not_found", `There is no ${what} yet.`);

function applyImpact(cluster: ClusterState, wanted: readonly string[]) {
  const desired = desiredImage(cluster);
  const hosts = cluster.hosts.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
  const impact = {
    message: localizable("impact.reboot", "The host enters maintenance mode and is rebooted."),
  };
  const affected = hosts.filter((host) => desired && !hasImage(host, desired));
  return {
    impact:
      affected.length > 0 ? [{ message: localizable("impact.cluster", "Hosts of the cluster are rebooted.") }] : [],
    host_impact: Object.fromEntries(affected.map(({ id }) => [id, [impact]])),
    commit: desired?.id ?? "",
    host_info: hostInfo(
      cluster,
      hosts.map(({ id }) => id),
    ),
  };
}

/** What is known of a cluster without starting anything: compliance, and the reports on earlier tasks. */
export function reportRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);
  const path = "/esx/settings/clusters/:cluster/software";

  calls.get(`${path}/compliance`, (call) => {
    const cluster = imageClusterOf(world, call);
    if (!cluster.lastScan) throw none("compliance");
    return { status: 200, body: clusterCompliance(world.config, cluster, cluster.lastScan) };
  });

  calls.get(`${path}/reports/last-apply-result`, (call) => {
    const cluster = imageClusterOf(world, call);
    if (!cluster.lastApply) throw none("result of a remediation");
    return { status: 200, body: lastApplyResult(cluster, cluster.lastApply) };
  });

  calls.get(`${path}/reports/last-check-result`, (call) => {
    const cluster = imageClusterOf(world, call);
    if (!cluster.lastCheck) throw none("result of a check");
    return { status: 200, body: checkResult(cluster, cluster.lastCheck) };
  });

  calls.get(`${path}/reports/apply-impact`, (call) => ({
    status: 200,
    body: applyImpact(imageClusterOf(world, call), call.query.getAll("hosts")),
  }));

  calls.get(`${path}/reports/hardware-compatibility`, (call) => {
    const cluster = imageClusterOf(world, call);
    const desired = desiredImage(cluster);
    if (!desired) throw none("hardware compatibility report");
    const problems = cluster.hosts.flatMap((host) => hardwareProblem(world, cluster, host) ?? []);
    const at = world.now();
    return {
      status: 200,
      body: {
        status: problems.length > 0 ? "INCOMPATIBLE" : "COMPATIBLE",
        scan_time: new Date(at).toISOString(),
        commit: desired.id,
        base_image_version: desired.version,
        summary_result:
          problems.length > 0
            ? localizable("hcl.incompatible", `${problems.length} hosts have devices that are not compatible.`)
            : localizable("hcl.compatible", "All devices are compatible with the image."),
        notifications:
          problems.length > 0
            ? { warnings: problems.map((message) => notification("WARNING", { id: "hcl.device", message, at })) }
            : {},
      },
    };
  });
}
