import * as E from "fp-ts/Either";
import type { ApiMiddleware } from "../api-context";
import { networkOf } from "../client-address";
import type { LoadControl } from "../load/load-control";
import type { RequestLoad } from "../load/request-load";
import { turnOf } from "../load/turn";
import { respondWithError } from "../respond";

/**
 * Refuses a request, before its body is read, where the service has enough of its kind or of its caller. `namesCallers`
 * is false where callers can be told apart by their addresses only.
 */
export function admit(control: LoadControl | undefined, load: RequestLoad, namesCallers: boolean): ApiMiddleware {
  if (!control || load === "NONE") return (_ctx, next) => next();
  return async (ctx, next) => {
    const { caller, address } = ctx.state;
    const outcome = control.enter(load, namesCallers && caller !== undefined ? caller : networkOf(address));
    if (E.isLeft(outcome)) return respondWithError(ctx, outcome.left);
    const pass = outcome.right;
    ctx.state.turn = turnOf(pass, () => control.waited(load), control.afterwards(load));
    // Until its answer has been taken, or nobody is there to take it.
    if (ctx.res.destroyed) pass.leave();
    else ctx.res.once("close", () => pass.leave());
    await next();
    // Streams have a limit of their own.
    if (ctx.state.streams) pass.leave();
  };
}
