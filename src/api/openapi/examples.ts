import type { Bundle } from "../../domain/bundle";
import type { ErrorBody } from "../../domain/error-body";
import type { Task } from "../../domain/task";
import type { PageOfUpgrade, Upgrade } from "../../domain/upgrade";
import type { UpgradeSpec } from "../../domain/upgrade-spec";

const id = "6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11";

/** A request for two clusters, one at once and one at a later time. */
export const upgradeSpecExample: UpgradeSpec = {
  bundleId: "bundle-hostos-9.0.1",
  resourceType: "CLUSTER",
  parallelUpgrade: true,
  draftMode: false,
  resourceUpgradeSpecs: [
    {
      resourceId: "cluster-image-01",
      upgradeNow: true,
      hostosUpgradeOptionsSpec: {
        hostosUpgradeFailureAction: { retryDelay: 300, retryCount: 3, action: "RETRY" },
        enforceHclValidation: true,
        enableQuickboot: true,
        preRemediationPowerAction: "DO_NOT_CHANGE_VMS_POWER_STATE",
      },
    },
    { resourceId: "cluster-baseline-01", scheduledTimestamp: "2036-12-01T09:30:00.000Z" },
  ],
};

/** The Task of {@link upgradeSpecExample} as the 202 answers it. */
export const taskExample: Task = {
  id,
  name: "Upgrade 2 clusters with bundle-hostos-9.0.1",
  type: "UPGRADE",
  status: "Pending",
  creationTimestamp: "2036-11-30T18:00:00.000Z",
  isCancellable: true,
  isRetryable: false,
  resources: [
    { resourceId: "cluster-image-01", name: "Image cluster" },
    { resourceId: "cluster-baseline-01", name: "Baseline cluster" },
  ],
  subTasks: [
    {
      name: "Image cluster",
      type: "CLUSTER_UPGRADE",
      description: "Upgrade the hosts of the cluster",
      status: "PENDING",
      creationTimestamp: "2036-11-30T18:00:00.000Z",
      resources: [{ resourceId: "cluster-image-01", name: "Image cluster" }],
    },
  ],
};

const bundleExample: Bundle = {
  id: "bundle-hostos-9.0.1",
  type: "VENDOR_SOFTWARE",
  version: "9.0.1",
  severity: "IMPORTANT",
  downloadStatus: "SUCCESSFUL",
  components: [{ id: "hostos-9.0.1", type: "HOSTOS", toVersion: "9.0.1", imageType: "PATCH" }],
};

/** The upgrade of {@link upgradeSpecExample}. */
export const upgradeExample: Upgrade = {
  id,
  taskId: id,
  bundleId: bundleExample.id,
  resourceType: "CLUSTER",
  parallelUpgrade: true,
  resourceUpgradeSpecs: upgradeSpecExample.resourceUpgradeSpecs,
  status: "PENDING",
  bundle: bundleExample,
};

export const pageExample: PageOfUpgrade = {
  elements: [upgradeExample],
  pageMetadata: { pageNumber: 0, pageSize: 100, totalElements: 1, totalPages: 1 },
};

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
