import type Router from "@koa/router";
import { type Answer, answering, type Call } from "../http/answering";
import type { SimulatorContext } from "../state/context";
import { NsxError } from "./nsx-error";
import { type NsxComponent, NsxComponentType, type NsxGroup, type NsxManager } from "./nsx-state";

/** A call to a manager that answers and has accepted its credentials. */
export interface NsxCall extends Call {
  readonly manager: NsxManager;
}

export type NsxHandler = (call: NsxCall) => Answer;

/** The most entries of one page. */
const maximumPage = 1000;

function isLoggedIn({ headers }: Call): boolean {
  const [, encoded] = /^Basic (.+)$/i.exec(String(headers["authorization"] ?? "")) ?? [];
  return encoded !== undefined && /^[^:]+:.+$/s.test(Buffer.from(encoded, "base64").toString("utf8"));
}

/** The manager of the path; without one in the path the first of all. */
function managerOf(context: SimulatorContext, call: Call): NsxManager {
  const managers = context.state.nsx?.managers ?? [];
  const { manager: id } = call.params;
  const manager = id === undefined ? managers[0] : managers.find((known) => known.id === id);
  if (!manager) throw new NsxError(404, 100, `There is no NETVIRT manager ${id ?? "here"}.`);
  const { restart } = manager;
  const now = context.now();
  if (restart && now >= restart.from && now < restart.until) {
    // Services come up one after another: first nothing is there, then what is there fails.
    const halfway = (restart.from + restart.until) / 2;
    if (now < halfway) throw new NsxError(503, 98, "The service is temporarily unavailable.");
    throw new NsxError(500, 99, "The service is starting.");
  }
  if (!isLoggedIn(call)) throw new NsxError(401, 403, "The credentials are missing.");
  const refused = context.findFault(["NSX_ACCOUNT_REFUSED"]);
  if (refused) {
    context.useFault(refused);
    throw new NsxError(403, 403, "The credentials were incorrect or the account specified has been locked.");
  }
  return manager;
}

/** Registers handlers that need a manager that answers. */
export function withManager(router: Router, context: SimulatorContext) {
  const register = (method: "get" | "post" | "put") => (path: string, handler: NsxHandler) => {
    router[method](
      path,
      answering(context, (call) => handler({ ...call, manager: managerOf(context, call) })),
    );
  };
  return { get: register("get"), post: register("post"), put: register("put") };
}

/** The component that is named; 400 where there is none of this name. */
export function componentOf({ components }: NsxManager, type: string): NsxComponent {
  const component = components.find((known) => known.type === type);
  if (!component) throw new NsxError(NsxComponentType.is(type) ? 404 : 400, 600, `There is no component ${type}.`);
  return component;
}

/** The components that the filter `component_type` lets pass. */
export function wantedComponents({ query, manager }: NsxCall): NsxComponent[] {
  const type = query.get("component_type");
  return type === null ? manager.components : [componentOf(manager, type)];
}

/** The groups that the filter `component_type` lets pass. */
export function wantedGroups(call: NsxCall): NsxGroup[] {
  const types = wantedComponents(call).map(({ type }) => type);
  return call.manager.groups.filter(({ type }) => types.includes(type));
}

export function groupOf({ manager, params }: NsxCall): NsxGroup {
  const group = manager.groups.find(({ id }) => id === params["group"]);
  if (!group) throw new NsxError(404, 600, `There is no upgrade unit group ${params["group"]}.`);
  return group;
}

/** One page of a list; the cursor is where the next one begins. */
export function pageOf<A>({ query }: NsxCall, all: readonly A[]) {
  const size = Math.min(Number(query.get("page_size") ?? maximumPage) || maximumPage, maximumPage);
  const from = Number(query.get("cursor") ?? 0);
  if (!Number.isInteger(from) || from < 0) throw new NsxError(400, 255, "The cursor is not one of ours.");
  const next = from + size;
  return {
    results: all.slice(from, next),
    result_count: all.length,
    ...(next < all.length && { cursor: String(next) }),
  };
}

/** Answers 500 with the code by which the product says that it is still at work, where a fault wants it. */
export function stillInProgress(context: SimulatorContext): void {
  const fault = context.findFault(["NSX_STILL_IN_PROGRESS"]);
  if (!fault) return;
  context.useFault(fault);
  throw new NsxError(500, 30023, "The upgrade is still in progress.");
}
