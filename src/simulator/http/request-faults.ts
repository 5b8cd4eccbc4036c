import type { Context, Next } from "koa";
import { setTimeout as delay } from "node:timers/promises";
import { isActive, type Fault, type FaultKind } from "../state/fault";
import type { World } from "../state/world";

function findMatching(world: World, kind: FaultKind, ctx: Context): Fault | undefined {
  return world.state.global.faults.find(
    (fault) =>
      fault.kind === kind &&
      isActive(fault, world.now()) &&
      (fault.method === undefined || fault.method === ctx.method) &&
      (fault.path === undefined || ctx.originalUrl.includes(fault.path)),
  );
}

/**
 * The faults that meet a call whatever it asks for: latency, 503 for a while, and a dropped connection or a 504 before
 * or after the work was done. `refuse` answers 503, or 504 to what timed out, in the manner of the API.
 */
export function requestFaults(world: World, refuse: (ctx: Context, why: "SERVICE_UNAVAILABLE" | "TIMED_OUT") => void) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const slow = findMatching(world, "SLOW", ctx);
    if (slow) {
      world.useFault(slow);
      await delay(slow.milliseconds ?? 1000, undefined, { ref: false });
    }

    const unavailable = findMatching(world, "SERVICE_UNAVAILABLE", ctx);
    if (unavailable) {
      world.useFault(unavailable);
      await world.saved();
      return refuse(ctx, "SERVICE_UNAVAILABLE");
    }

    const timedOut = findMatching(world, "CALL_TIMED_OUT", ctx);
    if (timedOut) {
      world.useFault(timedOut);
      if (timedOut.after) await next();
      await world.saved();
      return refuse(ctx, "TIMED_OUT");
    }

    const dropped = findMatching(world, "CONNECTION_DROPPED", ctx);
    if (!dropped) return next();
    world.useFault(dropped);
    if (dropped.after) await next();
    await world.saved();
    ctx.respond = false;
    ctx.req.socket.destroy();
  };
}
