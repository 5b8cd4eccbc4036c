/**
 * What the tables of the interface specification say of a field: its type, the name of its model, its values, what a
 * list holds, or the fields of an object that has no name.
 */
export type Specified =
  | "string"
  | "boolean"
  | "integer"
  | "number"
  | "object"
  | (typeof modelNames)[number]
  | { readonly oneOf: readonly string[] }
  | { readonly list: Specified }
  | { readonly fields: SpecifiedFields };

/** Fields by name; `!` after the name says that the field is required. */
export type SpecifiedFields = Readonly<Record<string, Specified>>;

/** The models that the specification names (its 2.1 to 2.7 and 7). */
export const modelNames = [
  "UpgradeSpec",
  "ResourceUpgradeSpec",
  "PersonalitySpec",
  "HardwareSupportSpec",
  "CustomIsoSpec",
  "HostosUpgradeOptionsSpec",
  "NetvirtUpgradeUserInputSpec",
  "MgmtUpgradeUserInputSpec",
  "Task",
  "SubTask",
  "Stage",
  "TaskResource",
  "Upgrade",
  "Bundle",
  "BundleComponent",
  "PageOfUpgrade",
  "Error",
] as const;

const oneOf = (...values: string[]): Specified => ({ oneOf: values });
const list = (element: Specified): Specified => ({ list: element });
const fields = (of: SpecifiedFields): Specified => ({ fields: of });

const resourceType = oneOf("DOMAIN", "CLUSTER", "UNASSIGNED_HOST");
const times = { creationTimestamp: "string", completionTimestamp: "string" } as const;

/** Optional fields of ours that the tables do not have (docs/spec-gaps.md, "state as data"). */
export const furtherFields: Readonly<Record<string, readonly string[]>> = {
  UpgradeSpec: ["onPrecheckFailure", "maintenanceWindow", "reason", "changeId", "labels"],
  Task: [
    "waitingFor",
    "lateSeconds",
    "maintenanceWindow",
    "maintenanceOverride",
    "reason",
    "changeId",
    "labels",
    "warnings",
    "asOf",
  ],
  Upgrade: [
    ...["name", "phase", "since", "until", "waitingFor", "createdAt", "createdBy", "committedAt", "committedBy"],
    ...[
      "beginsAt",
      "startedAt",
      "windowClosesAt",
      "workSeconds",
      "workingSince",
      "hosts",
      "expectedEnd",
      "decideBy",
      "versions",
    ],
    ...["hostVersions", "resources", "draftMode", "netvirtUpgradeUserInputSpecs", "mgmtUpgradeUserInputSpecs"],
    ...["maintenanceWindow", "maintenanceOverride"],
    ...["reason", "changeId", "labels", "approvals", "findings", "warnings", "errors", "leftOut"],
  ],
  ResourceUpgradeSpec: ["hosts", "rollout"],
  Stage: ["findings"],
  SubTask: [
    ...["waitingFor", "reasonCode", "isPaused", "attempt", "maximumAttempts", "progressPercent", "isTruncated"],
    "hostState",
  ],
};

