import { isIP } from "node:net";
import Router from "@koa/router";
import * as E from "fp-ts/Either";
import type { Context, Next } from "koa";
import { Identifier, model, OneOf } from "../../domain/codec";
import { findForeignHeader, isLoopback } from "../../loopback";
import { decodeStrictly } from "../config/decode-strictly";
import { type Answer, answering, send, UnreadableBody } from "../http/answering";
import { releaseNodes } from "../nsx/nsx-timeline";
import type { KnownHost, SimulatorContext } from "../state/context";
import { decodeFaultRequest, endsByItself, type Fault, type FaultRequest, isActive, Seconds } from "../state/fault";
import { effectivePolicy } from "../state/remediation-policy";
import { type ClusterState, desiredImage, type HostState } from "../state/simulator-state";
import { repairHost } from "../timeline/apply";
import { enterMaintenance, exitMaintenance } from "../timeline/maintenance";
import { joinCluster, leaveCluster } from "../timeline/membership";
import { endTasksByRestart } from "../timeline/restart";
import { repairAppliance } from "../vcsa/advance-vcsa";
import { applianceOf, planLateLifecycle } from "../vcsa/appliance";
import { applyProgress } from "../vlcm/apply-result";

const Settings = model({}, { hostSeconds: Seconds });

/** What somebody may do to a host by hand. */
const HostChange = model({ maintenance: OneOf("IN", "OUT") }, {});

/** A host that somebody adds to a cluster. */
const NewHost = model({ name: Identifier }, { version: Identifier });

/** A host by id or name, with its cluster. */
function findHost(context: SimulatorContext, idOrName: string): KnownHost | undefined {
  for (const cluster of context.state.clusters) {
    const host = cluster.hosts.find(({ id, name }) => id === idOrName || name === idOrName);
    if (host) return { cluster, host };
  }
  return undefined;
}

/** What is wrong with a control call, one sentence a field. */
const wrong = (status: number, errors: readonly string[]): Answer => ({ status, body: { errors } });

/**
 * Refuses what a web page of somebody else sends: under a name of its own, from its own place, or as a form or plain
 * text, which browsers send without asking. Where the simulator listens beyond this machine, addresses and the name that
 * it listens by are its own too: pages are bound to names, not to addresses.
 */
function refuseForeign(host: string) {
  const isOurs = (name: string) =>
    isLoopback(name) || (!isLoopback(host) && (name === host.toLowerCase() || isIP(name.replace(/^\[|\]$/g, "")) > 0));
  return (ctx: Context, next: Next): Promise<unknown> => {
    const { headers } = ctx.req;
    const foreign = findForeignHeader({ host: headers.host, origin: headers.origin }, isOurs);
    if (foreign) {
      send(ctx, wrong(403, [`${foreign.header}: ${foreign.value} is not this machine`]));
      return Promise.resolve();
    }
    const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
    if (hasBody && !ctx.is("application/json")) {
      send(ctx, wrong(415, ["Content-Type: must be application/json"]));
      return Promise.resolve();
    }
    return next();
  };
}

async function controlErrors(ctx: Context, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    send(ctx, wrong(400, [error.message]));
  }
}

/**
 * The simulator's own API under `/simulator`: look at the state, read the ledger, make things go wrong (no login). `host`
 * is where the simulator listens.
 */
