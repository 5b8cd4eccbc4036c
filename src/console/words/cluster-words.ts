import type { ResourceUpgradeSpec } from "../../domain/upgrade-spec";
import type { WordsOf } from "./field-words";

/** The fields of a cluster (Spec 2.2). */
export const clusterWords: WordsOf<Omit<ResourceUpgradeSpec, "resourceId">> = {
  upgradeNow: { label: "As soon as possible", hint: "Wins over a time that is given beside it." },
  scheduledTimestamp: { label: "Not before", hint: "In the time of this browser." },
  toVersion: {
    label: "Version",
    hint: "Only where the bundle has several. Empty: the version of the bundle.",
  },
  personalitySpec: {
    label: "Image",
    hint: "For image-managed clusters, instead of the plain image of the bundle.",
    fields: {
      personalityId: { label: "Image id", hint: "The id of a personality in the inventory.", ids: "PERSONALITIES" },
      hardwareSupportSpecs: {
        label: "Firmware",
        hint: "Packages that a hardware support manager installs with the image.",
        element: "a firmware package",
        fields: {
          name: { label: "Hardware support manager", hint: "The name under which it is registered." },
          packageSpec: {
            label: "Package",
            hint: "What it installs.",
            fields: {
              name: { label: "Package name", hint: "As the hardware support manager lists it." },
              version: { label: "Package version", hint: "As the hardware support manager lists it." },
            },
          },
        },
      },
    },
  },
  customIsoSpec: {
    label: "ISO",
    hint: "For baseline-managed clusters, instead of the patch of the bundle.",
    fields: { id: { label: "ISO id", hint: "The id of an ISO in the inventory.", ids: "ISOS" } },
  },
  hostosUpgradeOptionsSpec: {
    label: "How hosts are upgraded",
    hint: "What is left as it is follows the settings of the cluster in its component manager.",
    fields: {
      hostosUpgradeFailureAction: {
        label: "When something fails",
        hint: "Holds for hosts, and for network virtualization and management servers too.",
        fields: {
          action: {
            label: "Then",
            hint: "Without a choice it stops.",
            values: { FAIL: "Stop this cluster", RETRY: "Try again" },
          },
          retryCount: { label: "How often", hint: "0 to 100 times more; empty: 3. Only for trying again." },
          retryDelay: {
            label: "After how many seconds",
            hint: "0 to 3600 between two tries; empty: 300. Only for trying again.",
          },
        },
      },
      preRemediationPowerAction: {
        label: "Machines that stay on a host",
        hint: "What happens to virtual machines that cannot be moved before their host is taken out of service.",
        values: {
          DO_NOT_CHANGE_VMS_POWER_STATE: "Leave them running",
          POWER_OFF_VMS: "Power them off",
          SUSPEND_VMS: "Suspend them to disk",
          SUSPEND_VMS_TO_MEMORY: "Suspend them to memory (image-managed only)",
        },
      },
      enforceHclValidation: {
        label: "Check hardware compatibility",
        hint: "Hosts whose hardware is not on the compatibility list are not upgraded. Image-managed only.",
      },
      enableQuickPatch: {
        label: "Patch live",
        hint: "Without leaving service; hosts that cannot be patched so are not upgraded. Image-managed only.",
      },
      enableQuickboot: {
        label: "Quick boot",
        hint: "Restart hosts without their firmware's start. Image-managed only.",
      },
      evacuateOfflineVms: {
        label: "Move machines that are off",
        hint: "Also move powered-off and suspended virtual machines to other hosts.",
      },
      disableHac: {
        label: "Switch off admission control",
        hint: "High availability lets machines start on fewer hosts meanwhile. Put back afterwards.",
      },
      disableDpm: {
        label: "Switch off power management",
        hint: "No host is sent to standby meanwhile. Put back afterwards.",
      },
    },
  },
  shutdownVms: {
    label: "Shut machines down",
    hint: "The older way to power off the machines that stay on a host.",
  },
  enableQuickboot: { label: "Quick boot", hint: "The older place; the option of the same name above wins." },
  evacuateOfflineVms: {
    label: "Move machines that are off",
    hint: "The older place; the option of the same name above wins.",
  },
};
