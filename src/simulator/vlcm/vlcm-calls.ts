import type Router from "@koa/router";
import { type Answer, answering, type Call } from "../http/answering";
import type { SimulatorContext } from "../state/context";
import type { Session } from "../state/sessions";
import type { ClusterState } from "../state/simulator-state";
import { VapiError } from "./vapi-error";

/** A call with a valid session. */
export interface VlcmCall extends Call {
  readonly session: Session;
}

export const sessionHeader = "vmware-api-session-id";

const unauthenticated = () =>
  new VapiError("UNAUTHENTICATED", "session.unknown", "The session id is missing, unknown or expired.");

/** Refuses a call while the clocks of the product and its identity provider disagree. */
function refuseByClockSkew(context: SimulatorContext): void {
  const skewed = context.findFault(["CLOCK_SKEW"]);
  if (!skewed) return;
  context.useFault(skewed);
  throw new VapiError("UNAUTHENTICATED", "session.token_not_yet_valid", "Token start date is in the future.");
}

function sessionOf(context: SimulatorContext, call: Call): Session {
  refuseByClockSkew(context);
  const token = call.headers[sessionHeader];
  const session = typeof token === "string" ? context.sessions.use(token, context.now()) : undefined;
  if (!session) throw unauthenticated();
  return session;
}

/** The user of Basic credentials, of which any are good unless a LOGIN_REFUSED fault says otherwise. */
export function userOf(context: SimulatorContext, call: Call): string {
  refuseByClockSkew(context);
  const refused = context.findFault(["LOGIN_REFUSED"]);
  if (refused) context.useFault(refused);
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
function registering<C>(router: Router, context: SimulatorContext, identify: (call: Call) => C) {
  const register = (method: "get" | "post" | "put" | "delete") => (path: string, handler: (call: C) => Answer) => {
    router[method](
      path,
      answering(context, (call) => handler(identify(call))),
    );
  };
  return { get: register("get"), post: register("post"), put: register("put"), delete: register("delete") };
}

/** Registers handlers that need a session. */
export function withSession(router: Router, context: SimulatorContext) {
  return registering<VlcmCall>(router, context, (call) => ({ ...call, session: sessionOf(context, call) }));
}

/** A call whose user is known, by credentials or by a session. */
export interface UserCall extends Call {
  readonly user: string;
}

/** Registers handlers that need the user of a session. */
export function withUserOfSession(router: Router, context: SimulatorContext) {
  return registering<UserCall>(router, context, (call) => ({ ...call, user: sessionOf(context, call).user }));
}

/** Registers handlers of a service that knows no sessions: each call has its user's credentials. */
export function withCredentials(router: Router, context: SimulatorContext) {
  return registering<UserCall>(router, context, (call) => ({ ...call, user: userOf(context, call) }));
}

/** The cluster that the path names; 404 where there is none. */
export function clusterOf(context: SimulatorContext, call: Call): ClusterState {
  const cluster = context.hostIndex.cluster(call.params["cluster"] ?? "");
  if (!cluster) throw new VapiError("NOT_FOUND", "cluster.not_found", `There is no cluster ${call.params["cluster"]}.`);
  return cluster;
}

/** The same for calls that need a desired image; 404 for a cluster that is managed by baselines. */
export function imageClusterOf(context: SimulatorContext, call: Call): ClusterState {
  const cluster = clusterOf(context, call);
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
