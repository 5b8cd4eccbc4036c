import type { Context, Next } from "koa";
import type { World } from "../state/world";
import { advanceVcsa, availability } from "../vcsa/advance-vcsa";
import { VapiError } from "../vlcm/vapi-error";
import { send } from "./answering";

/** While the management server restarts, nothing under `/api` answers, whoever it belongs to. */
export function vcsaAvailability(world: World) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (!ctx.path.startsWith("/api/")) return next();
    advanceVcsa(world);
    const now = availability(world);
    if (now === "UP") return next();
    if (now === "UNAVAILABLE") {
      send(ctx, new VapiError("SERVICE_UNAVAILABLE", "service.starting", "Services are stopping or starting.").answer);
      return;
    }
    ctx.respond = false;
    ctx.req.socket.destroy();
  };
}
