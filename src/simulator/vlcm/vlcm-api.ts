import type Router from "@koa/router";
import * as E from "fp-ts/Either";
import { answering } from "../http/answering";
import { hasImage } from "../state/image-extras";
import { decodePolicy, effectivePolicy, type RemediationPolicy } from "../state/remediation-policy";
import { type ClusterState, desiredImage } from "../state/simulator-state";
import type { World } from "../state/world";
import { hardwareProblem } from "../timeline/obstacles";
import { checkResult, hostInfo, lastApplyResult } from "./apply-result";
import { clusterCompliance } from "./compliance-view";
import { draftRoutes, softwareRoutes } from "./software-routes";
import { taskRoutes } from "./task-routes";
import { invalidArgument, localizable, notification, VapiError } from "./vapi-error";
import { vapiRouter } from "./vapi-router";
import { clusterOf, imageClusterOf, sessionHeader, userOf, withSession } from "./vlcm-calls";

/** The lifecycle manager's REST API under `/api`, one router of its own so that other APIs stand beside it. */
export function vlcmApi(world: World): Router {
  const router = vapiRouter(world);
  sessionRoutes(router, world);
  inventoryRoutes(router, world);
  softwareRoutes(router, world);
  draftRoutes(router, world);
  policyRoutes(router, world);
  reportRoutes(router, world);
  taskRoutes(router, world);
  router.all("/{*path}", (ctx) => {
    throw new VapiError("NOT_FOUND", "operation.not_found", `There is no ${ctx.method} ${ctx.path}.`);
  });
  return router;
}

/** The most entries that the product gives in one list. */
const maximum = { clusters: 1000, hosts: 2500 };

/** Whether a value passes a repeated query parameter; one that is absent lets everything pass. */
function passes(query: URLSearchParams, name: string, value: string): boolean {
  const wanted = query.getAll(name);
  return wanted.length === 0 || wanted.includes(value);
}

function atMost<A>(list: A[], limit: number): A[] {
  if (list.length > limit)
    throw new VapiError("UNABLE_TO_ALLOCATE_RESOURCE", "list.too_long", `More than ${limit} match; narrow the filter.`);
  return list;
}

/** Clusters and hosts, and whether a cluster is managed with a single image. */
function inventoryRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);

  calls.get("/vcenter/cluster", ({ query }) => {
    const found = world.state.clusters.filter(
      ({ id, name }) => passes(query, "clusters", id) && passes(query, "names", name),
    );
    const summaries = found.map(({ id, name, haEnabled, drsEnabled }) => ({
      cluster: id,
      name,
      ha_enabled: haEnabled,
      drs_enabled: drsEnabled,
    }));
    return { status: 200, body: atMost(summaries, maximum.clusters) };
  });

  calls.get("/vcenter/host", ({ query }) => {
    const found = world.state.clusters
      .filter(({ id }) => passes(query, "clusters", id))
      .flatMap(({ hosts }) => hosts)
      .filter(
        ({ id, name, connection }) =>
          passes(query, "hosts", id) && passes(query, "names", name) && passes(query, "connection_states", connection),
      );
    const summaries = found.map(({ id, name, connection, power }) => ({
      host: id,
      name,
      connection_state: connection,
      // The product does not know the power state of a host that it cannot reach.
      ...(connection === "CONNECTED" && { power_state: power }),
    }));
    return { status: 200, body: atMost(summaries, maximum.hosts) };
  });

  calls.get("/esx/settings/clusters/:cluster/enablement/software", (call) => ({
    status: 200,
    body: { enabled: clusterOf(world, call).management === "IMAGE" },
  }));
}

function policyOf(body: unknown): RemediationPolicy {
  const policy = decodePolicy(body);
  if (E.isLeft(policy)) throw invalidArgument(policy.left);
  return policy.right;
}

/** The remediation policy of a cluster and of all clusters. A PUT replaces the whole policy. */
function policyRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);
  const ofCluster = "/esx/settings/clusters/:cluster/policies/apply";
  const ofAll = "/esx/settings/defaults/clusters/policies/apply";

  calls.get(ofCluster, (call) => ({ status: 200, body: imageClusterOf(world, call).policy }));

  calls.put(ofCluster, (call) => {
    const cluster = imageClusterOf(world, call);
    cluster.policy = policyOf(call.body);
    world.record({ at: world.now(), cluster: cluster.id, step: "POLICY_SET", detail: JSON.stringify(cluster.policy) });
    world.changed(cluster);
    return { status: 204 };
  });

  calls.get(`${ofCluster}/effective`, (call) => ({
    status: 200,
    body: effectivePolicy(world.state.global.defaultPolicy, imageClusterOf(world, call).policy),
  }));

  calls.get(ofAll, () => ({ status: 200, body: world.state.global.defaultPolicy }));

  calls.put(ofAll, ({ body }) => {
    world.state.global.defaultPolicy = policyOf(body);
    world.changed();
    return { status: 204 };
  });

  calls.get(`${ofAll}/effective`, () => ({ status: 200, body: effectivePolicy(world.state.global.defaultPolicy) }));
}

/** Login, whoami and logout. Any credentials are good unless a LOGIN_REFUSED fault says otherwise. */
function sessionRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);

  router.post(
    "/session",
    answering(world, (call) => ({ status: 200, body: world.sessions.login(userOf(world, call), world.now()) })),
  );

  calls.get("/session", ({ session }) => ({
    status: 200,
    body: {
      user: session.user,
      created_time: new Date(session.createdAt).toISOString(),
      last_accessed_time: new Date(session.lastAccessedAt).toISOString(),
    },
  }));

  calls.delete("/session", ({ headers }) => {
    world.sessions.logout(String(headers[sessionHeader]));
    return { status: 204 };
  });
}

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
function reportRoutes(router: Router, world: World): void {
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
