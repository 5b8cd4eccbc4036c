import { CancelledFailure } from "@temporalio/common";
import type { BaselineHostStageType } from "../../../src/domain/task/host-remediation";
import { versionText } from "../../../src/domain/version";
import { CancelledBeforeStart } from "../../activity-run";
import { DriverError } from "../../drivers/driver-error";
import { ClosureError } from "../../closure-check";
import type { Vim25Host } from "../../drivers/vim25/vim25-models";
import type { RemediationContext } from "../remediate-hosts";
import { HostFailure, hostFailure } from "../remediation-errors";
import {
  type BaselineContext,
  connectedHost,
  hasRestarted,
  isAtTarget,
  isInstalled,
  isRestarting,
  runningTask,
} from "./baseline-context";
import { ensureHostStep, intend } from "./host-step";
import { restoreHost, restoreHostAfterFailure } from "./restore-host";
import { switchOffVms } from "./switch-off-vms";

/** One attempt at the one host of a baseline-managed cluster that an Activity is about. */
export async function remediateBaselineHost(
  given: RemediationContext,
  interfaces: Pick<BaselineContext, "client" | "patch">,
): Promise<void> {
  const { input, progress } = given;
  const [host] = input.hosts;
  if (!host || !input.before) throw new Error(`The state of ${input.cluster.name} before its upgrade was not recorded`);
  // An earlier run has come to the end, and was lost before it could say so.
  if (progress.hasEnded) return;
  try {
    await new BaselineHostRun({ ...given, ...interfaces, host, before: input.before }).toTheEnd();
  } catch (error) {
    if (error instanceof CancelledBeforeStart) progress.enter([0], "STOPPED");
    else if (error instanceof HostFailure) progress.fail(0, error);
    else throw error;
  }
}

/**
 * One attempt at one host of a baseline-managed cluster, from wherever it stands. Invariants:
 * 1. What a step has to do is decided by the host as it is now; a step that is done is not done again.
 * 2. Once the installation was asked for, the host is brought to the end, also after a cancellation.
 * 3. Whatever ends the attempt before that, the host is taken out of maintenance mode and its virtual machines run
 *    again, or the error says that they do not.
 */
class BaselineHostRun {
  readonly #context: BaselineContext;

  constructor(context: BaselineContext) {
    this.#context = context;
  }

  /** Throws HostFailure, DriverError, CancelledBeforeStart or the interruption of the retryPolicy. */
  async toTheEnd(): Promise<void> {
    try {
      await this.#upgrade();
    } catch (error) {
      // What a race with a freeze, or an earlier run, has switched off does not stay so until the freeze is lifted.
      if (error instanceof CancelledFailure && !(error instanceof ClosureError)) throw error;
      // Then it has just been tried.
      if (error instanceof HostFailure && error.code === "HOST_NOT_BACK_IN_SERVICE") throw error;
      throw await restoreHostAfterFailure(this.#context, error);
    }
  }

  async #upgrade(): Promise<void> {
    const context = this.#context;
    const { progress, before, stopping } = context;
    if (before.atTarget) return progress.enter([0], "ALREADY_AT_TARGET", "The host is already at the target.");
    if (progress.current.requestedAt === undefined)
      this.#enter("CHECK_VERSION", "Comparing the host with the target version.");
    if (before.inMaintenanceMode) throw heldByOther(context);
    // What an attempt that has failed left among the host's tasks is no word on this one.
    if (progress.hasFailures) await intend(context);
    const host = await connectedHost(context);
    if (progress.current.bootTime === undefined && host.bootTime !== undefined) progress.booted(host.bootTime);

    if (!isAtTarget(context, host)) {
      if (!isInstalled(context, host)) {
        if (stopping && runningTask(host, "install") === undefined) throw new CancelledBeforeStart();
        if (!host.inMaintenanceMode) {
          const isOnItsWay = runningTask(host, "enter") !== undefined;
          const asked = { cluster: context.input.cluster.resourceId, hosts: [context.host.host] };
          await (isOnItsWay ? this.#empty() : context.begin(() => this.#empty(), asked));
        }
        await this.#install();
      }
      await this.#restart();
    }
    this.#enter("EXIT_MAINTENANCE_MODE", "Bringing the host back into service.");
    await restoreHost(context);
    await this.#verify();
  }

  #enter(stage: BaselineHostStageType, activity: string): void {
    this.#context.progress.enter([0], stage, activity);
  }

