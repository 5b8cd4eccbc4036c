import type { ActivityLimits } from "../../activity-limits";
import { DriverError, isAnsweredForNow, isBusy } from "../../drivers/driver-error";
import { reasonsOfFault } from "../../drivers/vim25/soap";
import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import { endedByOutage, type Vim25Host, type Vim25HostMode } from "../../drivers/vim25/vim25-models";
import type { RetryPolicy } from "../../retry-policy";
import { UncertainChanges } from "../../uncertain-changes";
import type { HostMaintenance } from "../host-maintenance";
import { runningTask } from "./baseline-context";
import { requestCancel, followHostTask } from "./follow-host-task";

/** Requests that may come to nothing before that is an error. */
const maximumRequests = 5;

interface MaintenanceDependencies {
  readonly client: Vim25Client;
  readonly limits: ActivityLimits;
}

/** One change of a host's maintenance mode. */
interface Change {
  readonly operation: "enter" | "exit";
  readonly code: string;
  /** Goes on after the host's name. */
  readonly failed: string;
  readonly remediation: string;
  isDone(host: Vim25Host): boolean;
  request(): Promise<string>;
}

const isInside = (host: Vim25HostMode) => host.inMaintenanceMode || runningTask(host, "enter") !== undefined;

/** Maintenance mode of single hosts by the management interface, which image-managed clusters have as well. */
export function vim25HostMaintenance({ client, limits }: MaintenanceDependencies): HostMaintenance {
  /** Looks whether it is so already, attaches to the task that is at it, and only then asks for it. */
  async function change(host: string, retryPolicy: RetryPolicy, wanted: Change): Promise<void> {
    const { operation, isDone } = wanted;
    const uncertain = new UncertainChanges<"busy" | "unanswered" | "outage">(retryPolicy.clock);
    let requests = 0;
    for (let round = 0; ; round++) {
      const now = await retryPolicy.retry(() => client.readHost(host));
      if (now.connection !== "connected") {
        if (!uncertain.mayPass("outage", limits.outage)) throw failed(wanted, now, [`it is ${now.connection}.`]);
        await retryPolicy.pause(round);
        continue;
      }
      if (operation === "exit" && (await endEntering(now, retryPolicy))) continue;
      if (isDone(now)) return;
      const task = runningTask(now, operation) ?? (await request());
      if (task !== undefined) await follow(task, now);
      await retryPolicy.pause(round);

      async function request(): Promise<string | undefined> {
        if (++requests > maximumRequests)
          throw failed(wanted, now, ["the component manager accepts requests and does nothing."]);
        try {
          // Not through retryPolicy: a request whose answer is lost must not be repeated without looking.
          return await retryPolicy.once(() => wanted.request());
        } catch (error) {
          if (!(error instanceof DriverError)) throw error;
          if (error.kind === "permanent") {
            if (isDone(await retryPolicy.retry(() => client.readHost(host)))) return undefined;
            throw error.code === "COMPONENT_MANAGER_REFUSED" ? failed(wanted, now, error.causes) : error;
          }
          if (isAnsweredForNow(error)) requests--;
          if (isBusy(error)) uncertain.giveUpAfter("busy", limits.operationBusy, error);
          else uncertain.giveUpAfter("unanswered", limits.outage, error);
          return undefined;
        }
      }
    }

    async function follow(task: string, now: Vim25Host): Promise<void> {
      // The task itself often tells nothing while virtual machines leave one by one.
      const signsOfLife = async () => (await retryPolicy.retry(() => client.readHost(host))).vmCount;
      const followed = await followHostTask({ client, retryPolicy, task, stall: limits.stall, signsOfLife });
      if (followed.end === "STALLED") {
        await requestCancel({ client, retryPolicy }, task);
        throw failed(wanted, now, ["it made no progress for too long."]);
      }
      if (followed.end !== "ENDED" || !followed.task.error) return;
      if (!endedByOutage(followed.task) || uncertain.hasLasted("outage", limits.outage))
        throw failed(wanted, now, reasonsOfFault(followed.task.error));
      requests--;
    }
  }

  /** Cancels an entry that is under way. False where none is. */
  async function endEntering(host: Vim25Host, retryPolicy: RetryPolicy): Promise<boolean> {
    const task = runningTask(host, "enter");
    if (task === undefined) return false;
    await requestCancel({ client, retryPolicy }, task);
    await followHostTask({ client, retryPolicy, task, stall: limits.operationBusy });
    return true;
  }

  function failed({ code, failed: what, remediation }: Change, { name }: Vim25Host, causes: readonly string[]) {
    const message = `Host ${name} ${what}${causes[0] === undefined ? "." : `: ${causes[0]}`}`;
    return new DriverError({ kind: "permanent", code, message, remediation, causes });
  }

  return {
    enter: (host, { evacuateOfflineVms = false }, retryPolicy) =>
      change(host, retryPolicy, {
        operation: "enter",
        code: "HOST_MAINTENANCE_MODE_FAILED",
        failed: "could not enter maintenance mode",
        remediation: "Make room for the host's virtual machines or power them off, then retry the upgrade.",
        isDone: ({ inMaintenanceMode }) => inMaintenanceMode,
        request: () => client.enterMaintenanceMode(host, { evacuatePoweredOffVms: evacuateOfflineVms }),
      }),
    exit: (host, retryPolicy) =>
      change(host, retryPolicy, {
        operation: "exit",
        code: "HOST_LEFT_IN_MAINTENANCE_MODE",
        failed: "could not exit maintenance mode",
        remediation: "Take the host out of maintenance mode in the component manager, then retry.",
        isDone: ({ inMaintenanceMode }) => !inMaintenanceMode,
        request: () => client.exitMaintenanceMode(host),
      }),
    inMaintenance: async (cluster, retryPolicy) => {
      const hosts = await retryPolicy.retry(() => client.listHostModes(cluster));
      return new Set(hosts.filter(isInside).map(({ host }) => host));
    },
    isInMaintenance: async (host, retryPolicy) => isInside(await retryPolicy.retry(() => client.readHostMode(host))),
  };
}
