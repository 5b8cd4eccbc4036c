import {
  ApprovalSpec,
  CustomIsoSpec,
  FailureAction,
  HardwareSupportPackageSpec,
  HardwareSupportSpec,
  HostosUpgradeFailureAction,
  HostosUpgradeOptionsSpec,
  HostsSpec,
  MgmtUpgradePatchSpec,
  MgmtUpgradeUserInputSpec,
  NetvirtEdgeClusterUpgradeSpec,
  NetvirtHostClusterUpgradeSpec,
  NetvirtUpgradeOptions,
  NetvirtUpgradeUserInputSpec,
  NetworkMode,
  OnPrecheckFailure,
  PersonalitySpec,
  PreRemediationPowerAction,
  RejectionSpec,
  RetrySpec,
  ResourceType,
  ResourceUpgradeSpec,
  RolloutSpec,
  SkipSpec,
  TemporaryNetwork,
  ToleratedFailures,
  UpgradeMechanism,
  UpgradeSpec,
  UpgradeUpdateSpec,
} from "../../../domain/spec/upgrade-spec";
import { type Component, enumeration, object, withoutOtherFields } from "../component";

/** Of an image-managed cluster. Baseline-managed ones have no policy of their own. */
const clusterPolicy = "Default: the remediation policy of the cluster, without one false.";
const imageManaged = "For image-managed clusters only.";
const quickboot = `Restart the hypervisor without restarting the hardware. ${imageManaged} ${clusterPolicy}`;
const offlineVms = `Also move virtual machines that are powered off to other hosts. ${clusterPolicy}`;
const notBefore = "An RFC 3339 time with a zone";