  /** Into maintenance mode, with what runs on the host switched off or moved away. */
  async #empty(): Promise<void> {
    const { client, input, progress } = this.#context;
    const { host } = this.#context.host;
    this.#enter("CHANGE_VM_POWER", "Restoring the virtual machines of the host.");
    await switchOffVms(this.#context);
    this.#enter("ENTER_MAINTENANCE_MODE", "Requesting maintenance mode.");
    progress.takeOut([0], "inMaintenanceMode");
    const evacuatePoweredOffVms = input.options?.evacuateOfflineVms ?? false;
    await ensureHostStep(this.#context, {
      operation: "enter",
      activity: "The host is entering maintenance mode",
      failed: "could not enter maintenance mode",
      stalled: "made no progress while entering maintenance mode",
      isDone: ({ inMaintenanceMode }) => inMaintenanceMode,
      request: () => client.enterMaintenanceMode(host, { evacuatePoweredOffVms }),
      // The task itself often tells nothing while virtual machines leave one by one.
      signsOfLife: async () => (await this.#context.retryPolicy.retry(() => client.readHost(host))).vmCount,
    });
  }

  async #install(): Promise<void> {
    const { client, input, patch, host } = this.#context;
    this.#enter("INSTALL_PATCH", "Requesting the installation.");
    await ensureHostStep(this.#context, {
      operation: "install",
      activity: `The host is installing ${input.targetVersion}`,
      failed: "could not install the patch",
      stalled: "made no progress while installing the patch",
      endsWithTask: true,
      isDone: (host) => isAtTarget(this.#context, host) || isInstalled(this.#context, host),
      request: () => client.installPatch(host.host, patch),
    });
  }

  /** Restarts the host and waits until it is back. */
  async #restart(): Promise<void> {
    const context = this.#context;
    const { client, retryPolicy, progress, limits } = context;
    const { host } = context.host;
    const look = () => retryPolicy.retry(() => client.readHost(host));
    this.#enter("REBOOT", "Requesting the restart.");
    await ensureHostStep(context, {
      operation: "reboot",
      activity: "The host is restarting",
      failed: "could not be restarted",
      stalled: "was not restarted",
      endsWithTask: true,
      look,
      isDone: (now) => now.connection !== "connected" || isAtTarget(context, now) || isRestarting(context, now),
      request: () => client.rebootHost(host),
    });

    this.#enter("RECONNECT", "Waiting until the host is back.");
    const began = retryPolicy.clock.now();
    let wasAway = false;
    for (let round = 0; ; round++) {
      const now = await look();
      const isHere = now.connection === "connected";
      wasAway ||= !isHere;
      if (isHere && (isAtTarget(context, now) || hasRestarted(context, now) || (wasAway && knowsNoBootTime(now))))
        return;
      const what = isHere ? "has not restarted" : `is ${now.connection}`;
      if (retryPolicy.clock.now() - began >= limits.reconnect) throw hostFailure("HOST_NOT_RECONNECTED", what);
      progress.note(`Waiting for the host, which ${what}${isHere ? " yet" : ""}.`);
      await retryPolicy.pause(round);
    }
  }

  async #verify(): Promise<void> {
    const { retryPolicy, progress, input, limits } = this.#context;
    this.#enter("VERIFY", "Comparing the host with the target version.");
    const began = retryPolicy.clock.now();
    for (let round = 0; ; round++) {
      const host = await connectedHost(this.#context);
      if (isAtTarget(this.#context, host))
        return progress.enter([0], "UPGRADED", `Upgraded to ${input.targetVersion}.`);
      if (retryPolicy.clock.now() - began >= Math.min(limits.settle, limits.reconnect)) {
        const found = `has version ${versionText(host.product) || "unknown"} after its restart`;
        throw hostFailure("HOST_NOT_AT_TARGET", found);
      }
      await retryPolicy.pause(round);
    }
  }
}

function knowsNoBootTime({ bootTime }: Vim25Host): boolean {
  return bootTime === undefined;
}

/** Whoever put the host into maintenance mode wants it there; taking it out is not ours. */
function heldByOther({ host }: BaselineContext): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "HOST_IN_MAINTENANCE_MODE",
    message: `Host ${host.fqdn} was in maintenance mode before its upgrade.`,
    remediation: "Take the host out of maintenance mode in the component manager, then retry the upgrade.",
  });
}
