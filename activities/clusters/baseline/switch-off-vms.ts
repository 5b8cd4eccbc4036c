import type { ReportedCode } from "../../../src/domain/errors";
import type { VmPowerAction } from "../../drivers/vim25/vim25-client";
import type { Vim25Vm } from "../../drivers/vim25/vim25-models";
import { hostFailure } from "../remediation-errors";
import type { BaselineContext } from "./baseline-context";
import { intend } from "./host-step";
import { changeVmPower, fewOf, powerActionOf } from "./vm-power";

/** Switches off the host's virtual machines as the upgrade asks. Throws HOST_REMEDIATION_FAILED where one runs on. */
export async function switchOffVms(context: BaselineContext): Promise<void> {
  const { input, before, host } = context;
  const action = powerActionOf(input.options ?? {});
  if (!action) return;
  if (before.runningVms.length > 0) context.progress.takeOut([0], "vmsOff");
  const here = (vm: Vim25Vm) => vm.host === host.host && vm.power === "poweredOn" && before.runningVms.includes(vm.vm);
  await changePower(context, action, here, "HOST_REMEDIATION_FAILED", "could not be powered off");
}

/**
 * Starts those of the virtual machines that ran before which do not run now, wherever they are. Throws
 * HOST_NOT_BACK_IN_SERVICE where one does not start.
 */
export async function restoreVms(context: BaselineContext): Promise<void> {
  const { before } = context;
  if (before.runningVms.length === 0) return;
  const isOff = (vm: Vim25Vm) => before.runningVms.includes(vm.vm) && vm.power !== "poweredOn";
  await changePower(context, "PowerOnVM", isOff, "HOST_NOT_BACK_IN_SERVICE", "could not be restarted");
}

async function changePower(
  context: BaselineContext,
  action: VmPowerAction,
  isMeant: (vm: Vim25Vm) => boolean,
  code: ReportedCode,
  failed: string,
): Promise<void> {
  const { client, retryPolicy, progress, input, before } = context;
  const { left, reasons } = await changeVmPower({
    client,
    retryPolicy,
    cluster: input.cluster.cluster,
    action,
    changed: new Set(before.runningVms),
    isMeant,
    onBegin: () => intend(context),
    note: (activity) => progress.note(activity),
  });
  if (left.length > 0)
    throw hostFailure(code, `has virtual machines that ${failed} (${fewOf(left.map(({ name }) => name))})`, reasons);
}
