import type {
  MgmtUpgradeUserInputSpec,
  NetvirtUpgradeUserInputSpec,
  ResourceUpgradeSpec,
  UpgradeSpec,
} from "../../domain/spec/upgrade-spec";
import type { IdList } from "../model/known-ids";

/**
 * What the form says of each field of a model, in plain words: a label, a hint, and what the spellings of an enumeration
 * or the parts of an object mean. Made from the model's type, so that a field without words does not compile.
 */
type WordsOf<T> = { readonly [K in keyof T]-?: FieldWords<NonNullable<T[K]>> };

type FieldWords<T> = Plain & Particular<T>;

interface Plain {
  readonly label: string;
  readonly hint: string;
  /** The list whose ids this field accepts. */
  readonly ids?: IdList;
}

type Particular<T> = [T] extends [boolean]
  ? unknown
  : [T] extends [string]
    ? string extends T
      ? unknown
      : { readonly values: Readonly<Record<T, string>> }
    : [T] extends [readonly (infer E)[]]
      ? ListWords & { readonly fields: WordsOf<E> }
      : [T] extends [object]
        ? { readonly fields: WordsOf<T> }
        : unknown;

interface ListWords {
  /** What one element is called, with its article: "a firmware package". */
  readonly element: string;
  /** What an empty list means, where it is not the same as none. */
  readonly empty?: string;
}

/** The words of any field, for those who show fields without knowing their model. */
export interface AnyWords extends Plain, Partial<ListWords> {
  readonly values?: Readonly<Record<string, string>>;
  readonly fields?: Readonly<Record<string, AnyWords>>;
}

