import { endedRefusal } from "../../domain/ended-upgrade";
import type { ErrorBody } from "../../domain/error-body";
import { conflict, notFound, temporalUnreachable, unexpected } from "../../upgrades/service-error";
import type { ApiError } from "../api-error";
import { unauthorized } from "../authentication";
import { errorResponse } from "../error-response";
import type { Route } from "../route";
import { errorExample, upgradeExample } from "./examples";

const requestId = "0b7f7c5e-3f0e-4a0c-8a64-0d0c6f9d8a12";

const resources = { upgrades: "upgrade", tasks: "task", bundles: "bundle", clusters: "cluster" } as const;

const unreachable = temporalUnreachable(new Error("no connection"));

/** What a route can fail with, for each status that one error is typical of. */
function typicalError(status: number, { tag, access, load }: Route): ApiError | undefined {
  const { id } = upgradeExample;
  switch (status) {
    case 403:
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
export function errorExampleOf(status: number, route: Route): ErrorBody | undefined {
  if (status === 400) return errorExample;
  const error = typicalError(status, route);
  return error && errorResponse(error, { requestId, access: route.access }).body;
}
