import type { ManagerSilence } from "./manager-silence";
import type { ClusterKind, ClusterRef, RolloutPolicy } from "./upgrade-plan";

/** What admission and the plan need to know of a cluster, read when the request arrives. */
export interface ClusterFacts extends ClusterRef {
  readonly kind: ClusterKind;
  readonly hostCount: number;
  /** Id of the domain that it belongs to. */
  readonly domain: string;
  readonly domainName?: string;
  readonly rollout: RolloutPolicy;
  /** Resource id of the management server that serves it, where the inventory has it. */
  readonly managementServer?: string;
  /** Bill-of-materials version of the platform that the cluster belongs to, such as `5.2.1`. */
  readonly platformVersion: string;
}

/** What the inventory says of a cluster by itself. */
export type ClusterEntryFacts = Omit<ClusterFacts, "kind" | "hostCount">;

/** What the inventory and its component managers say of a resource id that a request names. */
export type ClusterLookup =
  | { readonly _tag: "Known"; readonly facts: ClusterFacts }
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Unread"; readonly componentManagerId: string; readonly silence: ManagerSilence };
