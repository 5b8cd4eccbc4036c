import { type Logger, pino } from "pino";
import type { Config } from "../config";
import { logContext } from "../observability/log-context";
import { oneLine, StartupError } from "../startup-error";
import type { Ready, RoleMessage, RoleName } from "./messages";

/** A role that runs. */
export interface RunningRole extends Omit<Ready, "type"> {
  /** Ends it in good order: what is in work is finished or handed back. */
  stop(): Promise<void>;
  /** Settles, with the reason, when it can no longer do its work; absent where that cannot happen. */
  readonly failed?: Promise<string>;
}

/** Starts a role, or throws; a {@link StartupError} is shown as it is. */
export type StartRole = (config: Config, log: Logger, args: readonly string[]) => Promise<RunningRole>;

/** Longest orderly stop of each role, in milliseconds. Their sum stays under the 15 s that a stop of all may take. */
export const stopMilliseconds: Readonly<Record<RoleName, number>> = {
  api: 3_000,
  worker: 5_000,
  simulator: 1_500,
  temporal: 4_000,
};

/**
 * Runs one role in this process until a signal, the end of its supervisor, or a failure of its own. Resolves to the
 * exit code: 0 after an orderly stop. Logs JSON lines to stdout, each with the field `role`.
 */
export async function runRole(
  name: RoleName,
  start: StartRole,
  config: Config,
  args: readonly string[],
): Promise<number> {
  const log = pino({ level: config.logLevel, base: { role: name }, mixin: logContext }, stdout());
  const asked = stopRequest();
  try {
    const running = await Promise.race([start(config, log, args), asked]);
    if (typeof running === "string") return 0;
    tell({
      type: "ready",
      ...(running.url !== undefined && { url: running.url }),
      ...(running.processes && { processes: running.processes }),
    });
    log.info({ url: running.url }, "ready");
    const broken = running.failed?.then((reason) => Promise.reject(new StartupError(reason)));
    const reason = await Promise.race([asked, ...(broken ? [broken] : [])]);
    log.info({ reason }, "stopping");
    await within(stopMilliseconds[name], running.stop());
    log.info("stopped");
    return 0;
  } catch (thrown) {
    const message = oneLine(thrown);
    log.fatal(thrown instanceof StartupError ? {} : { err: thrown }, message);
    tell({ type: "failed", message });
    return 1;
  }
}

/**
 * A supervisor that was killed takes the reading end of the pipe with it, and the role must still stop in good order.
 * pino's own destination would try for ever to write there what it has left at the exit.
 */
function stdout(): { write(line: string): void } {
  process.stdout.on("error", () => undefined);
  return { write: (line) => void process.stdout.write(line) };
}

function tell(message: RoleMessage): void {
  if (process.connected) process.send?.(message);
}

/** Resolves to why this process is to stop: a signal, or the end of the supervisor that started it. */
function stopRequest(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => resolve(signal));
    if (process.channel) process.on("disconnect", () => resolve("the supervisor has ended"));
  });
}

async function within(milliseconds: number, stop: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not stopped within ${milliseconds} ms`)), milliseconds);
  });
  await Promise.race([stop, late]).finally(() => clearTimeout(timer));
}
