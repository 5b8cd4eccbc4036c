import { setTimeout as pause } from "node:timers/promises";
import Router from "@koa/router";
import type { Context, Next } from "koa";
import { readBody, UnreadableBody } from "../http/call";
import { requestFaults } from "../http/request-faults";
import type { SimulatorContext } from "../state/context";
import { advance } from "../timeline/advance";
import { apiVersion } from "./managed-objects";
import { callMethod, callOpenMethod, userSession, Views, waitOf } from "./methods";
import { PropertyFilters } from "./property-collector";
import { child, faulted, methodFault, MethodFaultError, readRequest, returned, type SoapRequest, textOf } from "./soap";

const cookieName = "vmware_soap_session";
/** Between two looks for a client that waits for a change, in milliseconds. */
const lookEvery = 50;

/** The name of the method that a request asks for, as faults that meet calls may name it. */
interface Asked {
  request?: SoapRequest;
  unreadable?: MethodFaultError;
}

async function readText(ctx: Context): Promise<string> {
  try {
    return (await readBody(ctx)).toString("utf8");
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    throw methodFault("InvalidRequest", error.message);
  }
}

function write(ctx: Context, status: number, body: string): void {
  ctx.status = status;
  ctx.type = "text/xml; charset=utf-8";
  ctx.body = body;
}

/** Reads the request first, so that faults that meet calls can tell one method from another. */
async function readAsked(ctx: Context, next: Next): Promise<void> {
  const asked: Asked = {};
  try {
    asked.request = readRequest(await readText(ctx));
  } catch (error) {
    if (!(error instanceof MethodFaultError)) throw error;
    asked.unreadable = error;
  }
  ctx.state["asked"] = asked;
  await next();
}

const askedOf = (ctx: Context) => ctx.state["asked"] as Asked;
const addressOf = (ctx: Context) => `${ctx.originalUrl}/${askedOf(ctx).request?.method ?? ""}`;

/**
 * The management interface under `/sdk`: SOAP, one method per request. It shows all clusters and changes those that
 * are managed by baselines.
 */
export function vim25Api(context: SimulatorContext): Router {
  const router = new Router();
  const views = new Views();
  const filters = new PropertyFilters();

  /** Login with any user name and password, unless a LOGIN_REFUSED fault says otherwise. */
  function login({ parameters }: SoapRequest, ctx: Context): string {
    const user = textOf(child(parameters, "userName"));
    const password = textOf(child(parameters, "password"));
    const refused = context.findFault(["LOGIN_REFUSED"]);
    if (refused) context.useFault(refused);
    if (refused || !user || !password)
      throw methodFault("InvalidLogin", "Cannot complete login due to an incorrect user name or password.");
    const token = context.sessions.login(user, context.now());
    ctx.append("Set-Cookie", `${cookieName}="${token}"; Path=/; HttpOnly`);
    return returned("Login", userSession(user, context.now()));
  }

  async function answer({ request, unreadable }: Asked, ctx: Context): Promise<string> {
    if (!request) throw unreadable ?? methodFault("InvalidRequest", "There is no request.");
    advance(context);
    const open = callOpenMethod(request);
    if (open) return returned(request.method, open);
    if (request.method === "Login") return login(request, ctx);
    const token = ctx.cookies.get(cookieName)?.replace(/^"|"$/g, "");
    const until = Date.now() + waitOf(request);
    for (;;) {
      const session = token === undefined ? undefined : context.sessions.use(token, context.now());
      if (token === undefined || !session) throw methodFault("NotAuthenticated", "The session is not authenticated.");
      const answered = callMethod({ ...request, context, user: session.user, token, views, filters });
      if (answered !== undefined || Date.now() >= until || ctx.req.socket.destroyed)
        return returned(request.method, answered);
      await pause(lookEvery);
      advance(context);
    }
  }

  router.post(
    "/sdk",
    readAsked,
    requestFaults(context, (ctx) => write(ctx, 503, "The service is not available."), addressOf),
    async (ctx) => {
      let status = 200;
      let body: string;
      try {
        body = await answer(askedOf(ctx), ctx);
      } catch (error) {
        if (!(error instanceof MethodFaultError)) throw error;
        status = 500;
        body = faulted(error.fault);
      }
      await context.saved();
      write(ctx, status, body);
    },
  );

  // How clients find out which version of the interface they can speak.
  router.get("/sdk/vimServiceVersions.xml", (ctx) => {
    const version = `<namespace><name>urn:vim25</name><version>${apiVersion}</version></namespace>`;
    write(ctx, 200, `<?xml version="1.0" encoding="UTF-8"?>\n<namespaces version="1.0">${version}</namespaces>`);
  });
  return router;
}
