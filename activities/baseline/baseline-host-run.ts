import { CancelledFailure } from "@temporalio/common";
import type { HostResult } from "../../src/domain/host-remediation";
import type { PatchSource } from "../activity-dependencies";
import { DriverError } from "../drivers/driver-error";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { Vim25Host } from "../drivers/vim25/vim25-models";
import type { BaselineHostStageType } from "../../src/domain/host-remediation";
import { NothingRuns } from "../hostos/nothing-runs";
import type { HostRunOptions } from "../hostos/remediate-host";
import { hostFailure } from "../hostos/remediation-context";
import { ReportedFailure } from "../hostos/reported-failure";
import {
  type BaselineContext,
  connectedHost,
  hasRestarted,
  isAtTarget,
  isInstalled,
  isRestarting,
  runningTask,
} from "./baseline-context";
import { bringAbout, intend } from "./bring-about";
import { versionText } from "../../src/domain/product-version";
import { putBack, putBackAfter } from "./put-back";
import { switchOffVms } from "./vm-power";

interface BaselineHostRunOptions extends HostRunOptions<BaselineHostStageType> {
  readonly client: Vim25Client;
  readonly patch: PatchSource;
}

/** How long a host that is back may take to tell its new version, in milliseconds. */
const versionSettling = 30_000;

/**
 * One attempt at one host of a baseline-managed cluster, from wherever it stands. Invariants:
 * 1. What a step has to do is decided by the host as it is now; a step that is done is not done again.
 * 2. Once the installation was asked for, the host is brought to the end, also after a cancellation.
 * 3. Whatever ends the attempt before that, the host is taken out of maintenance mode and its virtual machines run
 *    again, or the error says that they do not.
 */
export class BaselineHostRun {
  readonly #context: BaselineContext;

  constructor(options: BaselineHostRunOptions) {
    const { before } = options.input;
    if (!before) throw new Error(`Nothing was recorded of host ${options.input.host.fqdn} before its upgrade`);
    this.#context = { ...options, before };
  }

  /** Throws ReportedFailure, DriverError, NothingRuns or the interruption of the patience. */
  async toTheEnd(): Promise<HostResult> {
    try {
      return await this.#upgrade();
    } catch (error) {
      if (error instanceof CancelledFailure) throw error;
      // Then it has just been tried.
      if (error instanceof ReportedFailure && error.code === "HOST_NOT_BACK_IN_SERVICE") throw error;
      throw await putBackAfter(this.#context, error);
    }
  }

  async #upgrade(): Promise<HostResult> {
    const context = this.#context;
    const { progress, input, before, stopping } = context;
    if (before.atTarget) {
      progress.succeed("CHECK_VERSION", "The host is at the target already.");
      const stages = progress.current.stages.slice(0, 1);
      return { host: input.host.host, outcome: "ALREADY_AT_TARGET", version: input.targetVersion, stages };
    }
    if (progress.current.requestedAt === undefined) {
      progress.begin("CHECK_VERSION", "Comparing the host with the target version.");
    }
    if (before.inMaintenanceMode) throw heldByOther(context);
    // What an attempt that has failed left among the host's tasks is no word on this one.
    if (progress.current.reportedFailures > 0) await intend(context);
    const host = await connectedHost(context);
    if (progress.current.bootTime === undefined && host.bootTime !== undefined) progress.booted(host.bootTime);

    if (!isAtTarget(context, host)) {
      if (!isInstalled(context, host)) {
        if (stopping && runningTask(host, "install") === undefined) throw new NothingRuns();
        if (!host.inMaintenanceMode) await this.#empty();
        await this.#install();
      }
      await this.#restart();
    }
    progress.begin("EXIT_MAINTENANCE_MODE", "Bringing the host back into service.");
    await putBack(context);
    await this.#verify();
    return {
      host: input.host.host,
      outcome: "UPGRADED",
      version: input.targetVersion,
      stages: progress.current.stages,
    };
  }