export function controlApi(context: SimulatorContext, host: string): Router {
  const router = new Router({ prefix: "/simulator" });
  router.use(refuseForeign(host));
  router.use(controlErrors);

  router.get(
    "/state",
    answering(context, () => ({ status: 200, body: stateView(context) })),
  );

  router.get(
    "/ledger",
    answering(context, ({ query }) => {
      // Read once: the ledger may have tens of thousands of entries.
      const asked = (["cluster", "host", "step"] as const).flatMap((name) => {
        const value = query.get(name);
        return value === null ? [] : [{ name, value }];
      });
      const entries = context.ledger.filter((entry) => asked.every(({ name, value }) => entry[name] === value));
      return { status: 200, body: entries };
    }),
  );

  router.get(
    "/faults",
    answering(context, () => ({
      status: 200,
      body: context.state.global.faults.map((fault) => faultView(context, fault)),
    })),
  );

  router.post(
    "/faults",
    answering(context, ({ body }) => {
      const fault = addFault(context, body);
      return E.isLeft(fault) ? wrong(400, fault.left) : { status: 201, body: faultView(context, fault.right) };
    }),
  );

  router.delete(
    "/faults",
    answering(context, () => {
      removeFaults(context);
      return { status: 204 };
    }),
  );

  router.delete(
    "/faults/:id",
    answering(context, ({ params }) =>
      removeFaults(context, params["id"] ?? "") > 0
        ? { status: 204 }
        : wrong(404, [`there is no fault ${params["id"]}`]),
    ),
  );

  router.post(
    "/reset",
    answering(context, async () => {
      await context.reset();
      return { status: 204 };
    }),
  );

  router.patch(
    "/settings",
    answering(context, ({ body }) => {
      const settings = decodeStrictly(Settings, body);
      if (E.isLeft(settings)) return wrong(400, settings.left);
      const { hostSeconds } = settings.right;
      if (hostSeconds !== undefined) context.state.global.hostSeconds = hostSeconds;
      context.changed();
      return { status: 200, body: { hostSeconds: context.hostMilliseconds() / 1000 } };
    }),
  );

  router.patch(
    "/hosts/:host",
    answering(context, ({ params, body }) => {
      const change = decodeStrictly(HostChange, body);
      if (E.isLeft(change)) return wrong(400, change.left);
      const known = findHost(context, params["host"] ?? "");
      if (!known) return wrong(409, [`there is no host ${params["host"]}`]);
      const act = change.right.maintenance === "IN" ? enterMaintenance : exitMaintenance;
      const problem = act(context, known.cluster, known.host);
      return problem ? wrong(409, [problem]) : { status: 204 };
    }),
  );

  router.delete(
    "/hosts/:host",
    answering(context, ({ params }) => {
      const known = findHost(context, params["host"] ?? "");
      if (!known) return wrong(404, [`there is no host ${params["host"]}`]);
      leaveCluster(context, known.cluster, known.host);
      return { status: 204 };
    }),
  );

  router.post(
    "/clusters/:cluster/hosts",
    answering(context, ({ params, body }) => {
      const joining = decodeStrictly(NewHost, body);
      if (E.isLeft(joining)) return wrong(400, joining.left);
      const cluster = context.state.clusters.find(({ id, name }) => [id, name].includes(params["cluster"] ?? ""));
      if (!cluster) return wrong(404, [`there is no cluster ${params["cluster"]}`]);
      const joined = joinCluster(context, cluster, joining.right);
      return typeof joined === "string" ? wrong(409, [joined]) : { status: 201, body: hostView(joined) };
    }),
  );

  router.all("/{*path}", (ctx) => send(ctx, wrong(404, [`there is no ${ctx.method} ${ctx.path}`])));
  return router;
}

interface Target {
  readonly cluster?: ClusterState;
  readonly host?: HostState;
}

const isCalled = (wanted: string) => (thing: { id: string; name: string }) =>
  thing.id === wanted || thing.name === wanted;

/** Cluster and host by id or name; a host alone says which cluster is meant. */
function findTarget(context: SimulatorContext, request: FaultRequest): E.Either<string[], Target> {
  const { cluster: clusterName, host: hostName } = request;
  const clusters = context.state.clusters;
  const named = clusterName === undefined ? undefined : clusters.find(isCalled(clusterName));
  if (clusterName !== undefined && !named) return E.left([`cluster: no cluster has the id or name ${clusterName}`]);
  if (hostName === undefined) return E.right(named ? { cluster: named } : {});
  for (const cluster of named ? [named] : clusters) {
    const host = cluster.hosts.find(isCalled(hostName));
    if (host) return E.right({ cluster, host });
  }
  return E.left([`host: no host ${named ? `of ${named.name} ` : ""}has the id or name ${hostName}`]);
}

function isNode(context: SimulatorContext, node: string): boolean {
  const groups = context.state.nsx?.managers.flatMap((manager) => manager.groups) ?? [];
  return groups.some(({ units }) => units.some(isCalled(node)));
}

