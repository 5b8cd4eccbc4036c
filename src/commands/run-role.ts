import { type Logger, pino } from "pino";
import type { Config } from "../config";
import { logContext } from "../observability/context";
import { oneLine, StartupError } from "../startup-error";
import { type Begin, type Ready, type RoleMessage, type RoleName, stopMilliseconds, waitForBegin } from "./messages";

/** A role that runs. */
export interface RunningRole extends Omit<Ready, "type"> {
  /** Ends it in good order: what is in work is finished or handed back. */
  stop(): Promise<void>;
  /** Settles, with the reason, when it can no longer do its work; absent where that cannot happen. */
  readonly failed?: Promise<string>;
}

/** Starts a role, or throws; a {@link StartupError} is shown as it is. */
export type StartRole = (config: Config, log: Logger, args: readonly string[]) => Promise<RunningRole>;

/**
 * Runs one role in this process until a signal, the end of its supervisor, or a failure of its own. Resolves to the
 * exit code: 0 after an orderly stop. Logs JSON lines to stdout, each with the field `role`.
 *
 * @param load what loads the role's program; with {@link waitForBegin} as the last argument it is started when told to
 */
export async function runRole(
  name: RoleName,
  load: () => Promise<StartRole>,
  config: Config,
  args: readonly string[],
): Promise<number> {
  // A supervisor that was killed takes the reading end of the pipe with it, and the role must still stop in good order;
  // pino's own destination would try for ever to write there what it has left at the exit.
  process.stdout.on("error", () => undefined);
  const log = pino({ level: config.logLevel, base: { role: name }, mixin: logContext }, process.stdout);
  const tell = (message: RoleMessage) => {
    if (process.connected) process.send?.(message);
  };
  const waits = args.at(-1) === waitForBegin;
  // Before anything is loaded: what comes meanwhile must not be missed.
  const asked = stopRequest(waits);
  const told = waits ? beginning() : Promise.resolve();
  const started = async () => {
    const start = await load();
    await told;
    return start(config, log, waits ? args.slice(0, -1) : args);
  };
  try {
    const running = await Promise.race([started(), asked]);
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

/** Resolves when the supervisor tells this role to begin. */
function beginning(): Promise<void> {
  return new Promise((resolve) => process.once("message", (_: Begin) => resolve()));
}

/** Resolves to why this process is to stop: a signal, or the end of the supervisor that started it. */
function stopRequest(waits: boolean): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => resolve(signal));
    const supervisorEnded = () => resolve("the supervisor ended");
    if (process.channel) process.on("disconnect", supervisorEnded);
    else if (waits) supervisorEnded();
  });
}

async function within(milliseconds: number, stop: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not stopped within ${milliseconds} ms`)), milliseconds);
  });
  await Promise.race([stop, late]).finally(() => clearTimeout(timer));
}
