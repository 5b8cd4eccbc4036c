import { CancelledFailure } from "@temporalio/common";
import { remediationFor } from "../../../src/domain/errors";
import { CancelledBeforeStart, endingRetryPolicy } from "../../activity-run";
import { DriverError, isNotFound } from "../../drivers/driver-error";
import type { Vim25Host } from "../../drivers/vim25/vim25-models";
import { HostFailure, hostFailure } from "../remediation-errors";
import { type BaselineContext, runningTask } from "./baseline-context";
import { followHostTask, requestCancel } from "./follow-host-task";
import { ensureHostStep } from "./host-step";
import { restoreVms } from "./switch-off-vms";

/** Takes a host out of maintenance mode and starts what ran on it. Throws HOST_NOT_BACK_IN_SERVICE where it cannot. */
export async function restoreHost(context: BaselineContext): Promise<void> {
  const { client, host, progress } = context;
  await ensureHostStep(context, {
    operation: "exit",
    activity: "The host is exiting maintenance mode",
    failed: "could not exit maintenance mode",
    stalled: "made no progress while exiting maintenance mode",
    code: "HOST_NOT_BACK_IN_SERVICE",
    isDone: ({ inMaintenanceMode }) => !inMaintenanceMode,
    request: () => client.exitMaintenanceMode(host.host),
  });
  progress.stillOut([], "inMaintenanceMode");
  await restoreVms(context);
  progress.stillOut([], "vmsOff");
}

/**
 * Puts a host back after an attempt that failed or was stopped, whatever the upgrade's state meanwhile. Gives the
 * error to throw: the one that there was, with a word on the state in which the host is left.
 */
export async function restoreHostAfterFailure(context: BaselineContext, error: unknown): Promise<unknown> {
  const { before, progress, limits } = context;
  // Nothing was changed: the host is as whoever put it into maintenance mode wants it.
  if (before.inMaintenanceMode) return error;
  const retryPolicy = endingRetryPolicy(limits, ({ message }) => progress.note(`Waiting: ${message}`));
  const ending: BaselineContext = { ...context, retryPolicy };
  try {
    const host = await retryPolicy.retry(() => ending.client.readHost(context.host.host));
    if (host.connection !== "connected") {
      const state = host.inMaintenanceMode ? ", in maintenance mode" : "";
      throw hostFailure("HOST_NOT_BACK_IN_SERVICE", `is ${host.connection}${state}`);
    }
    const wasOut = await endEntering(ending, host);
    await restoreHost(ending);
    const pending = (await retryPolicy.retry(() => ending.client.readHost(context.host.host))).rebootRequired;
    const words = [
      ...(wasOut ? [] : ["The host is out of maintenance mode again."]),
      ...(pending && !before.rebootRequired ? ["What was installed takes effect when the host restarts."] : []),
    ];
    return withWords(error, words.join(" "));
  } catch (problem) {
    if (problem instanceof CancelledFailure) throw problem;
    return notRestored(error, problem);
  }
}

/** Ends an entry into maintenance mode that is under way. True where the host is out of it afterwards. */
async function endEntering(context: BaselineContext, host: Vim25Host): Promise<boolean> {
  const { client, retryPolicy, progress, limits } = context;
  const { remoteTask } = progress.current;
  const task = runningTask(host, "enter") ?? (await forgottenEntry());
  if (task !== undefined) {
    progress.note("Cancelling the entry into maintenance mode.");
    await requestCancel(context, task);
    await followHostTask({ client, retryPolicy, task, stall: limits.operationBusy });
  }
  const now = await retryPolicy.retry(() => client.readHost(host.host));
  return !now.inMaintenanceMode;

  /** An entry whose task is forgotten goes on all the same, and only the host itself shows its end. */
  async function forgottenEntry(): Promise<undefined> {
    if (remoteTask === undefined || host.inMaintenanceMode || progress.isPast("ENTER_MAINTENANCE_MODE")) return;
    try {
      await retryPolicy.retry(() => client.readTask(remoteTask));
      return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    progress.note("Waiting for the host to enter maintenance mode; the component manager no longer has the task.");
    const began = retryPolicy.clock.now();
    for (let round = 0; retryPolicy.clock.now() - began < limits.operationBusy; round++) {
      if ((await retryPolicy.retry(() => client.readHost(host.host))).inMaintenanceMode) return;
      await retryPolicy.pause(round);
    }
  }
}

/** An error of the same code with a word more. */
function withWords(error: unknown, words: string): unknown {
  if (words === "") return error;
  if (error instanceof HostFailure) return new HostFailure(error.code, `${error.what} ${words}`, error.causes);
  return error instanceof DriverError ? extended(error, words) : error;
}

/** The host could not be put back: its operator has to know that whatever else there is to know. */
function notRestored(error: unknown, problem: unknown): unknown {
  const words = `It is not back in service: ${reasonOf(problem)}`;
  if (error instanceof DriverError) return extended(error, words, remediationFor("HOST_NOT_BACK_IN_SERVICE"));
  const isAway = error instanceof HostFailure && error.code === "HOST_NOT_RECONNECTED";
  const code = isAway ? error.code : "HOST_NOT_BACK_IN_SERVICE";
  const causes = error instanceof HostFailure ? error.causes : [];
  return new HostFailure(code, `${whatHappened(error)} ${words}`, causes);
}

/** What became of a host, as it goes on after its name. */
function whatHappened(error: unknown): string {
  if (error instanceof HostFailure) return error.what;
  if (error instanceof CancelledBeforeStart) return "was not upgraded: the upgrade was cancelled.";
  return `could not be upgraded: ${reasonOf(error)}`;
}

function extended(error: DriverError, words: string, remediation = error.remediation): DriverError {
  return error.with({ message: `${error.message} ${words}`, remediation });
}

function reasonOf(error: unknown): string {
  if (error instanceof HostFailure) return `it ${error.what}`;
  return error instanceof Error ? error.message : String(error);
}
