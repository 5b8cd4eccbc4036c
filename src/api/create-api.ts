import { setImmediate } from "node:timers/promises";
import Router from "@koa/router";
import Koa from "koa";
import type { Logger } from "pino";
import type { Authentication } from "../authentication/authentication";
import { clientAddress, type ClientAddress, networkOf } from "../authentication/client-address";
import type { UpgradeService } from "../upgrades/upgrade-service";
import type { ApiContext, ApiMiddleware, ApiState } from "./api-context";
import type { RawRequest } from "./decode-request";
import type { LoadControl, WithPermit } from "./load-control";
import { authenticate } from "./middleware/authenticate";
import { errorBoundary, lastResort, unrouted } from "./middleware/errors";
import { audit, requestLog } from "./middleware/request-log";
import { addSecurityHeaders, allowCodecOrigins, loopbackOnly } from "./middleware/security";
import { requireWellFormedRequest } from "./middleware/well-formed-request";
import { UpgradeId } from "./parameters";
import { type ApiLimits, defaultLimits } from "./request-body";
import { respondWithError } from "./response";
import type { Route } from "./route";
import { codecRoutes, type PayloadTranslator } from "./routes/codec";
import { type ConsoleInstallation, consoleRoutes } from "./routes/console";
import { apiReferenceRoutes } from "./routes/api-reference";
import { documentsRoutes } from "./routes/documents";
import { freezeRoutes } from "./routes/freeze";
import { holdRoutes } from "./routes/holds";
import { healthRoutes, metricsRoutes, type MetricsSource } from "./routes/health";
import { bundlesRoutes, clustersRoutes, installationsRoutes } from "./routes/installations";
import { taskEventsRoutes } from "./routes/task-events";
import { readinessRoutes } from "./routes/readiness";
import { tasksRoutes } from "./routes/tasks";
import { tokensRoutes } from "./routes/tokens";
import { upgradePrechecksRoutes } from "./routes/upgrade-prechecks";
import { upgradeRequestsRoutes } from "./routes/upgrade-requests";
import { upgradesRoutes } from "./routes/upgrades";

export interface ApiDependencies {
  readonly service: UpgradeService;
  readonly authentication: Authentication;
  readonly log: Logger;
  /** Version of the service, for the OpenAPI document. */
  readonly version: string;
  readonly limits?: ApiLimits;
  /** How much is let in; anything by default. */
  readonly loadControl?: LoadControl;
  /** The operators' page; without it there is none. */
  readonly console?: ConsoleInstallation;
  /** Absolute path of the folder of rendered documents; without it there are none. */
  readonly documents?: string;
  /** From where requests come; by default from the other end of the connection. */
  readonly addressOf?: ClientAddress;
  /** Shows payloads to Temporal's Web UI, of these origins, and CLI; absent where they are not encrypted. */
  readonly codec?: { readonly translator: PayloadTranslator; readonly origins: readonly string[] };
  /** What `GET /metrics` answers; nothing by default. */
  readonly metrics?: MetricsSource;
  /** Whoever watches the requests, from the outside in. */
  readonly observers?: readonly ApiMiddleware[];
}

/** Every route of the API, with the document that describes them. */
export function allRoutes(
  service: UpgradeService,
  version: string,
  { mode, tokens }: Authentication,
  console?: ConsoleInstallation,
  metrics: MetricsSource = noMetrics,
): Route[] {
  const described = [
    ...upgradesRoutes(service),
    ...upgradeRequestsRoutes(service),
    ...upgradePrechecksRoutes(service),
    ...tasksRoutes(service),
    ...taskEventsRoutes(service),
    ...freezeRoutes(service),
    ...holdRoutes(service),
    ...readinessRoutes(service),
    ...bundlesRoutes(service),
    ...clustersRoutes(service),
    ...installationsRoutes(service),
    ...tokensRoutes(tokens),
    ...healthRoutes(service),
    ...metricsRoutes(metrics),
  ];
  return [
    ...described,
    ...apiReferenceRoutes(described, version, mode),
    ...(console ? consoleRoutes(console, mode) : []),
  ];
}

const noMetrics: MetricsSource = { contentType: "text/plain; charset=utf-8", read: () => Promise.resolve("") };

/** The HTTP interface of the service (Spec 4) as a Koa application; `startApi` makes it listen. */
export function createApi({
  service,
  authentication,
  log,
  version,
  limits = defaultLimits,
  loadControl,
  console,
  documents,
  codec,
  addressOf = clientAddress([]),
  metrics,
  observers = [],
}: ApiDependencies): Koa<ApiState> {
  const app = new Koa<ApiState>();
  const router = new Router<ApiState>({ sensitive: true });
  const routes = [
    ...allRoutes(service, version, authentication, console, metrics),
    ...(documents === undefined ? [] : documentsRoutes(documents)),
    ...(codec ? codecRoutes(codec.translator) : []),
  ];
  for (const route of routes) {
    router.register(
      pathPattern(route.path),
      [route.method],
      [
        (ctx, next) => {
          ctx.state.route = route.path;
          Object.assign(ctx.state, taskNamed(route, ctx.params));
          return next();
        },
        authenticate(authentication, route),
        async (ctx) => {
          const raw = { message: ctx.req, path: ctx.params, search: new URLSearchParams(ctx.querystring) };
          const serve = (withPermit: WithPermit) => route.serve(ctx, raw, limits, withPermit);
          if (!loadControl) return serve((work) => work);
          const caller = callerOf(ctx, authentication);
          const shed = await loadControl.admit({ load: route.load, caller, isGone: () => ctx.res.destroyed }, serve);
          if (!shed) return;
          // A body that came with its headers has arrived then, so the connection is kept: a new one for each attempt
          // would cost more than the attempt.
          await setImmediate();
          respondWithError(ctx, shed);
        },
      ],
    );
  }
  const methodsOf = (path: string) => {
    const matching = router.match(path, "GET").path;
    // `/v1/upgrades/preview` names no upgrade, whatever the method.
    const literal = matching.filter((layer) => layer.paramNames.length === 0);
    return [...new Set((literal.length > 0 ? literal : matching).flatMap(({ methods }) => methods))];
  };
  for (const observer of observers) app.use(observer);
  app.use(requestLog(log));
  app.use(audit(log, addressOf));
  app.use(addSecurityHeaders(console?.signIn?.issuer));
  if (codec) app.use(allowCodecOrigins(codec.origins));
  app.use(errorBoundary);
  app.use(requireWellFormedRequest);
  if (authentication.mode === "dev") app.use(loopbackOnly(codec?.origins ?? []));
  app.use(unrouted(methodsOf));
  app.use(router.routes());
  app.context.onerror = lastResort(log);
  return app;
}

/** Whose rate a request counts for: a name, or the network that it comes from where authentication names nobody. */
function callerOf({ state: { caller, address } }: ApiContext, { mode }: Authentication): string {
  return mode !== "dev" && caller !== undefined ? caller : networkOf(address);
}

/** The Task that a path names, for the log and for traces of whatever is answered. */
function taskNamed({ path }: Route, { id }: RawRequest["path"]): Pick<ApiState, "taskId"> {
  return /^\/v1\/(upgrades|tasks)\/\{id\}/.test(path) && UpgradeId.is(id) ? { taskId: id } : {};
}

/** A path of the route table as the router writes it: `/v1/upgrades/{id}` is `/v1/upgrades/:id`. */
function pathPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
