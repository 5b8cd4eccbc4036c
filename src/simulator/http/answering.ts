import type { Context } from "koa";
import { advance } from "../timeline/advance";
import type { World } from "../state/world";
import type { Answer, Call } from "./call";

export type { Answer, Call } from "./call";

/** A body that is no JSON, or more than {@link maximumBody} bytes. */
export class UnreadableBody extends Error {
  override readonly name = "UnreadableBody";
}

const maximumBody = 1024 * 1024;

async function readJson(ctx: Context): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of ctx.req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maximumBody) throw new UnreadableBody(`the body has more than ${maximumBody} bytes`);
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
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
 * Makes a Koa middleware of a handler: brings the world up to now, answers, and lets no answer out before what it
 * reports is saved.
 */
export function answering(world: World, handler: (call: Call) => Answer | Promise<Answer>) {
  return async (ctx: Context & { params?: Record<string, string> }): Promise<void> => {
    const body = await readJson(ctx);
    advance(world);
    const answer = await handler({
      params: ctx.params ?? {},
      query: new URLSearchParams(ctx.querystring),
      headers: ctx.headers,
      body,
    });
    await world.saved();
    send(ctx, answer);
  };
}
