import type { Context, Next } from "koa";
import type { SimulatorContext } from "../state/context";
import { advanceVcsa, availability, lifecycleAbsence, upgradeServiceAvailability } from "../vcsa/advance-vcsa";
import { pathNotFound, VapiError } from "../vlcm/vapi-error";
import { send } from "./answering";

const starting = new VapiError("SERVICE_UNAVAILABLE", "service.starting", "Services are stopping or starting.");

/**
 * While the management server restarts, nothing under `/api` and `/sdk` answers, whoever it belongs to; afterwards the
 * lifecycle service may be the last to come up. The upgrade service, under `/lcm/api`, goes on during a switchover but for
 * the moment in which the machines change places.
 */
export function vcsaAvailability(context: SimulatorContext) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const isManagement = ctx.path === "/sdk";
    const isUpgradeService = ctx.path.startsWith("/lcm/api/");
    if (!isManagement && !isUpgradeService && !ctx.path.startsWith("/api/")) return next();
    advanceVcsa(context);
    const now = isUpgradeService ? upgradeServiceAvailability(context) : availability(context);
    if (now === "OFF") {
      ctx.respond = false;
      ctx.req.socket.destroy();
      return;
    }
    if (now === "UNAVAILABLE" && isManagement) {
      ctx.status = 503;
      ctx.body = "no healthy upstream";
      return;
    }
    if (now === "UNAVAILABLE") return send(ctx, starting.answer);
    const absence = ctx.path.startsWith("/api/esx/") ? lifecycleAbsence(context) : undefined;
    if (absence === undefined) return next();
    send(ctx, (absence === 503 ? starting : pathNotFound).answer);
  };
}
