import { STATUS_CODES } from "node:http";
import type * as t from "io-ts";
import { type AuthenticationMode, unauthorized } from "../../authentication/authentication";
import { ErrorBody } from "../../domain/errors";
import { endedRefusal } from "../../domain/requests/published-upgrade";
import { conflict, notFound, temporalUnreachable, unexpected } from "../../upgrades/service-error";
import type { ApiError } from "../api-error";
import { errorResponse } from "../error-response";
import { notFromThisMachine } from "../middleware/security";
import type { ParametersByName } from "../parameters";
import type { Route, Tag, UndocumentedTag } from "../route";
import { componentName, componentSchemas } from "./components";
import { errorExample, upgradeExample } from "./examples";
import { type JsonSchema, jsonSchemaOf } from "./json-schema";

const requestIdHeader = {
  "x-request-id": {
    description: "Identifies the request in the service's log; the referenceToken of an error.",
    schema: { type: "string" },
  },
};

const helpHeader = {
  Link: {
    description: 'Where the service explains the error code: `</docs/error-codes#CODE>; rel="help"`.',
    schema: { type: "string" },
  },
};

const retryAfterHeader = {
  "Retry-After": {
    description:
      "Seconds after which to send the request again. OVERLOADED (503) and RATE_LIMITED (429) refuse it before anything is done.",
    schema: { type: "string" },
  },
};

const entityTag = {
  ETag: {
    description: "Entity tag of the answer; send it as If-None-Match to get an answer only if something changed.",
    schema: { type: "string" },
  },
};

const notModified = {
  description: "Unchanged since the answer that If-None-Match names.",
  headers: { ...requestIdHeader, ...entityTag },
};

/** The OpenAPI 3.1 document of the routes, made of the codecs that serve them. */
export function openapiDocument(routes: readonly Route[], version: string, mode: AuthenticationMode): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const documented = routes.filter((route) => route.documented !== false);
  for (const route of documented) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route, mode);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Upgrade management service",
      version,
      description: "Starts, schedules and follows software upgrades of infrastructure resources.",
    },
    servers: [{ url: "/" }],
    tags: Object.entries(tags)
      .filter(([name]) => documented.some(({ tag }) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: componentSchemas(),
      securitySchemes: { authorization: securitySchemes[mode] },
    },
  };
}

/** What the operations of each tag are about. */
const tags: Readonly<Record<Exclude<Tag, UndocumentedTag>, string>> = {
  upgrades: "Start, read and control upgrades.",
  tasks: "Tasks: the work of upgrades, its progress, retry and cancellation.",
  freeze: "The emergency stop: nothing new starts.",
  readiness: "Readiness checks: prechecks without an upgrade, once or by a schedule.",
  holds: "Holds: clusters of which nothing new starts, and hosts that upgrades leave out.",
  bundles: "What can be upgraded to.",
  clusters: "What can be upgraded.",
  inventory: "What else a request can name.",
  tokens: "Access tokens, with `AUTH_MODE=local`.",
  health: "The state of the service itself.",
  documentation: "This document.",
};

const bearer = { type: "http", scheme: "bearer", bearerFormat: "JWT" };

const securitySchemes: Readonly<Record<AuthenticationMode, JsonSchema>> = {
  dev: {
    ...bearer,
    description:
      "AUTH_MODE=dev checks no credentials: on writes any Authorization header that is not blank will do (403 without one), reads need none.",
  },
  local: { ...bearer, description: "The accessToken of POST /v1/tokens." },
  oidc: { ...bearer, description: "A token of the configured issuer." },
};

/**
 * What a route asks of the caller; the list holds the least role. In `dev` credentials are optional: a header is asked
 * for on writes, but none is ever checked, and a document that requires them would promise otherwise.
 */
function security({ access, role }: Route, mode: AuthenticationMode): JsonSchema[] {
  if (mode === "dev") return access === "WRITE" ? [{}, { authorization: [] }] : [];
  return role === "ANYONE" ? [] : [{ authorization: [role] }];
}

/**
 * Beside what a route names: every request can be malformed; where reads need credentials too, they can be refused, and in
 * `dev` whatever comes from another machine is; where an issuer has the keys, it can be unreachable; and whatever is not
 * always served can be throttled or shed.
 */
function failures({ failures, role, access, load }: Route, mode: AuthenticationMode): number[] {
  const refused = mode === "dev" || role !== "ANYONE" ? [403] : [];
  const unknown = mode !== "oidc" || role === "ANYONE" ? [] : [access === "WRITE" ? 424 : 500];
  const shed = load === "NONE" ? [] : [429, 503];
  return [...new Set([400, ...failures, ...refused, ...unknown, ...shed])].sort((a, b) => a - b);
}