/** The tables, typed out of the specification. */
export const specifiedModels: Readonly<Record<(typeof modelNames)[number], SpecifiedFields>> = {
  UpgradeSpec: {
    "bundleId!": "string",
    "resourceType!": resourceType,
    parallelUpgrade: "boolean",
    draftMode: "boolean",
    "resourceUpgradeSpecs!": list("ResourceUpgradeSpec"),
    netvirtUpgradeUserInputSpecs: list("NetvirtUpgradeUserInputSpec"),
    mgmtUpgradeUserInputSpecs: list("MgmtUpgradeUserInputSpec"),
  },
  ResourceUpgradeSpec: {
    "resourceId!": "string",
    shutdownVms: "boolean",
    toVersion: "string",
    scheduledTimestamp: "string",
    upgradeNow: "boolean",
    personalitySpec: "PersonalitySpec",
    customIsoSpec: "CustomIsoSpec",
    enableQuickboot: "boolean",
    evacuateOfflineVms: "boolean",
    hostosUpgradeOptionsSpec: "HostosUpgradeOptionsSpec",
  },
  PersonalitySpec: { personalityId: "string", hardwareSupportSpecs: list("HardwareSupportSpec") },
  HardwareSupportSpec: { name: "string", packageSpec: fields({ name: "string", version: "string" }) },
  CustomIsoSpec: { id: "string" },
  HostosUpgradeOptionsSpec: {
    hostosUpgradeFailureAction: fields({
      retryDelay: "integer",
      retryCount: "integer",
      action: oneOf("FAIL", "RETRY"),
    }),
    enforceHclValidation: "boolean",
    enableQuickPatch: "boolean",
    enableQuickboot: "boolean",
    evacuateOfflineVms: "boolean",
    disableHac: "boolean",
    disableDpm: "boolean",
    preRemediationPowerAction: oneOf(
      "POWER_OFF_VMS",
      "SUSPEND_VMS",
      "DO_NOT_CHANGE_VMS_POWER_STATE",
      "SUSPEND_VMS_TO_MEMORY",
    ),
  },
  NetvirtUpgradeUserInputSpec: {
    netvirtHostClusterUpgradeSpecs: list(
      fields({ hostClusterId: "string", hostParallelUpgrade: "boolean", liveUpgrade: "boolean" }),
    ),
    netvirtEdgeClusterUpgradeSpecs: list(fields({ edgeClusterId: "string", edgeParallelUpgrade: "boolean" })),
    netvirtUpgradeOptions: fields({
      isEdgeOnlyUpgrade: "boolean",
      isHostClustersUpgradeParallel: "boolean",
      isEdgeClustersUpgradeParallel: "boolean",
    }),
    netvirtId: "string",
  },
  MgmtUpgradeUserInputSpec: {
    resourceId: "string",
    upgradeMechanism: oneOf("ReducedDowntimeMigration", "InPlace"),
    startSwitchoverTimestamp: "string",
    temporaryNetwork: fields({
      networkMode: oneOf("STATIC", "AUTOMATIC"),
      ipAddress: "string",
      subnetMask: "string",
      gateway: "string",
    }),
  },
  Task: {
    "id!": "string",
    "name!": "string",
    localizableDescriptionPack: fields({
      component: "string",
      messageKey: "string",
      arguments: list("string"),
      message: "string",
      bundle: "string",
    }),
    type: "string",
    "status!": oneOf(
      "PENDING",
      "Pending",
      "IN_PROGRESS",
      "In Progress",
      "SUCCESSFUL",
      "Successful",
      "FAILED",
      "Failed",
      "CANCELLED",
      "Cancelled",
      "COMPLETED_WITH_WARNING",
      "SKIPPED",
    ),
    "creationTimestamp!": "string",
    completionTimestamp: "string",
    subTasks: list("SubTask"),
    errors: list("Error"),
    resources: list("TaskResource"),
    resolutionStatus: oneOf("RESOLVED", "UNRESOLVED"),
    isCancellable: "boolean",
    isRetryable: "boolean",
  },
  SubTask: {
    name: "string",
    type: "string",
    description: "string",
    status: oneOf("PENDING", "IN_PROGRESS", "SUCCESSFUL", "FAILED", "NOT_APPLICABLE"),
    ...times,
    stages: list("Stage"),
    errors: list("Error"),
    resources: list("TaskResource"),
    subTasks: list("SubTask"),
  },
  Stage: {
    name: "string",
    type: "string",
    description: "string",
    status: oneOf("PENDING", "IN_PROGRESS", "SUCCESSFUL", "FAILED"),
    ...times,
    errors: list("Error"),
  },
  TaskResource: {
    resourceId: "string",
    fqdn: "string",
    type: oneOf(
      "SDDC_MANAGER",
      "PSC",
      "MGMT_SERVER",
      "NETVIRT_MANAGER",
      "NETVIRTT_MANAGER",
      "VRA",
      "VRLI",
      "VROPS",
      "VRSLCM",
      "HCI_MANAGER",
      "NETVIRT_ALB",
      "HOSTOS_HOST",
    ),
    name: "string",
    sans: list("string"),
  },
  Upgrade: {
    id: "string",
    bundleId: "string",
    resourceType,
    parallelUpgrade: "boolean",
    resourceUpgradeSpecs: list("ResourceUpgradeSpec"),
    status: "string",
    taskId: "string",
    netvirtUpgradeUserInputSpec: "NetvirtUpgradeUserInputSpec",
    bundle: "Bundle",
    endTime: "integer",
  },
  Bundle: {
    id: "string",
    type: oneOf("SDDC_MANAGER", "VENDOR_SOFTWARE", "HCI"),
    description: "string",
    version: "string",
    severity: oneOf("CRITICAL", "IMPORTANT", "MODERATE", "LOW"),
    vendor: "string",
    releasedDate: "string",
    isCumulative: "boolean",
    isCompliant: "boolean",
    sizeMB: "number",
    downloadStatus: oneOf("PENDING", "SCHEDULED", "IN_PROGRESS", "SUCCESSFUL", "FAILED", "RECALLED"),
    components: list("BundleComponent"),
    applicabilityStatus: oneOf("SUCCESS", "IN_PROGRESS", "FAILED", "AVAILABLE", "PENDING"),
    applicabilityOrder: "integer",
    isPartiallyUpgraded: "boolean",
  },
  BundleComponent: {
    description: "string",
    vendor: "string",
    releasedDate: "string",
    toVersion: "string",
    fromVersion: "string",
    id: "string",
    type: "string",
    imageType: oneOf("PATCH", "INSTALL"),
  },
  PageOfUpgrade: {
    elements: list("Upgrade"),
    pageMetadata: fields({
      pageNumber: "integer",
      pageSize: "integer",
      totalElements: "integer",
      totalPages: "integer",
    }),
  },
  Error: {
    errorCode: "string",
    errorType: "string",
    arguments: list("string"),
    context: "object",
    message: "string",
    remediationMessage: "string",
    causes: list(fields({ type: "string", message: "string" })),
    nestedErrors: list("Error"),
    referenceToken: "string",
  },
};

/** The operations of the specification (its 4 and 7). */
export const specifiedOperations = {
  "post /v1/upgrades": { body: "UpgradeSpec", query: [], success: { status: "202", body: "Task" } },
  "get /v1/upgrades": {
    body: undefined,
    query: ["status", "bundleId", "bundleType"],
    success: { status: "200", body: "PageOfUpgrade" },
  },
} as const;

/** Their failures, each with an Error. */
export const specifiedFailures = {
  "post /v1/upgrades": ["400", "403", "424", "500"],
  "get /v1/upgrades": ["400", "404", "500"],
} as const;