/** What requests say: of a new upgrade (Spec 2.1 to 2.4), and of one that has been accepted. */
export const requestModels = {
  UpgradeSpec: object(UpgradeSpec, "What to upgrade, to what, when and how.", {
    bundleId: "Id of the bundle to upgrade to, from `GET /v1/bundles`.",
    resourceType: "Type of the resources. Only `CLUSTER` is supported; others are refused with 403.",
    resourceUpgradeSpecs: "The clusters to upgrade, each at most once.",
    parallelUpgrade: "Whether clusters are upgraded in parallel. Default: true; false is refused with 403.",
    onPrecheckFailure: "What happens if a cluster fails its prechecks. Default: `FAIL`.",
    draftMode: "Run the prechecks and wait for a commit (`PATCH /v1/upgrades/{id}`). Default: false.",
    maintenanceWindow:
      "`IGNORE`: do not wait for maintenance windows and change freezes of the inventory. Needs the role `ADMIN` and a `reason`. Default: wait.",
    netvirtUpgradeUserInputSpecs: "Inputs for the NETVIRT instances of the clusters, each instance at most once.",
    mgmtUpgradeUserInputSpecs: "Inputs for the management servers of the clusters, each server at most once.",
    reason: "Why the upgrade is made, for people. Shown with the upgrade.",
    changeId: "Id of the change record in another system, such as a ticket. Lists are filtered and searched by it.",
    labels: "Up to 15 labels, each value by its name, such as `team` or `environment`. Lists are filtered by them.",
  }),
  ApprovalSpec: {
    ...object(ApprovalSpec, "What an approver says.", { comment: "A comment, for people." }),
    inFull: withoutOtherFields,
  },
  RejectionSpec: {
    ...object(RejectionSpec, "Why an upgrade is rejected.", { comment: "The reason, for people." }),
    inFull: withoutOtherFields,
  },
  SkipSpec: {
    ...object(SkipSpec, "What is left out of an upgrade, and why.", {
      resourceId: "Id of a cluster of the upgrade.",
      hostId: "Id or name of a host of the cluster. Absent: the whole cluster.",
      reason: "The reason, for people.",
    }),
    inFull: withoutOtherFields,
  },
  RetrySpec: {
    ...object(RetrySpec, "What to retry. Without fields: everything that is not done.", {
      resourceIds:
        "Ids of the resources to retry; others are not retried. A resource that an operator left out is taken back in. Resources of earlier products must be done, or named too.",
      skipResources: "Ids of clusters to leave out from now on.",
      skipHosts: "Ids or names of hosts to leave out from now on.",
      reason: "Why something is left out, for people.",
    }),
    inFull: withoutOtherFields,
  },
  OnPrecheckFailure: enumeration(OnPrecheckFailure, "What happens to an upgrade if a cluster fails its prechecks.", {
    FAIL: "Nothing is upgraded.",
    SKIP_RESOURCE:
      "That cluster is left out and the others are upgraded. The upgrade fails if no cluster is left, or if a NETVIRT instance or management server fails its prechecks.",
  }),
  ResourceType: enumeration(ResourceType, "Type of the resources that an upgrade names.", {
    DOMAIN: "All resources of a domain. Not supported.",
    CLUSTER: "A cluster of hosts.",
    UNASSIGNED_HOST: "A host without a cluster. Not supported.",
  }),
  ResourceUpgradeSpec: object(ResourceUpgradeSpec, "One resource to upgrade.", {
    resourceId: "Id of the cluster, from `GET /v1/clusters`.",
    shutdownVms:
      "Power off virtual machines before a host is upgraded, as `preRemediationPowerAction` `POWER_OFF_VMS` does. Default: false.",
    toVersion:
      "HOSTOS version to upgrade to, if the bundle has several: the bundle's version or the `toVersion` of a component. Default: that of the first HOSTOS component.",
    scheduledTimestamp: `${notBefore} before which the cluster is not upgraded. Default: immediately.`,
    upgradeNow:
      "True: upgrade immediately and ignore `scheduledTimestamp`. False needs a `scheduledTimestamp`. Default: true without a time.",
    personalitySpec: "Image to upgrade an image-managed cluster to. Default: the base image of the bundle.",
    customIsoSpec: "ISO to upgrade a baseline-managed cluster to. Default: the release of the bundle.",
    enableQuickboot: `${quickboot} The field of the same name in \`hostosUpgradeOptionsSpec\` takes precedence.`,
    evacuateOfflineVms: `${offlineVms} The field of the same name in \`hostosUpgradeOptionsSpec\` takes precedence.`,
    hostosUpgradeOptionsSpec: "How the hosts of the cluster are upgraded.",
    hosts: "The hosts of the cluster to upgrade. Default: all of them.",
    rollout: "How carefully the hosts are upgraded. Default: the rollout policy of the cluster in the inventory.",
  }),
  RolloutSpec: object(
    RolloutSpec,
    "How carefully the hosts of a cluster are upgraded. The rollout policy of the cluster in the inventory is the default and the limit of each field; beyond it is 403.",
    {
      hostsAtOnce: "How many hosts are out of service at once, at most as many as the policy allows.",
      soakSeconds:
        "Seconds to wait after each host, or group of hosts, before the next, at least as many as the policy requires.",
      toleratedFailures: "How many hosts may fail without stopping the cluster, at most as many as the policy allows.",
    },
  ),
  ToleratedFailures: {
    codec: ToleratedFailures,
    description: "A number of hosts, or a percentage of the hosts to upgrade in the cluster, rounded down.",
    fields: {},
  },
  HostsSpec: object(HostsSpec, "Which hosts of a cluster are upgraded: either `include` or `exclude`.", {
    include: "Ids or names of the hosts to upgrade, from `GET /v1/clusters/{id}`. Hosts that join later are left out.",
    exclude: "Ids or names of the hosts to leave out. Hosts that join later are upgraded.",
  }),
  PersonalitySpec: object(PersonalitySpec, "The target image of an image-managed cluster.", {
    personalityId: "Id of the image, from `GET /v1/personalities`.",
    hardwareSupportSpecs: "Firmware add-ons to install with the image.",
  }),
  HardwareSupportSpec: object(HardwareSupportSpec, "A firmware add-on of a hardware support manager.", {
    name: "Name of the hardware support manager.",
    packageSpec: "The package that it provides.",
  }),
  HardwareSupportPackageSpec: object(HardwareSupportPackageSpec, "A package of a hardware support manager.", {
    name: "Name of the package.",
    version: "Version of the package.",
  }),
  CustomIsoSpec: object(CustomIsoSpec, "The target ISO of a baseline-managed cluster.", {
    id: "Id of the ISO, from `GET /v1/isos`.",
  }),
  HostosUpgradeOptionsSpec: object(HostosUpgradeOptionsSpec, "How the hosts of a cluster are upgraded.", {
    hostosUpgradeFailureAction: "What to do when the upgrade of a host fails. Default: one attempt.",
    enforceHclValidation: `Refuse hosts whose hardware is not on the compatibility list. ${imageManaged} ${clusterPolicy}`,
    enableQuickPatch: `Patch hosts without a restart where the image allows it. ${imageManaged} ${clusterPolicy}`,
    enableQuickboot: quickboot,
    evacuateOfflineVms: offlineVms,
    disableHac: `Disable admission control of high availability during the upgrade and restore it afterwards. ${clusterPolicy}`,
    disableDpm: `Disable power management (DPM) during the upgrade and restore it afterwards. ${clusterPolicy}`,
    preRemediationPowerAction: `What to do with running virtual machines before a host enters maintenance mode. ${clusterPolicy.replace("false", "they are moved")}`,
  }),
  PreRemediationPowerAction: enumeration(
    PreRemediationPowerAction,
    "What to do with running virtual machines before a host enters maintenance mode.",
    {
      POWER_OFF_VMS: "Power them off.",
      SUSPEND_VMS: "Suspend them to disk.",
      DO_NOT_CHANGE_VMS_POWER_STATE: "Move them to other hosts while they run.",
      SUSPEND_VMS_TO_MEMORY: "Suspend them to memory and resume them on the same host. Image-managed clusters only.",
    },
  ),
  HostosUpgradeFailureAction: object(
    HostosUpgradeFailureAction,
    "What to do when the upgrade of a host fails. NETVIRT instances and management servers use the strictest one of their clusters.",
    {
      retryDelay: "Seconds to wait before another attempt, with the action `RETRY`. Default: 300.",
      retryCount: "Number of further attempts, with the action `RETRY`. Default: 3.",
      action: "Whether to try again. Default: `FAIL`.",
    },
  ),
  FailureAction: enumeration(FailureAction, "Whether to try again after a failure.", {
    FAIL: "The first failure is final.",
    RETRY: "Try again, up to `retryCount` times.",
  }),
  NetvirtUpgradeUserInputSpec: object(NetvirtUpgradeUserInputSpec, "Inputs of a network virtualization upgrade.", {
    netvirtHostClusterUpgradeSpecs: "The host clusters to upgrade, and how. An empty list upgrades none. Default: all.",
    netvirtEdgeClusterUpgradeSpecs: "The edge clusters to upgrade, and how. An empty list upgrades none. Default: all.",
    netvirtUpgradeOptions: "What applies to all clusters of the NETVIRT instance.",
    netvirtId: "Id of the NETVIRT instance, from `GET /v1/netvirt`. Optional if there is only one.",
  }),
  NetvirtHostClusterUpgradeSpec: object(NetvirtHostClusterUpgradeSpec, "How one host cluster is upgraded.", {
    hostClusterId: "Id or name of the host cluster, from `GET /v1/clusters` or `hostClusters` of `GET /v1/netvirt`.",
    hostParallelUpgrade:
      "Whether hosts of this cluster are upgraded in parallel. Default: the setting of the coordinator.",
    liveUpgrade:
      "Whether hosts are upgraded in place, without maintenance mode and restart. Default: the setting of the coordinator.",
  }),
  NetvirtEdgeClusterUpgradeSpec: object(NetvirtEdgeClusterUpgradeSpec, "How one edge cluster is upgraded.", {
    edgeClusterId: "Id or name of the edge cluster, from `edgeClusters` of `GET /v1/netvirt`.",
    edgeParallelUpgrade:
      "Whether edge nodes of this cluster are upgraded in parallel. Must be the fixed value of the coordinator.",
  }),
  NetvirtUpgradeOptions: object(NetvirtUpgradeOptions, "What applies to all clusters of a NETVIRT instance.", {
    isEdgeOnlyUpgrade: "Whether only edge clusters are upgraded, neither managers nor hosts. Default: false.",
    isHostClustersUpgradeParallel:
      "Whether host clusters are upgraded in parallel. Default: the setting of the coordinator.",
    isEdgeClustersUpgradeParallel:
      "Whether edge clusters are upgraded in parallel. Default: the setting of the coordinator.",
  }),
  MgmtUpgradeUserInputSpec: object(MgmtUpgradeUserInputSpec, "Inputs of a management server upgrade.", {
    resourceId: "Id of the management server, from `GET /v1/management-servers`. Optional if there is only one.",
    upgradeMechanism:
      "How the server is upgraded. Default: `ReducedDowntimeMigration` with a switchover time or temporary network, else `InPlace`.",
    startSwitchoverTimestamp: `${notBefore} at which the migrated server takes over, with \`ReducedDowntimeMigration\` only. Default: as soon as it is ready.`,
    temporaryNetwork: "Address of the server while it is migrated, with `ReducedDowntimeMigration` only.",
  }),
  UpgradeMechanism: enumeration(UpgradeMechanism, "How a management server is upgraded.", {
    ReducedDowntimeMigration: "Data is copied to a new server, which takes over at the switchover.",
    InPlace: "The server installs the new version and restarts.",
  }),
  TemporaryNetwork: object(TemporaryNetwork, "The address of a management server while it is being migrated.", {
    networkMode: "Where the address comes from.",
    ipAddress: "IPv4 address, with the mode `STATIC` only.",
    subnetMask: "Subnet mask, such as `255.255.255.0`, with the mode `STATIC` only.",
    gateway: "IPv4 address of the gateway, with the mode `STATIC` only.",
  }),
  NetworkMode: enumeration(NetworkMode, "Where a temporary address comes from.", {
    STATIC: "From the request.",
    AUTOMATIC: "Chosen by the product.",
  }),
  UpgradeUpdateSpec: {
    ...object(
      UpgradeUpdateSpec,
      "Commits a draft, reschedules an upgrade or a switchover, or cancels the upgrade. Without fields: a plain commit. Fields that are not listed are refused, unless `markForCancellation` is true.",
      {
        scheduledTimestamp: `${notBefore}: commits a draft for this time, or reschedules a scheduled upgrade.`,
        upgradeNow:
          "True: commits a draft, or starts a scheduled upgrade, immediately. False needs a `scheduledTimestamp`.",
        mgmtUpgradePatchSpecs: "New switchover times of management servers. Alone, it commits nothing.",
        maintenanceWindow:
          "`IGNORE`: from now on the upgrade does not wait for maintenance windows and change freezes, also where it waits or has begun. Commits a draft; keeps the time of a scheduled upgrade. Needs the role `ADMIN` and a `reason`.",
        reason: "Why maintenance windows are ignored, for people. Only with `maintenanceWindow`.",
        markForCancellation:
          "True: cancels the upgrade, and everything else in the request is ignored. Default: false.",
      },
    ),
    inFull: withoutOtherFields,
  },
  MgmtUpgradePatchSpec: {
    ...object(MgmtUpgradePatchSpec, "New switchover time of one management server.", {
      resourceId: "Id of the management server.",
      startSwitchoverTimestamp: `${notBefore} at which the migrated server takes over.`,
    }),
    inFull: withoutOtherFields,
  },
} satisfies Readonly<Record<string, Component>>;
