import type { ResourceUpgradeSpec } from "../spec/upgrade-spec";
import type { HostRemediationOptions } from "../task/host-remediation";

/**
 * What a request asks of the hosts of one cluster. The flags that exist twice are taken from the options; the
 * resource's own are the older form (docs/spec-gaps.md, flags that exist twice).
 */
export function remediationOptions(spec: Omit<ResourceUpgradeSpec, "resourceId">): HostRemediationOptions {
  const { hostosUpgradeFailureAction: _ours, ...options } = spec.hostosUpgradeOptionsSpec ?? {};
  return {
    ...(spec.enableQuickboot !== undefined && { enableQuickboot: spec.enableQuickboot }),
    ...(spec.evacuateOfflineVms !== undefined && { evacuateOfflineVms: spec.evacuateOfflineVms }),
    ...(spec.shutdownVms === true && { preRemediationPowerAction: "POWER_OFF_VMS" }),
    ...options,
  };
}

/** An option that only an image-managed cluster can be upgraded with, and why. */
interface OptionOfImages {
  readonly option: keyof HostRemediationOptions;
  /** The option as people say it: with its value where other values can be carried out. */
  readonly title: string;
  /** A sentence in the middle of another: it has no capital letter, and a full stop. */
  readonly reason: string;
}

/**
 * What of the options cannot be done to hosts of a baseline-managed cluster: the management interface (vim25) has no
 * call for it, and ignoring it would promise what is not so (docs/spec-gaps.md, cluster kinds).
 */
export function optionsOfImages(options: HostRemediationOptions): readonly OptionOfImages[] {
  const all: readonly (OptionOfImages & { readonly isAsked: boolean })[] = [
    {
      option: "enforceHclValidation",
      title: "enforceHclValidation",
      reason: "hardware is validated only against images.",
      isAsked: options.enforceHclValidation === true,
    },
    {
      option: "enableQuickPatch",
      title: "enableQuickPatch",
      reason: "only images can be patched live.",
      isAsked: options.enableQuickPatch === true,
    },
    {
      option: "enableQuickboot",
      title: "enableQuickboot",
      reason: "only a remediation by image supports it.",
      isAsked: options.enableQuickboot === true,
    },
    {
      option: "preRemediationPowerAction",
      title: "preRemediationPowerAction SUSPEND_VMS_TO_MEMORY",
      reason: "only a remediation by image can suspend virtual machines to memory.",
      isAsked: options.preRemediationPowerAction === "SUSPEND_VMS_TO_MEMORY",
    },
  ];
  return all.filter(({ isAsked }) => isAsked);
}