function operation(route: Route, mode: AuthenticationMode): JsonSchema {
  const { request, success } = route;
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    security: security(route, mode),
    parameters: [
      ...parameters("path", request.path),
      ...parameters("query", request.query),
      ...parameters("header", request.headers),
    ],
    ...(request.body && {
      requestBody: {
        required: request.bodyMayBeAbsent !== true,
        content: content("application/json", request.body, route.bodyExample),
      },
    }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: { ...requestIdHeader, ...answerHeaders(success.headers), ...(success.isConditional && entityTag) },
        ...(success.contentType !== undefined && {
          content: content(success.contentType, success.codec, route.successExample),
        }),
        ...(route.links && { links: links(route.links) }),
      },
      ...(success.isConditional && { 304: notModified }),
      ...Object.fromEntries(failures(route, mode).map((status) => [status, errorAnswer(status, route, mode)])),
    },
  };
}

function parameters(place: "path" | "query" | "header", byName: ParametersByName): JsonSchema[] {
  return Object.entries(byName).map(([name, { codec, description }]) => ({
    name,
    description,
    in: place,
    required: place === "path",
    // An empty one is an absent one (docs/spec-gaps.md).
    ...(place === "query" && { allowEmptyValue: true }),
    schema: jsonSchemaOf(codec, componentName),
  }));
}

/** Without a type: OpenAPI 3.1 leaves open whether a stream is one text or its events, and tools read it either way. */
const events = { description: "Server-sent events; the description of the operation lists them." };

function content(contentType: string, codec: t.Mixed | undefined, example: unknown): JsonSchema {
  const withoutCodec = contentType === "text/event-stream" ? events : { type: "string" };
  const schema = codec ? jsonSchemaOf(codec, componentName) : withoutCodec;
  return { [contentType]: { schema, ...(example !== undefined && { examples: { typical: { value: example } } }) } };
}

function answerHeaders(headers: Route["success"]["headers"]): JsonSchema {
  const described = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: "string" } },
  ]);
  return Object.fromEntries(described) as JsonSchema;
}

function links(targets: NonNullable<Route["links"]>): JsonSchema {
  const entries = Object.entries(targets).map(([operationId, values]) => [
    operationId,
    { operationId, parameters: values },
  ]);
  return Object.fromEntries(entries) as JsonSchema;
}

/** Statuses that may come with a Retry-After. */
const mayPass: ReadonlySet<number> = new Set([424, 429, 503]);

function errorAnswer(status: number, route: Route, mode: AuthenticationMode): JsonSchema {
  return {
    description: STATUS_CODES[status] ?? "Error",
    headers: { ...requestIdHeader, ...helpHeader, ...(mayPass.has(status) && retryAfterHeader) },
    content: content("application/json", ErrorBody, errorExampleOf(status, route, mode)),
  };
}

const requestId = "0b7f7c5e-3f0e-4a0c-8a64-0d0c6f9d8a12";

const resources = {
  upgrades: "upgrade",
  tasks: "task",
  bundles: "bundle",
  clusters: "cluster",
  readiness: "schedule",
} as const;

const unreachable = temporalUnreachable(new Error("no connection"));

/** What a route can fail with, for each status that one error is typical of. */
function typicalError(status: number, { tag, access, load }: Route, mode: AuthenticationMode): ApiError | undefined {
  const { id } = upgradeExample;
  switch (status) {
    case 403:
      if (mode === "dev" && access !== "WRITE") return notFromThisMachine({ header: "host", value: "ums.example.com" });
      return unauthorized("The credentials are missing or not accepted.", "Send valid credentials.");
    case 404:
      return notFound(Object.entries(resources).find(([name]) => name === tag)?.[1] ?? "upgrade", id);
    case 409:
      return conflict(endedRefusal("commit", { id, status: "CANCELLED" }));
    case 424:
      return access === "WRITE" ? unreachable : undefined;
    case 429:
      return load === "NONE" ? undefined : { _tag: "RateLimited", load, perMinute: 60, retryAfterSeconds: 12 };
    case 500:
      return unexpected(undefined);
    case 503:
      return load === "NONE"
        ? { _tag: "NotReady", reason: unreachable }
        : { _tag: "Overloaded", load, retryAfterSeconds: 2 };
    default:
      return undefined;
  }
}

/** An Error that a route answers with a status, made by the table that makes the answers (api/error-response.ts). */
function errorExampleOf(status: number, route: Route, mode: AuthenticationMode): ErrorBody | undefined {
  if (status === 400) return errorExample;
  const error = typicalError(status, route, mode);
  return error && errorResponse(error, { requestId, access: route.access }).body;
}
