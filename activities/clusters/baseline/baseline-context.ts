import { isAtVersion } from "../../../src/domain/version";
import type { PatchSource } from "../../activity-dependencies";
import type { HostBefore, HostName } from "../../contract";
import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import { hasEnded, type TaskInfo, type Vim25Host } from "../../drivers/vim25/vim25-models";
import type { RemediationContext } from "../remediate-hosts";
import { hostFailure } from "../remediation-errors";

/** What every step of one host of a baseline-managed cluster works with. */
export interface BaselineContext extends RemediationContext {
  readonly client: Vim25Client;
  readonly patch: PatchSource;
  readonly host: HostName;
  readonly before: HostBefore;
}

/** Tasks by the last part of their description, whose spelling differs a little between products. */
export const operations = {
  enter: /^entermaintenancemode$/i,
  exit: /^exitmaintenancemode$/i,
  install: /^install(hostpatch)?v2$/i,
  reboot: /^reboot(host)?$/i,
} as const;
export type Operation = keyof typeof operations;

/** Whether a task is of this kind. */
export function isOf({ descriptionId }: TaskInfo, operation: Operation): boolean {
  return operations[operation].test(descriptionId.split(".").at(-1) ?? "");
}

/** Whether a task was asked for in this attempt, by the component manager's own clock. */
function isOfThisAttempt({ progress, before }: BaselineContext, { queueTime }: TaskInfo): boolean {
  return Date.parse(queueTime) >= Date.parse(progress.current.requestedAt ?? before.at);
}

/** The task of a kind that runs on a host, whoever has asked for it. */
export function runningTask(host: Pick<Vim25Host, "tasks">, operation: Operation): string | undefined {
  return host.tasks.find((task) => isOf(task, operation) && !hasEnded(task))?.key;
}

/** Whether a task of a kind has ended well in this attempt. */
function hasSucceeded(context: BaselineContext, host: Vim25Host, operation: Operation): boolean {
  return host.tasks.some((task) => isOf(task, operation) && task.state === "success" && isOfThisAttempt(context, task));
}

/** Whether a host runs the target version. */
export function isAtTarget({ input }: BaselineContext, { product }: Vim25Host): boolean {
  return isAtVersion(product, input.targetVersion);
}

/** Whether a host has restarted since this attempt began; false where that cannot be told. */
export function hasRestarted({ progress }: BaselineContext, { bootTime }: Vim25Host): boolean {
  const { bootTime: before } = progress.current;
  return before !== undefined && bootTime !== undefined && bootTime !== before;
}

/**
 * Whether the patch is on a host, so that a restart is all that is missing (or has been of no use). The host says so
 * itself, unless it was waiting for a restart already; what is known of this attempt stands in for it.
 */
export function isInstalled(context: BaselineContext, host: Vim25Host): boolean {
  return (
    (host.rebootRequired && !context.before.rebootRequired) ||
    context.progress.isPast("INSTALL_PATCH") ||
    hasSucceeded(context, host, "install")
  );
}

/** Whether a restart was asked for in this attempt, so that it must not be asked for again. */
export function isRestarting(context: BaselineContext, host: Vim25Host): boolean {
  return context.progress.isPast("REBOOT") || hasRestarted(context, host) || hasSucceeded(context, host, "reboot");
}

/** The host, once it is connected. Throws HOST_NOT_RECONNECTED where it stays away too long. */
export async function connectedHost(context: BaselineContext): Promise<Vim25Host> {
  const { client, retryPolicy, progress, limits } = context;
  const began = retryPolicy.clock.now();
  for (let round = 0; ; round++) {
    const host = await retryPolicy.retry(() => client.readHost(context.host.host));
    if (host.connection === "connected") return host;
    if (retryPolicy.clock.now() - began >= limits.reconnect) {
      throw hostFailure("HOST_NOT_RECONNECTED", `is ${host.connection}`);
    }
    progress.note(`Waiting for the host, which is ${host.connection}.`);
    await retryPolicy.pause(round);
  }
}