/** The fields of a cluster (Spec 2.2). */
export const clusterWords: WordsOf<Omit<ResourceUpgradeSpec, "resourceId" | "hosts">> = {
  upgradeNow: { label: "As soon as possible", hint: "Overrides a time." },
  scheduledTimestamp: { label: "Not before", hint: "In this browser's time zone." },
  toVersion: {
    label: "Version",
    hint: "Only if the bundle has several. Empty: the version of the bundle.",
  },
  personalitySpec: {
    label: "Image",
    hint: "For image-managed clusters, instead of the bundle's base image.",
    fields: {
      personalityId: { label: "Which image", hint: "A personality of the inventory.", ids: "PERSONALITIES" },
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
    fields: { id: { label: "Which ISO", hint: "An ISO of the inventory.", ids: "ISOS" } },
  },
  rollout: {
    label: "Rollout",
    hint: "Empty fields keep the rollout policy of the cluster, which is also the limit.",
    fields: {
      hostsAtOnce: { label: "Hosts at once", hint: "At most as many as the policy." },
      soakSeconds: { label: "Seconds between hosts", hint: "At least as many as the policy." },
      toleratedFailures: {
        label: "Hosts that may fail",
        hint: "A number or a percentage such as 10%, at most that of the policy. The cluster goes on with its next hosts.",
      },
    },
  },
  hostosUpgradeOptionsSpec: {
    label: "How hosts are upgraded",
    hint: "Empty fields keep the cluster's settings in its component manager.",
    fields: {
      hostosUpgradeFailureAction: {
        label: "When something fails",
        hint: "Applies to hosts, network virtualization and management servers.",
        fields: {
          action: {
            label: "Then",
            hint: "Default: stop.",
            values: { FAIL: "Stop this cluster", RETRY: "Try again" },
          },
          retryCount: { label: "How often", hint: "0 to 100 further attempts; empty: 3. Only when retrying." },
          retryDelay: {
            label: "Seconds between attempts",
            hint: "0 to 3600; empty: 300. Only when retrying.",
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
        hint: "Hosts stay in service; hosts that cannot be patched live are not upgraded. Image-managed only.",
      },
      enableQuickboot: {
        label: "Quick boot",
        hint: "Restart hosts without restarting their hardware. Image-managed only.",
      },
      evacuateOfflineVms: {
        label: "Move machines that are off",
        hint: "Also move powered-off and suspended virtual machines to other hosts.",
      },
      disableHac: {
        label: "Switch off admission control",
        hint: "High availability reserves no capacity during the upgrade. Restored afterwards.",
      },
      disableDpm: {
        label: "Switch off power management",
        hint: "No host goes to standby during the upgrade. Restored afterwards.",
      },
    },
  },
  shutdownVms: {
    label: "Shut machines down",
    hint: "Deprecated way to power off the machines that stay on a host.",
  },
  enableQuickboot: { label: "Quick boot", hint: "Deprecated; the option of the same name above takes precedence." },
  evacuateOfflineVms: {
    label: "Move machines that are off",
    hint: "Deprecated; the option of the same name above takes precedence.",
  },
};

const netvirtWords: WordsOf<NetvirtUpgradeUserInputSpec> = {
  netvirtId: {
    label: "Which instance",
    hint: "Leave empty if the chosen clusters have only one.",
    ids: "NETVIRT",
  },
  netvirtUpgradeOptions: {
    label: "Order",
    hint: "Empty fields keep the settings of the upgrade coordinator.",
    fields: {
      isEdgeOnlyUpgrade: { label: "Edges only", hint: "Do not upgrade hosts." },
      isHostClustersUpgradeParallel: {
        label: "Host clusters in parallel",
        hint: "Otherwise one host cluster after another.",
      },
      isEdgeClustersUpgradeParallel: {
        label: "Edge clusters in parallel",
        hint: "Otherwise one edge cluster after another.",
      },
    },
  },
  netvirtHostClusterUpgradeSpecs: {
    label: "Host clusters",
    hint: "None: all are upgraded. Otherwise only these.",
    element: "a host cluster",
    empty: "Upgrade no host cluster",
    fields: {
      hostClusterId: {
        label: "Which host cluster",
        hint: "As its upgrade coordinator lists it.",
        ids: "HOST_CLUSTERS",
      },
      hostParallelUpgrade: { label: "Its hosts in parallel", hint: "Otherwise one host after another." },
      liveUpgrade: { label: "In place", hint: "Hosts stay in service." },
    },
  },
  netvirtEdgeClusterUpgradeSpecs: {
    label: "Edge clusters",
    hint: "None: all are upgraded. Otherwise only these.",
    element: "an edge cluster",
    empty: "Upgrade no edge cluster",
    fields: {
      edgeClusterId: {
        label: "Which edge cluster",
        hint: "As its upgrade coordinator lists it.",
        ids: "EDGE_CLUSTERS",
      },
      edgeParallelUpgrade: { label: "Its edges in parallel", hint: "Otherwise one edge after another." },
    },
  },
};

const mgmtWords: WordsOf<MgmtUpgradeUserInputSpec> = {
  resourceId: {
    label: "Which server",
    hint: "Leave empty if the chosen clusters have only one.",
    ids: "MANAGEMENT_SERVERS",
  },
  upgradeMechanism: {
    label: "How",
    hint: "Default: migration if a switchover time or temporary network is given, otherwise in place.",
    values: {
      InPlace: "In place: the server is unavailable during the upgrade",
      ReducedDowntimeMigration: "Migration: a new server takes over",
    },
  },
  startSwitchoverTimestamp: {
    label: "Earliest switchover",
    hint: "In this browser's time zone. Migration only; empty: as soon as it is prepared.",
  },
  temporaryNetwork: {
    label: "Temporary network",
    hint: "The address of the new server until it takes over. Migration only.",
    fields: {
      networkMode: {
        label: "Address",
        hint: "If automatic, nothing else is needed.",
        values: { AUTOMATIC: "Chosen automatically", STATIC: "As given here" },
      },
      ipAddress: { label: "IP address", hint: "IPv4, such as 192.0.2.10. Only with a given address." },
      subnetMask: { label: "Subnet mask", hint: "Such as 255.255.255.0. Only with a given address." },
      gateway: { label: "Gateway", hint: "In the same subnet. Only with a given address." },
    },
  },
};

/** The fields of a request beside bundle and clusters (Spec 2.1, 2.3, 2.4). */
export const requestWords: WordsOf<Omit<UpgradeSpec, "bundleId" | "resourceType" | "resourceUpgradeSpecs">> = {
  draftMode: {
    label: "As a draft",
    hint: "Prechecks run now; nothing else happens until an operator commits it.",
  },
  parallelUpgrade: {
    label: "In parallel",
    hint: "The service upgrades clusters only in parallel.",
  },
  onPrecheckFailure: {
    label: "Leave out clusters that fail their prechecks",
    hint: "The others are upgraded. Otherwise nothing is.",
    values: { FAIL: "Upgrade nothing", SKIP_RESOURCE: "Leave it out, upgrade the others" },
  },
  maintenanceWindow: {
    label: "Maintenance windows",
    hint: "To ignore them needs the role ADMIN and a reason below.",
    values: { IGNORE: "Ignore them, and change freezes" },
  },
  netvirtUpgradeUserInputSpecs: {
    label: "Network virtualization",
    hint: "The bundle has a new version of it. Without inputs the settings of its upgrade coordinator apply.",
    element: "inputs for an instance",
    fields: netvirtWords,
  },
  mgmtUpgradeUserInputSpecs: {
    label: "Management servers",
    hint: "The bundle has a new version of them. Without inputs they are upgraded in place.",
    element: "inputs for a server",
    fields: mgmtWords,
  },
  reason: { label: "Reason", hint: "Why it is made, for people." },
  changeId: { label: "Change id", hint: "Of a change record or ticket, such as CHG0012345." },
  labels: { label: "Labels", hint: "Such as team=blue, environment=production.", fields: {} },
};
