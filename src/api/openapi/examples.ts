import type { AcknowledgementSpec } from "../../domain/spec/finding";
import type { PageOfActivity } from "../../domain/activity/upgrade-activity";
import type { ErrorBody } from "../../domain/errors";
import type { FreezeSpec, FreezeStatus } from "../../domain/freeze";
import type { Hold, HoldSpec, PageOfHold } from "../../domain/hold";
import { type ClusterFacts, defaultRolloutPolicy } from "../../domain/plan/facts";
import { planUpgrade } from "../../domain/plan/plan-upgrade";
import { previewOf } from "../../domain/plan/preview";
import { initialUpgrade } from "../../domain/upgrade/upgrade-facts";
import { resourcesOf } from "../../domain/plan/upgrade-plan";
import type { PageOfReadinessSchedule, ReadinessSpec } from "../../domain/readiness/readiness-spec";
import { newReadiness, readinessId, readinessPlan, readinessTask } from "../../domain/readiness/readiness-task";
import type { Bundle, PageOfBundle } from "../../domain/spec/bundle";
import type { Cluster, PageOfCluster } from "../../domain/spec/cluster";
import type {
  PageOfIso,
  PageOfManagementServer,
  PageOfNetvirtInstance,
  PageOfPersonality,
} from "../../domain/spec/installations";
import type { PageOfTask, Task } from "../../domain/spec/task";
import { type PageOfUpgrade, PublishedPhase, type Upgrade } from "../../domain/spec/upgrade";
import type { UpgradeCounts } from "../../domain/upgrade/attention";
import type { RetrySpec, SkipSpec, UpgradeSpec, UpgradeUpdateSpec } from "../../domain/spec/upgrade-spec";
import { precheckTask } from "../../domain/task/prechecks";
import { applyProgress, initialTask } from "../../domain/task/task-progress";
import { defaultActivityWaits } from "../../domain/time-limits";

const id = "6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11";

