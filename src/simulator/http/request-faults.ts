import { setTimeout as delay } from "node:timers/promises";
import type { Context, Next } from "koa";
import type { SimulatorContext } from "../state/context";
import { type Fault, type FaultKind, isActive } from "../state/fault";
import { readBody } from "./call";

function findMatching(context: SimulatorContext, kind: FaultKind, ctx: Context, address: string): Fault | undefined {
  return context.state.global.faults.find(
    (fault) =>
      fault.kind === kind &&
      isActive(fault, context.now()) &&
      (fault.method === undefined || fault.method === ctx.method) &&
      (fault.path === undefined || address.includes(fault.path)),
  );
}

/** Writes what a fault says instead of what the API would answer. */
function writeInstead(ctx: Context, { status = 500, contentType = "text/html", body = "" }: Fault): void {
  ctx.status = status;
  ctx.body = body;
  // Not by Koa's `type`, which drops what it does not know.
  ctx.set("Content-Type", contentType);
}

/**
 * Cuts the connection, or holds it without an answer, and does the work when its caller may be gone. What has not been
 * done when the simulator ends or is reset never is.
 */
async function carryOutLate(context: SimulatorContext, ctx: Context, next: Next, fault: Fault): Promise<void> {
  await readBody(ctx).catch(() => undefined);
  await context.saved();
  ctx.respond = false;
  if (!fault.hold) ctx.req.socket.destroy();
  const work = async () => {
    await delay(fault.milliseconds ?? 1000, undefined, { ref: false, signal: context.ending });
    await next();
  };
  work().catch((error: unknown) => {
    if (!(error instanceof Error && error.name === "AbortError"))
      context.log({ err: error, method: ctx.method, path: ctx.path }, "late simulator call failed");
  });
}

/**
 * The faults that meet a call whatever it asks for: latency, another answer for a while, work that is done when the
 * caller is gone, and a 504 or a dropped connection before or after the work was done. `refuse` answers 503, or 504 to
 * what timed out, in the manner of the API; `addressOf` is what a fault's `path` may be a part of, where the URL alone
 * does not tell calls apart.
 */
export function requestFaults(
  context: SimulatorContext,
  refuse: (ctx: Context, why: "SERVICE_UNAVAILABLE" | "TIMED_OUT") => void,
  addressOf: (ctx: Context) => string = (ctx) => ctx.originalUrl,
) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const matching = (kind: FaultKind) => findMatching(context, kind, ctx, addressOf(ctx));
    /** Counts a fault as used, does the work where it comes `after` it, and saves both. */
    const use = async (fault: Fault) => {
      context.useFault(fault);
      if (fault.after) await next();
      await context.saved();
    };

    const slow = matching("SLOW");
    if (slow) {
      context.useFault(slow);
      await delay(slow.milliseconds ?? 1000, undefined, { ref: false });
    }

    const unavailable = matching("SERVICE_UNAVAILABLE");
    if (unavailable) {
      await use(unavailable);
      return refuse(ctx, "SERVICE_UNAVAILABLE");
    }

    const other = matching("ANSWERS");
    if (other) {
      await use(other);
      return writeInstead(ctx, other);
    }

    const timedOut = matching("CALL_TIMED_OUT");
    if (timedOut) {
      await use(timedOut);
      return refuse(ctx, "TIMED_OUT");
    }

    const late = matching("LATE");
    if (late) {
      context.useFault(late);
      return carryOutLate(context, ctx, next, late);
    }

    const dropped = matching("CONNECTION_DROPPED");
    if (!dropped) return next();
    await use(dropped);
    ctx.respond = false;
    ctx.req.socket.destroy();
  };
}
