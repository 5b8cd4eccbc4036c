import * as t from "io-ts";
import { EitherOf, IntegerBetween, ListOf, model, OneOf, ResourceId, Text, TextThat } from "../codec";
import { Timestamp } from "../timestamp";
import { changeRecordFields, Reason } from "./change-record";

/** Kinds of resource that a request may name (Spec 2.1). Only CLUSTER is admitted (Spec 1). */
export const ResourceType = OneOf("DOMAIN", "CLUSTER", "UNASSIGNED_HOST");
export type ResourceType = t.TypeOf<typeof ResourceType>;

/** The package of a firmware add-on (Spec 2.2). */
export const HardwareSupportPackageSpec = model({}, { name: Text, version: Text });

/** One firmware add-on of a hardware support manager (Spec 2.2). */
export const HardwareSupportSpec = model({}, { name: Text, packageSpec: HardwareSupportPackageSpec });
export type HardwareSupportSpec = t.TypeOf<typeof HardwareSupportSpec>;

/** The image that an image-managed cluster is brought to, instead of the bundle's base image (Spec 2.2). */
export const PersonalitySpec = model(
  {},
  { personalityId: ResourceId, hardwareSupportSpecs: ListOf(HardwareSupportSpec) },
);
export type PersonalitySpec = t.TypeOf<typeof PersonalitySpec>;

/** The ISO that a baseline-managed cluster is brought to (Spec 2.2). */
export const CustomIsoSpec = model({}, { id: ResourceId });
export type CustomIsoSpec = t.TypeOf<typeof CustomIsoSpec>;

export const FailureAction = OneOf("FAIL", "RETRY");

/**
 * What to do when upgrading a host fails (Spec 2.2). `retryDelay` is in seconds. The bounds are those of the
 * component manager: up to an hour between attempts, up to 100 retries.
 */
export const HostosUpgradeFailureAction = model(
  {},
  {
    retryDelay: IntegerBetween(0, 3600, "seconds"),
    retryCount: IntegerBetween(0, 100, "retries"),
    action: FailureAction,
  },
);
export type HostosUpgradeFailureAction = t.TypeOf<typeof HostosUpgradeFailureAction>;

/** What happens to virtual machines that cannot be moved before a host enters maintenance mode (Spec 2.2). */
export const PreRemediationPowerAction = OneOf(
  "POWER_OFF_VMS",
  "SUSPEND_VMS",
  "DO_NOT_CHANGE_VMS_POWER_STATE",
  "SUSPEND_VMS_TO_MEMORY",
);
export type PreRemediationPowerAction = t.TypeOf<typeof PreRemediationPowerAction>;

/** How the hosts of a cluster are upgraded (Spec 2.2). */
export const HostosUpgradeOptionsSpec = model(
  {},
  {
    hostosUpgradeFailureAction: HostosUpgradeFailureAction,
    enforceHclValidation: t.boolean,
    enableQuickPatch: t.boolean,
    enableQuickboot: t.boolean,
    evacuateOfflineVms: t.boolean,
    disableHac: t.boolean,
    disableDpm: t.boolean,
    preRemediationPowerAction: PreRemediationPowerAction,
  },
);
export type HostosUpgradeOptionsSpec = t.TypeOf<typeof HostosUpgradeOptionsSpec>;

/** The hosts of a cluster that are upgraded, or that are not, by id or name; one of the two (docs/upgrades.md). */
export const HostsSpec = model(
  {},
  { include: ListOf(Text, { min: 1, max: 256 }), exclude: ListOf(Text, { min: 1, max: 256 }) },
);
export type HostsSpec = t.TypeOf<typeof HostsSpec>;

/** The numbers of a rollout policy, in requests and in the inventory (docs/decisions/0007). */
export const rolloutFields = {
  hostsAtOnce: IntegerBetween(1, 96, "hosts"),
  soakSeconds: IntegerBetween(0, 604_800, "seconds"),
  toleratedFailures: IntegerBetween(0, 128, "hosts"),
};