/** A request for two clusters of the shipped inventory, one at once and one at a later time. */
export const upgradeSpecExample: UpgradeSpec = {
  bundleId: "7d1c1f6e-3a52-4f0e-9c11-5c0a90020002",
  resourceType: "CLUSTER",
  parallelUpgrade: true,
  draftMode: false,
  resourceUpgradeSpecs: [
    {
      resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000034",
      upgradeNow: true,
      hostosUpgradeOptionsSpec: {
        hostosUpgradeFailureAction: { retryDelay: 300, retryCount: 3, action: "RETRY" },
        enforceHclValidation: true,
        enableQuickboot: true,
        preRemediationPowerAction: "DO_NOT_CHANGE_VMS_POWER_STATE",
      },
    },
    { resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000021", scheduledTimestamp: "2036-12-01T09:30:00.000Z" },
  ],
};

/** A bundle that holds HOSTOS. */
export const bundleExample: Bundle = {
  id: upgradeSpecExample.bundleId,
  type: "VENDOR_SOFTWARE",
  version: "9.0.2",
  severity: "CRITICAL",
  downloadStatus: "SUCCESSFUL",
  components: [{ id: "hostos-9.0.2", type: "HOSTOS", toVersion: "9.0.2-0.25148076", imageType: "PATCH" }],
};

function clusterFacts(number: string, name: string): ClusterFacts {
  const [resourceId, cluster] = [`4a6c1a1e-51b2-4d3c-9e0f-0000000000${number}`, `domain-c${number}`];
  return {
    resourceId,
    name,
    componentManagerId: "fra1-vc01",
    cluster,
    kind: "IMAGE",
    hostCount: 4,
    platformVersion: "5.2.1",
    domain: "fra1",
    rollout: defaultRolloutPolicy,
  };
}

const planExample = planUpgrade(
  {
    spec: upgradeSpecExample,
    bundle: bundleExample,
    clusters: [clusterFacts("34", "fra1-mgmt-cl01"), clusterFacts("21", "fra1-prod-cl02")],
    installations: { netvirt: [], management: [], personalities: [], isos: [] },
  },
  {
    id,
    now: Date.parse("2036-11-30T18:00:00.000Z"),
    resolutionDays: 7,
    lateStartMinutes: 60,
    lockLeadMinutes: 60,
    waits: defaultActivityWaits,
  },
);

/** The Task of {@link upgradeSpecExample} as the 202 answers it. */
export const taskExample: Task = initialTask(planExample);

/** The upgrade of {@link upgradeSpecExample}. */
export const upgradeExample: Upgrade = initialUpgrade(planExample, "jane");

const pageMetadata = { pageNumber: 0, pageSize: 100, totalElements: 1, totalPages: 1 };

export const pageExample: PageOfUpgrade = { elements: [upgradeExample], pageMetadata };

export const countsExample: UpgradeCounts = {
  total: 3,
  phases: (Object.keys(PublishedPhase.keys) as PublishedPhase[]).map((phase) => ({
    phase,
    upgrades: { ACTION_REQUIRED: 1, RUNNING: 2 }[phase as string] ?? 0,
  })),
};

const { subTasks: _details, ...taskHeader } = taskExample;

/** The first and the last event of a Task without subTasks that was cancelled before anything of it began. */
export const taskEventsExample = [
  "retry: 2000",
  "",
  "event: snapshot",
  "id: 0b8f6c1e-4f0d-4e0b-9a53-7f3f0c5d2a10.1",
  `data: ${JSON.stringify({ ...taskHeader, status: "Cancelled", isCancellable: false })}`,
  "",
  "event: end",
  "retry: 60000",
  'data: {"status":"Cancelled"}',
  "",
  "",
].join("\n");

export const pageOfTaskExample: PageOfTask = { elements: [taskHeader], pageMetadata };
export const pageOfBundleExample: PageOfBundle = { elements: [bundleExample], pageMetadata };

/** What the upgrade of {@link upgradeSpecExample} would do. */
export const previewExample = previewOf(planExample, {
  hosts: new Map([
    ["4a6c1a1e-51b2-4d3c-9e0f-000000000034", [{ id: "host-1", fqdn: "esx-01.fra1.example.com", version: "9.0.0" }]],
  ]),
  errors: new Map(),
});

/** A commit with a time. */
export const upgradeUpdateExample: UpgradeUpdateSpec = { scheduledTimestamp: "2036-12-01T09:30:00.000Z" };

/** One host of a cluster that does not come back. */
export const skipExample: SkipSpec = {
  resourceId: planExample.spec.resourceUpgradeSpecs[0]?.resourceId ?? "",
  hostId: "host-16",
  reason: "Its power supply is being replaced.",
};
export const retryExample: RetrySpec = { resourceIds: [skipExample.resourceId] };

const at = planExample.creationTimestamp;

/** The upgrade's Task after its cancellation, and as it goes on after a retry. */
export const cancelledTaskExample: Task = applyProgress(taskExample, { type: "PhaseEntered", phase: "CANCELLED", at });
export const retriedTaskExample: Task = applyProgress(taskExample, { type: "PhaseEntered", phase: "RUNNING", at });

/** The first run of its prechecks, which has begun. */
export const precheckTaskExample: Task =
  precheckTask(applyProgress(taskExample, { type: "PrechecksStarted", resources: resourcesOf(planExample), at }), 1) ??
  taskExample;

export const acknowledgementExample: AcknowledgementSpec = {
  code: "HOST_NOT_CONNECTED",
  resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000034",
  hostId: "host-1034",
  reason: "The host is in repair until Monday and may fail.",
};

const clusterSummary: Cluster = {
  id: "4a6c1a1e-51b2-4d3c-9e0f-000000000034",
  name: "fra1-mgmt-cl01",
  domain: { id: "fra1", name: "fra1" },
  platformVersion: "5.2.1",
  componentManagerId: "fra1-vc01",
  kind: "IMAGE",
  isImageBased: true,
  hostCount: 1,
  heldBy: id,
  heldByName: "Upgrade fra1-mgmt-cl01 to 9.0.2",
};
export const clusterExample: Cluster = {
  ...clusterSummary,
  hosts: [{ id: "host-1034", fqdn: "fra1-esx34.example.com", version: "9.0.0-0.24755229" }],
  versions: ["9.0.0-0.24755229"],
};
export const pageOfClusterExample: PageOfCluster = { elements: [clusterSummary], pageMetadata };

/** A draft that was committed, and a pause that came too early. */
export const activityExample: PageOfActivity = {
  elements: [
    {
      sequence: 1,
      time: "2026-12-01T09:00:00.000Z",
      kind: "CREATE",
      actor: "ada",
      via: "HTTP",
      outcome: "ACCEPTED",
      details: { draft: true },
    },
    { sequence: 2, time: "2026-12-01T09:00:12.000Z", kind: "PRECHECKS_PASSED", details: { precheckRun: 1 } },
    {
      sequence: 3,
      time: "2026-12-01T09:05:00.000Z",
      kind: "PAUSE",
      actor: "bob",
      via: "HTTP",
      outcome: "REFUSED",
      errorCode: "REQUEST_NOT_POSSIBLE",
      message: "The upgrade is not running, so there is nothing to pause. This one is DRAFT.",
    },
    {
      sequence: 4,
      time: "2026-12-01T09:30:00.000Z",
      kind: "COMMIT",
      actor: "ada",
      via: "HTTP",
      outcome: "ACCEPTED",
      details: { scheduledTimestamp: "2026-12-05T02:00:00.000Z" },
    },
  ],
  pageMetadata: { pageNumber: 0, pageSize: 1000, totalElements: 4, totalPages: 1 },
  dropped: 0,
};

export const pageOfNetvirtExample: PageOfNetvirtInstance = {
  elements: [
    {
      id: "c0ffee00-51b2-4d3c-9e0f-000000000001",
      name: "fra1-nsx01",
      domain: { id: "fra1", name: "Frankfurt 1" },
      componentManagerId: "nsx01",
      clusters: [clusterSummary.id],
      fqdn: "fra1-nsx01.example.com",
      sans: ["fra1-nsx01.example.com"],
      hostClusters: [
        { id: "e9a3d1e4-0b7c-4b1c-8a39-6d0f0c3a5e11", name: clusterSummary.name, clusterId: clusterSummary.id },
      ],
      edgeClusters: [{ id: "5b2f7b1d-2d65-4a0e-9f0b-1f1f2b7e0c22", name: "fra1-edge01" }],
    },
  ],
  pageMetadata,
};

export const pageOfManagementServerExample: PageOfManagementServer = {
  elements: [
    {
      id: "c0ffee00-51b2-4d3c-9e0f-000000000002",
      name: "fra1-vc01",
      componentManagerId: "vc01",
      clusters: [clusterSummary.id],
      fqdn: "fra1-vc01.example.com",
      sans: ["fra1-vc01.example.com"],
    },
  ],
  pageMetadata,
};

export const pageOfPersonalityExample: PageOfPersonality = {
  elements: [{ id: "golden-902", name: "Golden image 9.0.2", version: "9.0.2-0.25148076" }],
  pageMetadata,
};

export const pageOfIsoExample: PageOfIso = {
  elements: [{ id: "iso-902", name: "HOSTOS 9.0.2 with drivers", version: "9.0.2-0.25148076" }],
  pageMetadata,
};

export const freezeSpecExample: FreezeSpec = {
  reason: "Hosts lose their storage after the upgrade",
  domains: ["fra1"],
  until: "2026-12-01T06:00:00.000Z",
};

export const freezeExample: FreezeStatus = {
  frozen: true,
  freezes: [
    {
      reason: "Hosts lose their storage after the upgrade",
      frozenBy: "alice",
      since: "2026-12-01T01:12:00.000Z",
      domain: "fra1",
      until: "2026-12-01T06:00:00.000Z",
    },
  ],
  hostsInWork: 3,
};

export const holdSpecExample: HoldSpec = { reason: "Its storage is being replaced", until: "2026-12-04T18:00:00.000Z" };

export const clusterHoldExample: Hold = {
  clusterId: clusterSummary.id,
  clusterName: clusterSummary.name,
  reason: holdSpecExample.reason,
  placedBy: "alice",
  since: "2026-12-01T01:12:00.000Z",
  until: "2026-12-04T18:00:00.000Z",
};

export const hostHoldExample: Hold = {
  ...clusterHoldExample,
  hostId: "host-1034",
  hostName: "fra1-esx34.example.com",
};

export const pageOfHoldExample: PageOfHold = { elements: [hostHoldExample], pageMetadata };

/** A request with one wrong field. */
export const errorExample: ErrorBody = {
  errorCode: "INVALID_FIELD",
  errorType: "INVALID_INPUT",
  message: 'resourceType: expected one of DOMAIN, CLUSTER, UNASSIGNED_HOST, got "CLUSTERS".',
  remediationMessage: "Correct the field; /openapi.json describes every field.",
  arguments: ["resourceType"],
  context: { path: "resourceType" },
  referenceToken: "0b7f7c5e-3f0e-4a0c-8a64-0d0c6f9d8a12",
};

/** What tokens look like; these were never signed. */
export const accessTokenExample = "eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl";
export const refreshTokenIdExample = "eyJhbGciOiJIUzI1NiIsInR5cCI6InJ0K2p3dCJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl";

export const readinessSpecExample: ReadinessSpec = {
  bundleId: planExample.bundle.id,
  resourceIds: ["4a6c1a1e-51b2-4d3c-9e0f-000000000034"],
  schedule: { cron: "0 2 * * *", timeZone: "Europe/Berlin" },
};

export const readinessExample: Task = readinessTask(
  newReadiness(readinessPlan(planExample), readinessId(planExample.id), at),
);

const { subTasks: _checked, ...readinessHeader } = readinessExample;
export const pageOfReadinessExample: PageOfTask = { elements: [readinessHeader], pageMetadata };

export const pageOfScheduleExample: PageOfReadinessSchedule = {
  elements: [
    {
      ...{ id: readinessExample.id, name: readinessExample.name, bundleId: readinessSpecExample.bundleId },
      resourceIds: readinessSpecExample.resourceIds,
      schedule: { cron: "0 2 * * *", timeZone: "Europe/Berlin" },
      ...{ createdBy: "anna", createdAt: at, nextRun: "2026-12-01T01:00:00.000Z", taskIds: [readinessExample.id] },
    },
  ],
  pageMetadata,
};
