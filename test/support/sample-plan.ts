import { randomUUID } from "node:crypto";
import type { PlannedCheck } from "../../src/domain/checks/own-check";
import type { PlannedReceiver } from "../../src/domain/notifications/upgrade-notification";
import { type ClusterFacts, defaultRolloutPolicy, type Installations } from "../../src/domain/plan/facts";
import type { HostScope } from "../../src/domain/plan/host-scope";
import { planUpgrade } from "../../src/domain/plan/plan-upgrade";
import type { ClusterKind, RolloutPolicy, UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { Bundle } from "../../src/domain/spec/bundle";
import type { ResourceUpgradeSpec, UpgradeSpec } from "../../src/domain/spec/upgrade-spec";
import { type ActivityWaits, defaultActivityWaits } from "../../src/domain/time-limits";

/** A bundle that can be installed and holds HOSTOS only. */
export const sampleBundle: Bundle = {
  id: "bundle-902",
  type: "VENDOR_SOFTWARE",
  version: "9.0.2",
  downloadStatus: "SUCCESSFUL",
  components: [{ id: "hostos", type: "HOSTOS", toVersion: "9.0.2-0.25148076" }],
};

/** An inventory that knows clusters only. */
export const noInstallations: Installations = { netvirt: [], management: [], personalities: [], isos: [] };

/** Facts of an image-managed cluster that can be upgraded. */
export function sampleCluster(resourceId: string, changes: Partial<ClusterFacts> = {}): ClusterFacts {
  return {
    resourceId,
    name: `${resourceId}-name`,
    componentManagerId: "vc01",
    cluster: `domain-${resourceId}`,
    kind: "IMAGE",
    hostCount: 3,
    platformVersion: "5.2",
    domain: "fra1",
    rollout: defaultRolloutPolicy,
    ...changes,
  };
}

export interface SamplePlanOptions {
  readonly id?: string;
  readonly draft?: boolean;
  readonly now?: number;
  readonly resources?: readonly ResourceUpgradeSpec[];
  readonly resolutionDays?: number;
  readonly lateStartMinutes?: number;
  readonly lockLeadMinutes?: number;
  readonly waits?: Partial<ActivityWaits>;
  /** Who is told what happens; nobody unless a test is about it. */
  readonly notifications?: readonly PlannedReceiver[];
  readonly longWaitMinutes?: number;
  /** Checks of the inventory; none unless a test is about them. */
  readonly checks?: readonly PlannedCheck[];
  /** Where people open the console. */
  readonly publicUrl?: string;
  /** Where Temporal is reached. */
  readonly temporalAddress?: string;
  readonly bundle?: Bundle;
  readonly installations?: Installations;
  /** What the request says of servers. */
  readonly inputs?: Pick<
    UpgradeSpec,
    "netvirtUpgradeUserInputSpecs" | "mgmtUpgradeUserInputSpecs" | "onPrecheckFailure" | "maintenanceWindow" | "reason"
  >;
  /** Of every cluster; the health gate is off unless a test is about it. */
  readonly rollout?: Partial<RolloutPolicy>;
  /** How each of the resources is managed; those that are not named by an image. */
  readonly kinds?: readonly ClusterKind[];
  /** The hosts that are asked for, by resource id; all unless a test is about it. */
  readonly hostScopes?: ReadonlyMap<string, HostScope>;
  /** The management server that serves the clusters. */
  readonly managementServer?: string;
  /** How many approvals the domain of the clusters wants. */
  readonly approvals?: number;
  /** The domain of the clusters. */
  readonly domain?: string;
}

/** A lost Activity is waited out for so long: with the 30 s of production tests of losses would wait and no more. */
export const quickWaits: ActivityWaits = { ...defaultActivityWaits, callSeconds: 0.1 };

/** A check of the inventory that is asked before an upgrade, every second where it is waited for. */
export function sampleCheck(id: string, changes: Partial<PlannedCheck> = {}): PlannedCheck {
  return {
    id,
    kind: "PROMETHEUS",
    at: ["BEFORE_UPGRADE"],
    onFailure: "FAIL",
    intervalSeconds: 1,
    decideMinutes: 60,
    ...changes,
  };
}

/** The plan of an upgrade of one cluster, or of the given resources, which are taken to exist. */
export function samplePlan({
  id = randomUUID(),
  draft = false,
  now = Date.now(),
  resources = [{ resourceId: `cl-${id.slice(0, 8)}` }],
  resolutionDays = 7,
  lateStartMinutes = 60,
  lockLeadMinutes = 60,
  waits,
  notifications = [],
  longWaitMinutes,
  checks = [],
  publicUrl,
  temporalAddress,
  bundle = sampleBundle,
  installations = noInstallations,
  inputs = {},
  rollout = {},
  kinds = [],
  hostScopes = new Map<string, HostScope>(),
  managementServer,
  approvals,
  domain,
}: SamplePlanOptions = {}): UpgradePlan {
  return planUpgrade(
    {
      spec: {
        bundleId: bundle.id,
        resourceType: "CLUSTER",
        draftMode: draft,
        resourceUpgradeSpecs: [...resources],
        ...inputs,
      },
      bundle,
      clusters: resources.map(({ resourceId }, i) =>
        sampleCluster(resourceId, {
          kind: kinds[i] ?? "IMAGE",
          rollout: { ...defaultRolloutPolicy, healthGate: false, ...rollout },
          ...(managementServer !== undefined && { managementServer }),
          ...(approvals !== undefined && { approvals }),
          ...(domain !== undefined && { domain }),
        }),
      ),
      installations,
      hostScopes,
    },
    {
      ...{
        id,
        now,
        resolutionDays,
        lateStartMinutes,
        lockLeadMinutes,
        longWaitMinutes,
        checks,
        publicUrl,
        temporalAddress,
        notifications,
      },
      waits: { ...quickWaits, ...waits },
    },
  );
}

/** Clusters with ids of their own, because an id is a lock that all tests share. `prefix` begins each id. */
export function clusters(count: number, prefix = "cl-"): ResourceUpgradeSpec[] {
  return Array.from({ length: count }, () => ({ resourceId: `${prefix}${randomUUID().slice(0, 8)}` }));
}
