import type { Config } from "../config";
import type { Tracing } from "../observability/tracing";

/** Tracing of a role, where it is configured; without it not even the packages are loaded. */
export async function loadTracing({ tracing }: Config, role: "api" | "worker"): Promise<Tracing | undefined> {
  if (!tracing) return undefined;
  const { startTracing } = await import("../observability/tracing.js");
  return startTracing(`upgrade-management-${role}`);
}
