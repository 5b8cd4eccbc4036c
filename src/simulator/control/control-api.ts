import { isIP } from "node:net";
import Router from "@koa/router";
import * as E from "fp-ts/Either";
import type { Context, Next } from "koa";
import { Identifier, model, OneOf } from "../../domain/codec";
import { findForeignHeader, isLoopback } from "../../loopback";
import { decodeStrictly } from "../config/decode-strictly";
import { answering, send, UnreadableBody, type Answer } from "../http/answering";
import { Seconds } from "../state/fault";
import type { KnownHost } from "../state/whereabouts";
import type { World } from "../state/world";
import { enterMaintenance, exitMaintenance } from "../timeline/maintenance";
import { joinCluster, leaveCluster } from "../timeline/membership";
import { addFault, faultView, removeFaults } from "./fault-requests";
import { hostView, stateView } from "./state-view";

const Settings = model({}, { hostSeconds: Seconds });

/** What somebody may do to a host by hand. */
const HostChange = model({ maintenance: OneOf("IN", "OUT") }, {});

/** A host that somebody adds to a cluster. */
const NewHost = model({ name: Identifier }, { version: Identifier });

/** A host by id or name, with its cluster. */
function findHost(world: World, idOrName: string): KnownHost | undefined {
  for (const cluster of world.state.clusters) {
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
 * The simulator's own API under `/simulator`: look at the world, read the ledger, make things go wrong (no login). `host`
 * is where the simulator listens.
 */
export function controlApi(world: World, host: string): Router {
  const router = new Router({ prefix: "/simulator" });
  router.use(refuseForeign(host));
  router.use(controlErrors);

  router.get(
    "/state",
    answering(world, () => ({ status: 200, body: stateView(world) })),
  );

  router.get(
    "/ledger",
    answering(world, ({ query }) => {
      // Read once: the ledger may have tens of thousands of entries.
      const asked = (["cluster", "host", "step"] as const).flatMap((name) => {
        const value = query.get(name);
        return value === null ? [] : [{ name, value }];
      });
      const entries = world.ledger.filter((entry) => asked.every(({ name, value }) => entry[name] === value));
      return { status: 200, body: entries };
    }),
  );

  router.get(
    "/faults",
    answering(world, () => ({ status: 200, body: world.state.global.faults.map((fault) => faultView(world, fault)) })),
  );

  router.post(
    "/faults",
    answering(world, ({ body }) => {
      const fault = addFault(world, body);
      return E.isLeft(fault) ? wrong(400, fault.left) : { status: 201, body: faultView(world, fault.right) };
    }),
  );

  router.delete(
    "/faults",
    answering(world, () => {
      removeFaults(world);
      return { status: 204 };
    }),
  );

  router.delete(
    "/faults/:id",
    answering(world, ({ params }) =>
      removeFaults(world, params["id"] ?? "") > 0 ? { status: 204 } : wrong(404, [`there is no fault ${params["id"]}`]),
    ),
  );

  router.post(
    "/reset",
    answering(world, async () => {
      await world.reset();
      return { status: 204 };
    }),
  );

  router.patch(
    "/settings",
    answering(world, ({ body }) => {
      const settings = decodeStrictly(Settings, body);
      if (E.isLeft(settings)) return wrong(400, settings.left);
      const { hostSeconds } = settings.right;
      if (hostSeconds !== undefined) world.state.global.hostSeconds = hostSeconds;
      world.changed();
      return { status: 200, body: { hostSeconds: world.hostMilliseconds() / 1000 } };
    }),
  );

  router.patch(
    "/hosts/:host",
    answering(world, ({ params, body }) => {
      const change = decodeStrictly(HostChange, body);
      if (E.isLeft(change)) return wrong(400, change.left);
      const known = findHost(world, params["host"] ?? "");
      if (!known) return wrong(409, [`there is no host ${params["host"]}`]);
      const act = change.right.maintenance === "IN" ? enterMaintenance : exitMaintenance;
      const problem = act(world, known.cluster, known.host);
      return problem ? wrong(409, [problem]) : { status: 204 };
    }),
  );

  router.delete(
    "/hosts/:host",
    answering(world, ({ params }) => {
      const known = findHost(world, params["host"] ?? "");
      if (!known) return wrong(404, [`there is no host ${params["host"]}`]);
      leaveCluster(world, known.cluster, known.host);
      return { status: 204 };
    }),
  );

  router.post(
    "/clusters/:cluster/hosts",
    answering(world, ({ params, body }) => {
      const joining = decodeStrictly(NewHost, body);
      if (E.isLeft(joining)) return wrong(400, joining.left);
      const cluster = world.state.clusters.find(({ id, name }) => [id, name].includes(params["cluster"] ?? ""));
      if (!cluster) return wrong(404, [`there is no cluster ${params["cluster"]}`]);
      const joined = joinCluster(world, cluster, joining.right);
      return typeof joined === "string" ? wrong(409, [joined]) : { status: 201, body: hostView(joined) };
    }),
  );

  router.all("/{*path}", (ctx) => send(ctx, wrong(404, [`there is no ${ctx.method} ${ctx.path}`])));
  return router;
}
