import type { Bundle } from "./bundle";
import type { HostRemediationOptions } from "./host-remediation";
import type { UpgradeSpec } from "./upgrade-spec";

/** Products in the order in which they are upgraded. */
export const products = ["NETVIRT", "MGMT", "HOSTOS"] as const;
export type Product = (typeof products)[number];

/** How hosts of a cluster are managed: by an image (vLCM) or by baselines (per host). */
export type ClusterKind = "IMAGE" | "BASELINE";

/** Where a cluster is reached: the component manager's id in the inventory and its own id of the cluster. */
export interface ClusterRef {
  readonly resourceId: string;
  readonly name: string;
  readonly componentManagerId: string;
  /** The component manager's id, such as `domain-c8`. */
  readonly cluster: string;
}

/** How often an Activity that changes something is tried, and how long it waits in between. */
export interface AttemptPolicy {
  /** At least 1. */
  readonly maximumAttempts: number;
  /** Seconds between two attempts; 0 means at once. */
  readonly retryDelay: number;
}

/** One cluster's part of an upgrade. */
export interface ClusterUpgradePlan extends ClusterRef {
  readonly kind: ClusterKind;
  /** The HOSTOS base image that its hosts are brought to. */
  readonly targetVersion: string;
  readonly attempts: AttemptPolicy;
  readonly options: HostRemediationOptions;
  /** Not before this timestamp; absent means now. */
  readonly scheduledTimestamp?: string;
}

/** One product's part of an upgrade. NETVIRT and MGMT get resources of their own kinds beside clusters. */
export interface ProductPlan {
  readonly product: Product;
  readonly resources: readonly ClusterUpgradePlan[];
}

/**
 * Everything an upgrade will do, as data: made once from the accepted request and the facts known then, printed by
 * `plan`, interpreted by the Workflow, and shown by the Task.
 */
export interface UpgradePlan {
  /** Task id, Upgrade id and Temporal Workflow ID at once. */
  readonly id: string;
  readonly name: string;
  readonly creationTimestamp: string;
  readonly draft: boolean;
  readonly spec: UpgradeSpec;
  readonly bundle: Bundle;
  /** In the order in which they run; never empty. */
  readonly products: readonly ProductPlan[];
  /** Days that a failed upgrade stays open for `retry` or `resolve`. */
  readonly resolutionDays: number;
}

/** All resources of a plan, in order. */
export function resourcesOf(plan: UpgradePlan): readonly ClusterUpgradePlan[] {
  return plan.products.flatMap((product) => product.resources);
}