const percentage = /^(?:100|[1-9]?[0-9])%$/;

/** How many hosts of a cluster may fail without stopping it: a number, or a part of those in scope. */
export const ToleratedFailures = EitherOf(
  rolloutFields.toleratedFailures,
  TextThat("a percentage such as 10%", { pattern: percentage.source }, (text) => percentage.test(text)),
);
export type ToleratedFailures = t.TypeOf<typeof ToleratedFailures>;

/** What a request asks of the rollout of a cluster, within its rollout policy (docs/upgrades.md). */
export const RolloutSpec = model({}, { ...rolloutFields, toleratedFailures: ToleratedFailures });
export type RolloutSpec = t.TypeOf<typeof RolloutSpec>;

/** One resource to upgrade: which, when, to what and how (Spec 2.2). */
export const ResourceUpgradeSpec = model(
  { resourceId: ResourceId },
  {
    shutdownVms: t.boolean,
    toVersion: Text,
    scheduledTimestamp: Timestamp,
    upgradeNow: t.boolean,
    personalitySpec: PersonalitySpec,
    customIsoSpec: CustomIsoSpec,
    enableQuickboot: t.boolean,
    evacuateOfflineVms: t.boolean,
    hostosUpgradeOptionsSpec: HostosUpgradeOptionsSpec,
    hosts: HostsSpec,
    rollout: RolloutSpec,
  },
);
export type ResourceUpgradeSpec = t.TypeOf<typeof ResourceUpgradeSpec>;

/** How one host cluster is upgraded (Spec 2.3). */
export const NetvirtHostClusterUpgradeSpec = model(
  {},
  { hostClusterId: ResourceId, hostParallelUpgrade: t.boolean, liveUpgrade: t.boolean },
);

/** How one edge cluster is upgraded (Spec 2.3). */
export const NetvirtEdgeClusterUpgradeSpec = model({}, { edgeClusterId: ResourceId, edgeParallelUpgrade: t.boolean });

/** What holds for all clusters of a network virtualization upgrade (Spec 2.3). */
export const NetvirtUpgradeOptions = model(
  {},
  { isEdgeOnlyUpgrade: t.boolean, isHostClustersUpgradeParallel: t.boolean, isEdgeClustersUpgradeParallel: t.boolean },
);

/** Inputs of one network virtualization upgrade (Spec 2.3). */
export const NetvirtUpgradeUserInputSpec = model(
  {},
  {
    netvirtHostClusterUpgradeSpecs: ListOf(NetvirtHostClusterUpgradeSpec),
    netvirtEdgeClusterUpgradeSpecs: ListOf(NetvirtEdgeClusterUpgradeSpec),
    netvirtUpgradeOptions: NetvirtUpgradeOptions,
    netvirtId: ResourceId,
  },
);
export type NetvirtUpgradeUserInputSpec = t.TypeOf<typeof NetvirtUpgradeUserInputSpec>;

export const NetworkMode = OneOf("STATIC", "AUTOMATIC");

/** The address of a management server while it is being migrated (Spec 2.4). */
export const TemporaryNetwork = model(
  {},
  { networkMode: NetworkMode, ipAddress: Text, subnetMask: Text, gateway: Text },
);
export type TemporaryNetwork = t.TypeOf<typeof TemporaryNetwork>;

/** How a management server is upgraded (Spec 2.4). */
export const UpgradeMechanism = OneOf("ReducedDowntimeMigration", "InPlace");

/** Inputs of one management server upgrade (Spec 2.4). */
export const MgmtUpgradeUserInputSpec = model(
  {},
  {
    resourceId: ResourceId,
    upgradeMechanism: UpgradeMechanism,
    startSwitchoverTimestamp: Timestamp,
    temporaryNetwork: TemporaryNetwork,
  },
);
export type MgmtUpgradeUserInputSpec = t.TypeOf<typeof MgmtUpgradeUserInputSpec>;

/** What becomes of an upgrade with a cluster that fails its prechecks; FAIL where a request does not say. */
export const OnPrecheckFailure = OneOf("FAIL", "SKIP_RESOURCE");

