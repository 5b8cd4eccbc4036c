import Router from "@koa/router";
import * as E from "fp-ts/Either";
import type * as t from "io-ts";
import type { Context, Next } from "koa";
import { decodeStrictly } from "../config/decode-strictly";
import { send, UnreadableBody } from "../http/answering";
import { requestFaults } from "../http/request-faults";
import type { SimulatorContext } from "../state/context";
import { invalidArgument, VapiError } from "./vapi-error";

const refusals = {
  SERVICE_UNAVAILABLE: new VapiError("SERVICE_UNAVAILABLE", "service.unavailable", "The service is not available."),
  TIMED_OUT: new VapiError("TIMED_OUT", "operation.timed_out", "The operation did not end in time."),
};

/** Turns what a handler threw into the vAPI's error body; an error of our own stays one and ends as a 500. */
async function vapiErrors(ctx: Context, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    const known = error instanceof UnreadableBody ? invalidArgument([error.message]) : error;
    if (!(known instanceof VapiError)) throw error;
    send(ctx, known.answer);
  }
}

/** A router with what all calls of the vAPI have in common: faults that meet any call, and the error bodies. */
export function vapiRouter(context: SimulatorContext, prefix = "/api"): Router {
  const router = new Router({ prefix });
  router.use(requestFaults(context, (ctx, why) => send(ctx, refusals[why].answer)));
  router.use(async (ctx, next) => {
    await vapiErrors(ctx, next);
    await context.saved();
  });
  return router;
}

/** A request body by its codec, or a 400 that names every wrong or unknown field. */
export function decodeBody<A>(codec: t.Decoder<unknown, A>, body: unknown): A {
  const decoded = decodeStrictly(codec, body);
  if (E.isLeft(decoded)) throw invalidArgument(decoded.left);
  return decoded.right;
}
