import type { HostRemediationOptions } from "../../../src/domain/task/host-remediation";
import { DriverError, isBusy } from "../../drivers/driver-error";
import { reasonsOfFault } from "../../drivers/vim25/soap";
import type { Vim25Client, VmPowerAction } from "../../drivers/vim25/vim25-client";
import { endedByOutage, type Vim25Vm } from "../../drivers/vim25/vim25-models";
import type { RetryPolicy } from "../../retry-policy";
import { UncertainChanges } from "../../uncertain-changes";
import { followHostTask } from "./follow-host-task";

/** How many virtual machines are changed at the same time. */
const atOnce = 8;

/** Codes with which one virtual machine, and not the component manager, cannot be changed. */
const refusals: ReadonlySet<string> = new Set(["COMPONENT_MANAGER_REFUSED", "HOST_NOT_CONNECTED"]);

/** A change of the power of virtual machines of a cluster. */
interface PowerChange {
  readonly client: Vim25Client;
  readonly retryPolicy: RetryPolicy;
  /** The component manager's id of the cluster. */
  readonly cluster: string;
  readonly action: VmPowerAction;
  /** Ids of all the virtual machines that this upgrade changes: what an earlier run began with one is waited for. */
  readonly changed: ReadonlySet<string>;
  /** Whether one of the cluster's virtual machines is to be changed, as it is now. */
  isMeant(vm: Vim25Vm): boolean;
  /** Called before the first is changed. */
  onBegin?(): Promise<void>;
  /** Called with one sentence for every few virtual machines. */
  note(activity: string): void;
}

/** What could not be changed, and what the component manager says about it. */
interface ChangedPower {
  readonly left: readonly Vim25Vm[];
  readonly reasons: readonly string[];
}

/** What came of a request: a task to follow, an answer that leaves nothing to follow, or doubt. */
type Asked = { readonly task: string } | "ANSWERED" | "UNANSWERED";

const powerAfter: Readonly<Record<VmPowerAction, string>> = {
  PowerOffVM: "powered off",
  SuspendVM: "suspended",
  PowerOnVM: "powered on",
};

/**
 * Changes the power of those virtual machines that are not as they are to be. May be interrupted and repeated: what
 * has been asked for is found again, by its task or by its effect. Throws DriverError where the component manager
 * itself is the trouble, or the interruption of the retryPolicy.
 */
export async function changeVmPower(change: PowerChange): Promise<ChangedPower> {
  const { client, retryPolicy, action } = change;
  const reasons = new Set<string>();
  const uncertain = new UncertainChanges<"busy" | "unanswered" | "outage">(retryPolicy.clock);
  const read = () => retryPolicy.retry(() => client.listVms(change.cluster));

  for (let round = 0; ; round++) {
    const vms = (await readIdle()).filter((vm) => change.isMeant(vm));
    if (vms.length === 0) return { left: [], reasons: [] };
    if (round === 0) await change.onBegin?.();
    let isOpen = false;
    for (let first = 0; first < vms.length; first += atOnce) {
      const some = vms.slice(first, first + atOnce);
      change.note(noteOf(some, first, vms.length));
      for (const asked of await Promise.all(some.map(ask)))
        if (asked === "UNANSWERED" || (asked !== "ANSWERED" && (await isForgotten(asked.task)))) isOpen = true;
    }
    if (!isOpen) return { left: (await read()).filter((vm) => change.isMeant(vm)), reasons: [...reasons] };
    await retryPolicy.pause(round);
  }

  /** The virtual machines once nothing that was asked of ours before is under way any more. */
  async function readIdle(): Promise<readonly Vim25Vm[]> {
    const began = retryPolicy.clock.now();
    for (let round = 0; ; round++) {
      const vms = await read();
      const isUnderWay = vms.some(({ vm, powerChanging }) => powerChanging && change.changed.has(vm));
      if (!isUnderWay || retryPolicy.clock.now() - began >= retryPolicy.bounds.operationBusy) return vms;
      await retryPolicy.pause(round);
    }
  }

  async function ask({ vm }: Vim25Vm): Promise<Asked> {
    try {
      // Not through retryPolicy, which leaves a request alone when it is interrupted: it could take effect unseen.
      return { task: await retryPolicy.once(() => client.changeVmPower(vm, action)) };
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      if (error.kind === "alreadyDone") return "ANSWERED";
      const mayPass = error.code === "HOST_NOT_CONNECTED" && uncertain.mayPass("outage", retryPolicy.bounds.outage);
      if (mayPass) return "UNANSWERED";
      if (refusals.has(error.code)) {
        reasons.add(error.causes[0] ?? error.message);
        return "ANSWERED";
      }
      if (error.kind === "permanent") throw error;
      if (isBusy(error)) uncertain.giveUpAfter("busy", retryPolicy.bounds.operationBusy, error);
      else uncertain.giveUpAfter("unanswered", retryPolicy.bounds.outage, error);
      return "UNANSWERED";
    }
  }

  /** Follows a task to its end. True where it says nothing of the virtual machine. */
  async function isForgotten(task: string): Promise<boolean> {
    const followed = await followHostTask({ client, retryPolicy, task, stall: retryPolicy.bounds.operationBusy });
    if (followed.end === "STALLED") reasons.add(`Task ${task} makes no progress.`);
    if (followed.end !== "ENDED") return followed.end === "FORGOTTEN";
    if (!followed.task.error) return false;
    if (endedByOutage(followed.task) && !uncertain.hasLasted("outage", retryPolicy.bounds.outage)) return true;
    for (const reason of reasonsOfFault(followed.task.error)) reasons.add(reason);
    return false;
  }

  function noteOf(some: readonly Vim25Vm[], first: number, all: number): string {
    const names = some.map(({ name }) => name).join(", ");
    const what = some.length === 1 ? `Virtual machine ${names} is` : `Virtual machines ${names} are`;
    return `${what} to be ${powerAfter[action]} (${first + some.length} of ${all}).`;
  }
}

/** What becomes of running virtual machines before maintenance mode; undefined where they are moved. */
export function powerActionOf({ preRemediationPowerAction }: HostRemediationOptions): VmPowerAction | undefined {
  if (preRemediationPowerAction === "POWER_OFF_VMS") return "PowerOffVM";
  return preRemediationPowerAction === "SUSPEND_VMS" ? "SuspendVM" : undefined;
}

/** Names for an error: the first few, and how many there are beside them. */
export function fewOf(names: readonly string[], shown = 5): string {
  const first = names.slice(0, shown).join(", ");
  return names.length > shown ? `${first} and ${names.length - shown} more` : first;
}
