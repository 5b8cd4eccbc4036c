import type { HostRemediationOptions } from "../../src/domain/host-remediation";
import { reasonsOfFault } from "../drivers/vim25/classify-fault";
import type { VmPowerAction } from "../drivers/vim25/vim25-client";
import type { Vim25Vm } from "../drivers/vim25/vim25-models";
import { hostFailure } from "../hostos/remediation-context";
import type { ReportedCode } from "../hostos/reported-failure";
import type { BaselineContext } from "./baseline-context";
import { intend } from "./bring-about";
import { followTask } from "./follow-task";

/** What becomes of running virtual machines before maintenance mode; undefined where they are moved. */
function actionOf({ preRemediationPowerAction }: HostRemediationOptions): VmPowerAction | undefined {
  if (preRemediationPowerAction === "POWER_OFF_VMS") return "PowerOffVM";
  return preRemediationPowerAction === "SUSPEND_VMS" ? "SuspendVM" : undefined;
}

const powerAfter: Readonly<Record<VmPowerAction, string>> = {
  PowerOffVM: "powered off",
  SuspendVM: "suspended",
  PowerOnVM: "powered on",
};

/** Switches off the host's virtual machines as the upgrade asks. Throws HOST_REMEDIATION_FAILED where one runs on. */
export async function switchOffVms(context: BaselineContext): Promise<void> {
  const { input, before } = context;
  const action = actionOf(input.options ?? {});
  if (!action) return;
  const here = (vm: Vim25Vm) =>
    vm.host === input.host.host && vm.power === "poweredOn" && before.runningVms.includes(vm.vm);
  await changePower(context, action, here, "HOST_REMEDIATION_FAILED", "could not be switched off");
}

/**
 * Starts those of the virtual machines that ran before which do not run now, wherever they are. Throws
 * HOST_NOT_BACK_IN_SERVICE where one does not start.
 */
export async function restoreVms(context: BaselineContext): Promise<void> {
  const { before } = context;
  if (before.runningVms.length === 0) return;
  const isOff = (vm: Vim25Vm) => before.runningVms.includes(vm.vm) && vm.power !== "poweredOn";
  await changePower(context, "PowerOnVM", isOff, "HOST_NOT_BACK_IN_SERVICE", "could not be started again");
}

async function changePower(
  context: BaselineContext,
  action: VmPowerAction,
  isMeant: (vm: Vim25Vm) => boolean,
  code: ReportedCode,
  failed: string,
): Promise<void> {
  const { client, patience, progress, input, limits } = context;
  const read = async () => (await patience.persist(() => client.listVms(input.cluster.cluster))).filter(isMeant);
  const vms = await read();
  if (vms.length === 0) return;
  await intend(context);
  const reasons: string[] = [];
  for (const [i, vm] of vms.entries()) {
    progress.note(`Virtual machine ${vm.name} (${i + 1} of ${vms.length}) is to be ${powerAfter[action]}.`);
    // What is so already is no error, so that a request whose answer is lost may be repeated.
    const task = await patience.persist(() => client.changeVmPower(vm.vm, action));
    const followed = await followTask({ client, patience, task, stall: limits.operationBusy });
    if (followed.end === "ENDED" && followed.task.error) reasons.push(...reasonsOfFault(followed.task.error));
    if (followed.end === "STALLED") reasons.push(`Task ${task} makes no progress.`);
  }
  const left = await read();
  if (left.length === 0) return;
  const names = left.map(({ name }) => name);
  const shown = names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
  throw hostFailure(context, code, `has virtual machines that ${failed} (${shown})`, [...new Set(reasons)]);
}
