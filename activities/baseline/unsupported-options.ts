import type { HostRemediationOptions } from "../../src/domain/host-remediation";

/** An option that the management interface has nothing for, and why. */
interface UnsupportedOption {
  readonly option: string;
  readonly reason: string;
}

/** What of the options cannot be done to hosts of a baseline-managed cluster; ignoring it would promise what is not so. */
export function unsupportedOptions(options: HostRemediationOptions): UnsupportedOption[] {
  const unsupported: [boolean, UnsupportedOption][] = [
    [
      options.preRemediationPowerAction === "SUSPEND_VMS_TO_MEMORY",
      {
        option: "preRemediationPowerAction SUSPEND_VMS_TO_MEMORY",
        reason: "only a remediation by image can suspend virtual machines to memory.",
      },
    ],
    [
      options.enableQuickboot === true,
      { option: "enableQuickboot", reason: "only a remediation by image can restart a host so." },
    ],
    [
      options.enforceHclValidation === true,
      { option: "enforceHclValidation", reason: "hardware is validated against images only." },
    ],
    [options.enableQuickPatch === true, { option: "enableQuickPatch", reason: "only images can be patched live." }],
  ];
  return unsupported.filter(([isAsked]) => isAsked).map(([, option]) => option);
}