/** Puts a fault into force. Those that are a single event happen now and are kept as used up. */
function addFault(context: SimulatorContext, input: unknown): E.Either<string[], Fault> {
  const request = decodeFaultRequest(input);
  if (E.isLeft(request)) return request;
  const { node } = request.right;
  if (node !== undefined && !isNode(context, node)) return E.left([`node: no NETVIRT node has the id or name ${node}`]);
  const target = findTarget(context, request.right);
  if (E.isLeft(target)) return target;
  const { times, ...parameters } = request.right;
  const { cluster, host } = target.right;
  const now = context.now();
  const isEvent = parameters.kind === "TASKS_FORGOTTEN" || parameters.kind === "SESSIONS_EXPIRED";
  const remaining = isEvent ? 0 : times;
  const fault: Fault = {
    ...parameters,
    ...(parameters.kind === "MANAGER_RESTARTS" && { seconds: parameters.seconds ?? 10 }),
    id: `fault-${context.state.global.nextFault++}`,
    createdAt: now,
    ...(cluster && { cluster: cluster.id }),
    ...(host && { host: host.id }),
    ...(remaining !== undefined && { remaining }),
  };
  if (endsByItself.has(fault.kind) && fault.seconds !== undefined) fault.until = now + fault.seconds * 1000;
  if (fault.kind === "MANAGER_RESTARTS") {
    endTasksByRestart(context, fault.id);
    planLateLifecycle(context, fault.until ?? now);
    context.sessions.expireAll();
  }
  if (fault.kind === "SESSIONS_EXPIRED") context.sessions.expireAll();
  if (fault.kind === "TASKS_FORGOTTEN")
    for (const affected of cluster ? [cluster] : context.state.clusters) {
      for (const task of [...affected.tasks, ...(affected.vim25?.tasks ?? [])]) task.forgotten = true;
      context.changed(affected);
    }
  context.state.global.faults.push(fault);
  context.changed();
  return E.right(fault);
}

/** Takes faults out of force, all of them or one; hosts that one of them kept away come back. Answers how many. */
function removeFaults(context: SimulatorContext, id?: string): number {
  const { global, clusters } = context.state;
  const removed = global.faults.filter((fault) => id === undefined || fault.id === id);
  global.faults = global.faults.filter((fault) => !removed.includes(fault));
  for (const cluster of clusters)
    for (const host of cluster.hosts)
      if (removed.some((fault) => fault.id === host.lostBy)) {
        repairHost(context, cluster, host, context.now());
        context.changed(cluster);
      }
  const ids = removed.map((fault) => fault.id);
  releaseNodes(context, ids);
  repairAppliance(context, ids);
  if (removed.length > 0) context.changed();
  return removed.length;
}

/** A fault as the control API shows it. */
function faultView(context: SimulatorContext, fault: Fault) {
  const { createdAt, until, ...rest } = fault;
  return {
    ...rest,
    active: isActive(fault, context.now()),
    createdAt: new Date(createdAt).toISOString(),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
}

/** A host as the control API shows it. */
function hostView({ evacuation: _, lostBy, stagedVersion, ...host }: HostState) {
  return { ...host, ...(stagedVersion !== undefined && { stagedVersion }), ...(lostBy !== undefined && { lostBy }) };
}

function clusterView(context: SimulatorContext, cluster: ClusterState) {
  const { id, name, management, admissionControl, dpm, policy, drafts, hosts, tasks } = cluster;
  const desired = desiredImage(cluster);
  return {
    id,
    name,
    management,
    admissionControl,
    dpm,
    policy,
    effectivePolicy: effectivePolicy(context.state.global.defaultPolicy, policy),
    ...(desired && {
      desiredImage: { version: desired.version, commit: desired.id, ...(desired.extras && { extras: desired.extras }) },
    }),
    drafts: drafts.map((draft) => ({ id: draft.id, owner: draft.owner, version: draft.version })),
    runningTasks: [...tasks, ...(cluster.vim25?.tasks ?? [])]
      .filter(({ status }) => status === "OPEN")
      .map((task) => ({
        id: task.id,
        kind: task.kind,
        forgotten: task.forgotten,
        ...(task.kind === "apply" && {
          progress: applyProgress(task, context.now()),
          hosts: (task.runs ?? []).map(({ host, status }) => ({ host, status })),
        }),
      })),
    hosts: hosts.map(hostView),
  };
}

function managementServerView(context: SimulatorContext) {
  const { version, staged, update, migration } = applianceOf(context);
  return { version, ...(staged && { staged }), ...(update && { update }), ...(migration && { migration }) };
}

/** Everything that a test or an operator may want to see of the simulator, without the vendor's API in between. */
function stateView(context: SimulatorContext) {
  return {
    now: new Date(context.now()).toISOString(),
    hostSeconds: context.hostMilliseconds() / 1000,
    sessions: context.sessions.size,
    defaultPolicy: context.state.global.defaultPolicy,
    managementServer: managementServerView(context),
    clusters: context.state.clusters.map((cluster) => clusterView(context, cluster)),
    nsxManagers: context.state.nsx?.managers ?? [],
  };
}
