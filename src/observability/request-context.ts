import { AsyncLocalStorage } from "node:async_hooks";
import type { ApiMiddleware, ApiState } from "../api/api-context";

const requests = new AsyncLocalStorage<Readonly<Partial<ApiState>>>();

/** Makes the request that is being handled known to all that is called for it ({@link currentRequestId}). */
export const keepRequest: ApiMiddleware = (ctx, next) => requests.run(ctx.state, next);

/** The `x-request-id` of the HTTP request on whose behalf this runs; undefined outside of one. */
export function currentRequestId(): string | undefined {
  return requests.getStore()?.requestId;
}
