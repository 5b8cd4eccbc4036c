import type { Option } from "fp-ts/Option";
import type { Bundle } from "../bundle";
import type { ClusterFacts, ClusterLookup } from "../cluster-facts";
import type { Installations } from "../installations";
import type { ResourceUpgradeSpec, UpgradeSpec } from "../upgrade-spec";

/** Everything that a decision on a request may depend on; read before, so that the rules are pure. */
export interface AdmissionRequest {
  readonly spec: UpgradeSpec;
  /** Epoch milliseconds. */
  readonly now: number;
  /** None where the catalog does not know the request's bundle. */
  readonly bundle: Option<Bundle>;
  readonly clusters: ReadonlyMap<string, ClusterLookup>;
  readonly installations: Installations;
  /** By lock (resource-lock.ts), the id of the upgrade that holds it. */
  readonly lockHolders: ReadonlyMap<string, string>;
}

/**
 * Why a request is refused. `effect` says what kind of refusal it is: the request is wrong as it is (400), it asks for
 * what is not permitted or not supported (403), or something it depends on is not available (424).
 */
export interface Rejection {
  readonly effect: "BAD_REQUEST" | "NOT_ALLOWED" | "FAILED_DEPENDENCY";
  readonly path: string;
  /** A code of docs/error-codes.md. */
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
}

/** One condition of admission: no rejection where it holds, one per offending field or resource where it does not. */
export type AdmissionRule = (request: AdmissionRequest) => readonly Rejection[];

/** Applies a condition to each resource of the request; `path` is the resource's own. */
export function perResource(
  check: (resource: ResourceUpgradeSpec, path: string, request: AdmissionRequest) => readonly Rejection[],
): AdmissionRule {
  return (request) =>
    request.spec.resourceUpgradeSpecs.flatMap((resource, i) => check(resource, `resourceUpgradeSpecs[${i}]`, request));
}

/** Applies a condition to each resource that is a known cluster; the others are another rule's business. */
export function perCluster(
  check: (cluster: ClusterFacts, resource: ResourceUpgradeSpec, path: string) => readonly Rejection[],
): AdmissionRule {
  return perResource((resource, path, { clusters }) => {
    const lookup = clusters.get(resource.resourceId);
    return lookup?._tag === "Known" ? check(lookup.facts, resource, path) : [];
  });
}
