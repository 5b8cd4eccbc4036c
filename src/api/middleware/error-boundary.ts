import { unexpected } from "../../upgrades/service-error";
import type { ApiMiddleware } from "../api-context";
import { respondWithError } from "../respond";

/** Turns whatever is thrown further in into the specification's Error, so that Koa never answers by itself. */
export const errorBoundary: ApiMiddleware = async (ctx, next) => {
  try {
    await next();
  } catch (cause) {
    respondWithError(ctx, unexpected(cause));
  }
};
