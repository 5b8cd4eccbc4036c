import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import type * as t from "io-ts";
import type { RequiredRole, Role } from "../authentication/authentication";
import { type ServiceError, unexpected } from "../upgrades/service-error";
import type { ApiContext } from "./api-context";
import type { Access, ApiError } from "./api-error";
import { type DecodedRequest, decodeRequest, type RawRequest, type RequestCodecs } from "./decode-request";
import type { RouteLoad, WithPermit } from "./load-control";
import type { ParametersByName } from "./parameters";
import type { ApiLimits } from "./request-body";
import { respond, type Success } from "./response";

/** What a route is about; the document describes each (openapi/openapi-document.ts), except those that it does not have. */
export type Tag =
  | "upgrades"
  | "tasks"
  | "freeze"
  | "holds"
  | "readiness"
  | "bundles"
  | "clusters"
  | "inventory"
  | "tokens"
  | "health"
  | "documentation"
  | UndocumentedTag;
export type UndocumentedTag = "codec" | "console";

/** What a route says of itself, for the router and for the OpenAPI document. */
export interface RouteDescription {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces: `/v1/upgrades/{id}`. */
  readonly path: string;
  readonly access: Access;
  /** The least role that may use the route; every route must name one. */
  readonly role: RequiredRole;
  /** What a request loads; every route must name it. */
  readonly load: RouteLoad;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  /** Statuses other than that of success; each answers the specification's Error. */
  readonly failures: readonly number[];
  /** False for what only a documented page needs, and for protocols that are described elsewhere. */
  readonly documented?: false;
  readonly bodyExample?: unknown;
  readonly successExample?: unknown;
  /** Operations that take a value of the answer: operationId to the runtime expression of each parameter. */
  readonly links?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface RouteDefinition<
  P extends ParametersByName,
  Q extends ParametersByName,
  H extends ParametersByName,
  B,
  A,
> extends RouteDescription {
  readonly request: RequestCodecs<P, Q, H, B>;
  readonly success: Success<A>;
  /** The longest body in bytes, where it may be longer than usual. */
  readonly bodyBytes?: number;
  /** The error of path parameters that do not decode, and so can name nothing; for paths that have any. */
  readonly unknownPath?: (path: RawRequest["path"]) => ServiceError;
  readonly handle: (request: DecodedRequest<P, Q, H, B> & Sender) => TE.TaskEither<ApiError, A>;
}

/** Who sends a request. */
interface Sender {
  /** The name that authentication gave. */
  readonly caller: string;
  /** Undefined where the credentials name none, and where the route asks for none. */
  readonly role: Role | undefined;
  /** The network address that the request comes from. */
  readonly address: string;
  /** For how many milliseconds the credentials are good; undefined: without an end. */
  readonly credentialMilliseconds: number | undefined;
}

/** One route: its description with the codecs, and the function that serves it by the very same codecs. */
export interface Route extends RouteDescription {
  readonly request: {
    readonly path: ParametersByName;
    readonly query: ParametersByName;
    readonly headers: ParametersByName;
    readonly body?: t.Mixed;
    readonly bodyMayBeAbsent?: true;
  };
  readonly success: {
    readonly status: number;
    readonly description: string;
    /** Undefined of an answer without content. */
    readonly contentType: string | undefined;
    readonly codec?: t.Mixed;
    /** Descriptions by header name. */
    readonly headers: Readonly<Record<string, string>>;
    /** Whether it has an entity tag, and 304 is an answer too. */
    readonly isConditional: boolean;
  };
  serve(ctx: ApiContext, raw: RawRequest, limits: ApiLimits, withPermit: WithPermit): Promise<void>;
}

/** The parts of a request to a route that takes none. */
export const noParameters = { path: {}, query: {}, headers: {} } as const;

/** What every request to an upgrade or its Task can be answered with; 424 also where it is recorded and no worker runs. */
export const commandFailures = [400, 403, 404, 409, 424, 500];

/** Makes a route of its definition. */
export function route<P extends ParametersByName, Q extends ParametersByName, H extends ParametersByName, B, A>(
  definition: RouteDefinition<P, Q, H, B, A>,
): Route {
  const { request, success, handle, unknownPath, bodyBytes, ...description } = definition;
  const { status, representation, headers = {} } = success;
  const answerTo = (
    ctx: ApiContext,
    raw: RawRequest,
    limits: ApiLimits,
    withPermit: WithPermit,
  ): TE.TaskEither<ApiError, A> =>
    pipe(
      decodeRequest(request, raw, unknownPath ?? neverUnknown, {
        ...limits.body,
        ...(bodyBytes !== undefined && { bytes: bodyBytes }),
      }),
      TE.chainW((decoded) =>
        withPermit(withDeadline(handle({ ...decoded, ...senderOf(ctx) }), limits.answerMilliseconds)),
      ),
    );
  return {
    ...description,
    request: { path: request.path, query: request.query, headers: request.headers, ...pickBody(request) },
    success: {
      status,
      description: success.description,
      contentType: representation.contentType,
      ...(representation.codec && { codec: representation.codec }),
      headers: Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, header.description])),
      isConditional: success.isConditional ?? false,
    },
    serve: (ctx, raw, limits, withPermit) => respond(ctx, success, answerTo(ctx, raw, limits, withPermit)),
  };
}

const senderOf = (ctx: ApiContext): Sender => ({
  caller: ctx.state.caller ?? "anonymous",
  role: ctx.state.role,
  address: ctx.state.address,
  credentialMilliseconds: ctx.state.credentialMilliseconds,
});

const pickBody = ({ body, bodyMayBeAbsent }: { body?: t.Mixed; bodyMayBeAbsent?: true }) =>
  body ? { body, ...(bodyMayBeAbsent && { bodyMayBeAbsent }) } : {};

const neverUnknown = (): ServiceError => unexpected(new Error("A path without parameters failed to decode"));

/** Gives up waiting after a time, so that no client waits for ever; what was started goes on. */
function withDeadline<A>(work: TE.TaskEither<ApiError, A>, milliseconds: number): TE.TaskEither<ApiError, A> {
  return () =>
    new Promise((resolve, reject) => {
      const expired = unexpected(new Error(`The use case gave no answer within ${milliseconds} ms`));
      const timer = setTimeout(() => resolve(E.left(expired)), milliseconds);
      work()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
}
