import type { Context, Next } from "koa";
import { setTimeout as delay } from "node:timers/promises";
import { isActive, type Fault, type FaultKind } from "../state/fault";
import type { World } from "../state/world";

function findMatching(world: World, kind: FaultKind, ctx: Context, address: string): Fault | undefined {
  return world.state.global.faults.find(
    (fault) =>
      fault.kind === kind &&
      isActive(fault, world.now()) &&
      (fault.method === undefined || fault.method === ctx.method) &&
      (fault.path === undefined || address.includes(fault.path)),
  );
}

/**
 * The faults that meet a call whatever it asks for: latency, 503 for a while, and a 504 or a dropped connection
 * before or after the work was done. `refuse` answers 503, or 504 to what timed out, in the manner of the API; `addressOf` is what a fault's `path` may be
 * a part of, where the URL alone does not tell calls apart.
 */
export function requestFaults(
  world: World,
  refuse: (ctx: Context, why: "SERVICE_UNAVAILABLE" | "TIMED_OUT") => void,
  addressOf: (ctx: Context) => string = (ctx) => ctx.originalUrl,
) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const matching = (kind: FaultKind) => findMatching(world, kind, ctx, addressOf(ctx));
    const slow = matching("SLOW");
    if (slow) {
      world.useFault(slow);
      await delay(slow.milliseconds ?? 1000, undefined, { ref: false });
    }

    const unavailable = matching("SERVICE_UNAVAILABLE");
    if (unavailable) {
      world.useFault(unavailable);
      await world.saved();
      return refuse(ctx, "SERVICE_UNAVAILABLE");
    }

    const timedOut = matching("CALL_TIMED_OUT");
    if (timedOut) {
      world.useFault(timedOut);
      if (timedOut.after) await next();
      await world.saved();
      return refuse(ctx, "TIMED_OUT");
    }

    const dropped = matching("CONNECTION_DROPPED");
    if (!dropped) return next();
    world.useFault(dropped);
    if (dropped.after) await next();
    await world.saved();
    ctx.respond = false;
    ctx.req.socket.destroy();
  };
}
