import type Router from "@koa/router";
import * as E from "fp-ts/Either";
import { answering } from "../http/answering";
import type { SimulatorContext } from "../state/context";
import { hasImage } from "../state/image-extras";
import { decodePolicy, effectivePolicy, type RemediationPolicy } from "../state/remediation-policy";
import { type ClusterState, desiredImage } from "../state/simulator-state";
import { hardwareProblem } from "../timeline/obstacles";
import { checkResult, hostInfo, lastApplyResult } from "./apply-result";
import { clusterCompliance } from "./compliance-view";
import { draftRoutes, softwareRoutes } from "./software-routes";
import { taskRoutes } from "./task-routes";
import { invalidArgument, localizable, notification, VapiError } from "./vapi-error";
import { vapiRouter } from "./vapi-router";
import { clusterOf, imageClusterOf, sessionHeader, userOf, withSession } from "./vlcm-calls";

/** The lifecycle manager's REST API under `/api`, one router of its own so that other APIs stand beside it. */
export function vlcmApi(context: SimulatorContext): Router {
  const router = vapiRouter(context);
  sessionRoutes(router, context);
  inventoryRoutes(router, context);
  softwareRoutes(router, context);
  draftRoutes(router, context);
  policyRoutes(router, context);
  reportRoutes(router, context);
  taskRoutes(router, context);
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
function inventoryRoutes(router: Router, context: SimulatorContext): void {
  const calls = withSession(router, context);

  calls.get("/vcenter/cluster", ({ query }) => {
    const found = context.state.clusters.filter(
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
    const found = context.state.clusters
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
    body: { enabled: clusterOf(context, call).management === "IMAGE" },
  }));
}

function policyOf(body: unknown): RemediationPolicy {
  const policy = decodePolicy(body);
  if (E.isLeft(policy)) throw invalidArgument(policy.left);
  return policy.right;
}

/** The remediation policy of a cluster and of all clusters. A PUT replaces the whole policy. */
function policyRoutes(router: Router, context: SimulatorContext): void {
  const calls = withSession(router, context);
  const ofCluster = "/esx/settings/clusters/:cluster/policies/apply";
  const ofAll = "/esx/settings/defaults/clusters/policies/apply";

  calls.get(ofCluster, (call) => ({ status: 200, body: imageClusterOf(context, call).policy }));

  calls.put(ofCluster, (call) => {
    const cluster = imageClusterOf(context, call);
    cluster.policy = policyOf(call.body);
    context.record({
      at: context.now(),
      cluster: cluster.id,
      step: "POLICY_SET",
      detail: JSON.stringify(cluster.policy),
    });
    context.changed(cluster);
    return { status: 204 };
  });

  calls.get(`${ofCluster}/effective`, (call) => ({
    status: 200,
    body: effectivePolicy(context.state.global.defaultPolicy, imageClusterOf(context, call).policy),
  }));

  calls.get(ofAll, () => ({ status: 200, body: context.state.global.defaultPolicy }));

  calls.put(ofAll, ({ body }) => {
    context.state.global.defaultPolicy = policyOf(body);
    context.changed();
    return { status: 204 };
  });

  calls.get(`${ofAll}/effective`, () => ({ status: 200, body: effectivePolicy(context.state.global.defaultPolicy) }));
}

/** Login, whoami and logout. Any credentials are good unless a LOGIN_REFUSED fault says otherwise. */
function sessionRoutes(router: Router, context: SimulatorContext): void {
  const calls = withSession(router, context);

  router.post(
    "/session",
    answering(context, (call) => ({ status: 200, body: context.sessions.login(userOf(context, call), context.now()) })),
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
    context.sessions.logout(String(headers[sessionHeader]));
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
function reportRoutes(router: Router, context: SimulatorContext): void {
  const calls = withSession(router, context);
  const path = "/esx/settings/clusters/:cluster/software";

  calls.get(`${path}/compliance`, (call) => {
    const cluster = imageClusterOf(context, call);
    if (!cluster.lastScan) throw none("compliance");
    return { status: 200, body: clusterCompliance(context.config, cluster, cluster.lastScan) };
  });

  calls.get(`${path}/reports/last-apply-result`, (call) => {
    const cluster = imageClusterOf(context, call);
    if (!cluster.lastApply) throw none("result of a remediation");
    return { status: 200, body: lastApplyResult(cluster, cluster.lastApply) };
  });

  calls.get(`${path}/reports/last-check-result`, (call) => {
    const cluster = imageClusterOf(context, call);
    if (!cluster.lastCheck) throw none("result of a check");
    return { status: 200, body: checkResult(cluster, cluster.lastCheck) };
  });

  calls.get(`${path}/reports/apply-impact`, (call) => ({
    status: 200,
    body: applyImpact(imageClusterOf(context, call), call.query.getAll("hosts")),
  }));

  calls.get(`${path}/reports/hardware-compatibility`, (call) => {
    const cluster = imageClusterOf(context, call);
    const desired = desiredImage(cluster);
    if (!desired) throw none("hardware compatibility report");
    const problems = cluster.hosts.flatMap((host) => hardwareProblem(context, cluster, host) ?? []);
    const at = context.now();
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
