import type { Context } from "koa";
import type { SimulatorContext } from "../state/context";
import { advance } from "../timeline/advance";
import { type Answer, type Call, readBody, UnreadableBody } from "./call";

export { UnreadableBody } from "./call";
export type { Answer, Call } from "./call";

async function readJson(ctx: Context): Promise<unknown> {
  const body = await readBody(ctx);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new UnreadableBody("the body is no JSON");
  }
}

/** The one place that writes an answer. */
export function send(ctx: Context, { status, body }: Answer): void {
  ctx.status = status;
  if (body === undefined) {
    ctx.body = null;
    // Koa makes 204 of a null body unless the status is set again.
    ctx.status = status;
    return;
  }
  ctx.body = JSON.stringify(body);
  ctx.type = "application/json";
}

/**
 * Makes a Koa middleware of a handler: brings the state up to now, answers, and lets no answer out before what it
 * reports is saved.
 */
export function answering(context: SimulatorContext, handler: (call: Call) => Answer | Promise<Answer>) {
  return async (ctx: Context & { params?: Record<string, string> }): Promise<void> => {
    const body = await readJson(ctx);
    advance(context);
    const answer = await handler({
      params: ctx.params ?? {},
      query: new URLSearchParams(ctx.querystring),
      headers: ctx.headers,
      body,
    });
    await context.saved();
    send(ctx, answer);
  };
}