/** What an upgrade makes of maintenance windows and change freezes of the inventory; absent means that it waits for them. */
export const MaintenanceChoice = OneOf("IGNORE");

/** The most clusters that one request may name (docs/spec-gaps.md, limits). */
export const maximumResources = 256;

/** What a client asks for: the body of `POST /v1/upgrades` (Spec 2.1). */
export const UpgradeSpec = model(
  {
    bundleId: ResourceId,
    resourceType: ResourceType,
    resourceUpgradeSpecs: ListOf(ResourceUpgradeSpec, { min: 1, max: maximumResources }),
  },
  {
    parallelUpgrade: t.boolean,
    draftMode: t.boolean,
    onPrecheckFailure: OnPrecheckFailure,
    netvirtUpgradeUserInputSpecs: ListOf(NetvirtUpgradeUserInputSpec),
    mgmtUpgradeUserInputSpecs: ListOf(MgmtUpgradeUserInputSpec),
    maintenanceWindow: MaintenanceChoice,
    ...changeRecordFields,
  },
);
export type UpgradeSpec = t.TypeOf<typeof UpgradeSpec>;

/** The new time of one management server's switchover. */
export const MgmtUpgradePatchSpec = model({ resourceId: ResourceId, startSwitchoverTimestamp: Timestamp }, {});
export type MgmtUpgradePatchSpec = t.TypeOf<typeof MgmtUpgradePatchSpec>;

/** The new times of switchovers; an empty list would say nothing, and so be a commit that nobody meant. */
export const MgmtUpgradePatchSpecs = ListOf(MgmtUpgradePatchSpec, { min: 1, max: 256 });

/**
 * What a client asks of an upgrade that has been accepted: the body of `PATCH /v1/upgrades/{id}`. Without a field it is
 * a plain commit; a time commits with it or reschedules; `mgmtUpgradePatchSpecs` alone changes times of switchovers and
 * commits nothing; `markForCancellation` cancels.
 */
export const UpgradeUpdateSpec = model(
  {},
  {
    scheduledTimestamp: Timestamp,
    upgradeNow: t.boolean,
    mgmtUpgradePatchSpecs: MgmtUpgradePatchSpecs,
    maintenanceWindow: MaintenanceChoice,
    reason: Reason,
    markForCancellation: t.boolean,
  },
);
export type UpgradeUpdateSpec = t.TypeOf<typeof UpgradeUpdateSpec>;

/** What an approver may say: the body of `POST /v1/upgrades/{id}/approve`. */
export const ApprovalSpec = model({}, { comment: Reason });

/** Why an upgrade is rejected: the body of `POST /v1/upgrades/{id}/reject`. */
export const RejectionSpec = model({ comment: Reason }, {});

/** What is left out of an upgrade, and why: the body of `POST /v1/upgrades/{id}/skip`. */
export const SkipSpec = model({ resourceId: ResourceId, reason: Reason }, { hostId: ResourceId });
export type SkipSpec = t.TypeOf<typeof SkipSpec>;

/** The most hosts that operators may leave out of one upgrade, and of one retry (docs/spec-gaps.md, limits). */
export const maximumSkippedHosts = 500;

const SomeResources = ListOf(ResourceId, { min: 1, max: maximumResources });

/** What a retry is about: the body of `POST /v1/upgrades/{id}/retry`. Without a field it is all that is not done. */
export const RetrySpec = model(
  {},
  {
    resourceIds: SomeResources,
    skipResources: SomeResources,
    skipHosts: ListOf(ResourceId, { min: 1, max: maximumSkippedHosts }),
    reason: Reason,
  },
);
export type RetrySpec = t.TypeOf<typeof RetrySpec>;

/** What counts of such a body: with `markForCancellation` true nothing else, so that a client can send its whole form. */
export function partThatCounts(body: unknown): unknown {
  const cancels =
    typeof body === "object" && body !== null && "markForCancellation" in body && body.markForCancellation === true;
  return cancels ? { markForCancellation: true } : body;
}