  /** Into maintenance mode, with what runs on the host switched off or moved away. */
  async #empty(): Promise<void> {
    const { client, progress, input } = this.#context;
    const { host } = input.host;
    progress.begin("CHANGE_VM_POWER", "Looking after the virtual machines of the host.");
    await switchOffVms(this.#context);
    progress.begin("ENTER_MAINTENANCE_MODE", "The host is to enter maintenance mode.");
    const evacuatePoweredOffVms = input.options?.evacuateOfflineVms ?? false;
    await bringAbout(this.#context, {
      operation: "enter",
      activity: "The host is entering maintenance mode",
      failed: "could not enter maintenance mode",
      stalled: "did not get on while entering maintenance mode",
      isDone: ({ inMaintenanceMode }) => inMaintenanceMode,
      request: () => client.enterMaintenanceMode(host, { evacuatePoweredOffVms }),
      // The task itself often tells nothing while virtual machines leave one by one.
      signsOfLife: async () => (await this.#context.patience.persist(() => client.readHost(host))).vmCount,
    });
  }

  async #install(): Promise<void> {
    const { client, progress, input, patch } = this.#context;
    progress.begin("INSTALL_PATCH", "The patch is to be installed.");
    await bringAbout(this.#context, {
      operation: "install",
      activity: `The host is installing ${input.targetVersion}`,
      failed: "could not install the patch",
      stalled: "did not get on while installing the patch",
      endsWithTask: true,
      isDone: (host) => isAtTarget(this.#context, host) || isInstalled(this.#context, host),
      request: () => client.installPatch(input.host.host, patch),
    });
  }

  /** Restarts the host and waits until it is back. */
  async #restart(): Promise<void> {
    const context = this.#context;
    const { client, patience, progress, input, limits } = context;
    const { host } = input.host;
    const look = () => patience.persist(() => client.readHost(host));
    progress.begin("REBOOT", "The host is to restart.");
    await bringAbout(context, {
      operation: "reboot",
      activity: "The host is restarting",
      failed: "could not be restarted",
      stalled: "was not restarted",
      endsWithTask: true,
      look,
      isDone: (now) => now.connection !== "connected" || isAtTarget(context, now) || isRestarting(context, now),
      request: () => client.rebootHost(host),
    });

    progress.begin("RECONNECT", "Waiting until the host is back.");
    const began = Date.now();
    let wasAway = false;
    for (let round = 0; ; round++) {
      const now = await look();
      const isHere = now.connection === "connected";
      wasAway ||= !isHere;
      if (isHere && (isAtTarget(context, now) || hasRestarted(context, now) || (wasAway && knowsNoBootTime(now))))
        return;
      const what = isHere ? "has not restarted" : `is ${now.connection}`;
      if (Date.now() - began >= limits.reconnect) throw hostFailure(context, "HOST_NOT_RECONNECTED", what);
      progress.note(`Waiting for the host, which ${what}${isHere ? " yet" : ""}.`);
      await patience.pause(round);
    }
  }

  async #verify(): Promise<void> {
    const { patience, progress, input, limits } = this.#context;
    progress.begin("VERIFY", "Comparing the host with the target version.");
    const began = Date.now();
    for (let round = 0; ; round++) {
      const host = await connectedHost(this.#context);
      if (isAtTarget(this.#context, host)) return progress.succeed("VERIFY", `Upgraded to ${input.targetVersion}.`);
      if (Date.now() - began >= Math.min(versionSettling, limits.reconnect)) {
        const found = `has version ${versionText(host.product) || "unknown"} after its restart`;
        throw hostFailure(this.#context, "HOST_NOT_AT_TARGET", found);
      }
      await patience.pause(round);
    }
  }
}

function knowsNoBootTime({ bootTime }: Vim25Host): boolean {
  return bootTime === undefined;
}

/** Whoever put the host into maintenance mode wants it there; taking it out is not ours. */
function heldByOther({ input }: BaselineContext): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "HOST_IN_MAINTENANCE_MODE",
    message: `Host ${input.host.fqdn} was in maintenance mode before its upgrade.`,
    remediation: "Take the host out of maintenance mode in the component manager, then retry the upgrade.",
  });
}
