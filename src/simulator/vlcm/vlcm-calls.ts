import type Router from "@koa/router";
import { type Answer, answering, type Call } from "../http/answering";
import type { Session } from "../state/sessions";
import type { ClusterState } from "../state/simulator-state";
import type { World } from "../state/world";
import { VapiError } from "./vapi-error";

/** A call with a valid session. */
export interface VlcmCall extends Call {
  readonly session: Session;
}

export const sessionHeader = "vmware-api-session-id";

const unauthenticated = () =>
  new VapiError("UNAUTHENTICATED", "session.unknown", "The session id is missing, unknown or expired.");

/** Refuses a call while the clocks of the product and its identity provider disagree. */
export function refuseByClockSkew(world: World): void {
  const skewed = world.findFault(["CLOCK_SKEW"]);
  if (!skewed) return;
  world.useFault(skewed);
  throw new VapiError("UNAUTHENTICATED", "session.token_not_yet_valid", "Token start date is in the future.");
}

function sessionOf(world: World, call: Call): Session {
  refuseByClockSkew(world);
  const token = call.headers[sessionHeader];
  const session = typeof token === "string" ? world.sessions.use(token, world.now()) : undefined;
  if (!session) throw unauthenticated();
  return session;
}

/** The user of Basic credentials, of which any are good unless a LOGIN_REFUSED fault says otherwise. */
export function userOf(world: World, call: Call): string {
  refuseByClockSkew(world);
  const refused = world.findFault(["LOGIN_REFUSED"]);
  if (refused) world.useFault(refused);
  const user = basicUser(call);
  if (refused || user === undefined)
    throw new VapiError("UNAUTHENTICATED", "session.invalid_login", "The user name or password is wrong.");
  return user;
}

/** The user of Basic credentials in which neither name nor password is empty. */
function basicUser(call: Call): string | undefined {
  const [, encoded] = /^Basic (.+)$/i.exec(String(call.headers["authorization"] ?? "")) ?? [];
  if (encoded === undefined) return undefined;
  const [, user] = /^([^:]+):.+$/s.exec(Buffer.from(encoded, "base64").toString("utf8")) ?? [];
  return user;
}

/** Registers handlers, each of a method, for calls that `identify` has looked at. */
function registering<C>(router: Router, world: World, identify: (call: Call) => C) {
  const register = (method: "get" | "post" | "put" | "delete") => (path: string, handler: (call: C) => Answer) => {
    router[method](
      path,
      answering(world, (call) => handler(identify(call))),
    );
  };
  return { get: register("get"), post: register("post"), put: register("put"), delete: register("delete") };
}

/** Registers handlers that need a session. */
export function withSession(router: Router, world: World) {
  return registering<VlcmCall>(router, world, (call) => ({ ...call, session: sessionOf(world, call) }));
}

/** A call whose user is known, by credentials or by a session. */
export interface UserCall extends Call {
  readonly user: string;
}

/** Registers handlers that need the user of a session. */
export function withUserOfSession(router: Router, world: World) {
  return registering<UserCall>(router, world, (call) => ({ ...call, user: sessionOf(world, call).user }));
}

/** Registers handlers of a service that knows no sessions: each call has its user's credentials. */
export function withCredentials(router: Router, world: World) {
  return registering<UserCall>(router, world, (call) => ({ ...call, user: userOf(world, call) }));
}

/** The cluster that the path names; 404 where there is none. */
export function clusterOf(world: World, call: Call): ClusterState {
  const cluster = world.whereabouts.cluster(call.params["cluster"] ?? "");
  if (!cluster) throw new VapiError("NOT_FOUND", "cluster.not_found", `There is no cluster ${call.params["cluster"]}.`);
  return cluster;
}

/** The same for calls that need a desired image; 404 for a cluster that is managed by baselines. */
export function imageClusterOf(world: World, call: Call): ClusterState {
  const cluster = clusterOf(world, call);
  if (cluster.management === "BASELINE")
    throw new VapiError("NOT_FOUND", "cluster.no_image", `Cluster ${cluster.name} is not managed with a single image.`);
  return cluster;
}

/** The operation of a POST that is several: its action, of those with the task flag as a task. */
export function actionOf<const A extends string>(call: Call, actions: readonly A[]): A {
  const action = actions.find((known) => known === call.query.get("action"));
  if (!action || call.query.get("vmw-task") !== "true")
    throw new VapiError("NOT_FOUND", "operation.not_found", "There is no such operation; is vmw-task=true missing?");
  return action;
}
