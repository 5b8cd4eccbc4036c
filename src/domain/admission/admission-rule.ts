import type { Either } from "fp-ts/Either";
import type { Option } from "fp-ts/Option";
import type { ManagerSilence } from "../manager-silence";
import type { ClusterFacts, ClusterLookup, Installations } from "../plan/facts";
import { nameAndId } from "../names";
import { inputTarget } from "../plan/scope";
import type { HoldingUpgrade } from "../resource-lock";
import type { Bundle } from "../spec/bundle";
import type { ClusterMember } from "../spec/cluster";
import type { ResourceUpgradeSpec, UpgradeSpec } from "../spec/upgrade-spec";

/** Everything that a decision on a request may depend on; read before, so that the rules are pure. */
export interface AdmissionRequest {
  readonly spec: UpgradeSpec;
  /** Epoch milliseconds. */
  readonly now: number;
  /** None where the catalog does not know the request's bundle. */
  readonly bundle: Option<Bundle>;
  readonly clusters: ReadonlyMap<string, ClusterLookup>;
  /** Hosts of the clusters of which the request names some, or why they could not be read; by resource id. */
  readonly hosts?: ReadonlyMap<string, Either<ManagerSilence, readonly ClusterMember[]>>;
  readonly installations: Installations;
  /** Minutes before its time from which on a scheduled upgrade holds its locks. */
  readonly lockLeadMinutes: number;
  /** By lock, the upgrade that holds it. */
  readonly lockHolders: ReadonlyMap<string, HoldingUpgrade>;
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

/** The known clusters of a request. */
export function clustersOfRequest({ spec, clusters }: AdmissionRequest): ClusterFacts[] {
  return spec.resourceUpgradeSpecs.flatMap(({ resourceId }) => {
    const lookup = clusters.get(resourceId);
    return lookup?._tag === "Known" ? [lookup.facts] : [];
  });
}

/** What is wrong with a field of the request as it is (400). */
export function badField(path: string, code: string, message: string, remediation: string): Rejection {
  return { effect: "BAD_REQUEST", path, code, message, remediation };
}

interface NamedServer {
  readonly resourceId: string;
  readonly name: string;
}

interface ServerInputs<T> {
  /** The list in the request, such as `mgmtUpgradeUserInputSpecs`. */
  readonly list: string;
  /** The field of an input that names its server. */
  readonly field: string;
  /** What such a server is called in sentences. */
  readonly title: string;
  readonly named: readonly (string | undefined)[];
  readonly inScope: readonly T[];
}

/** Each input says which of the servers that serve the request's clusters it is for, and no two are for the same. */
export function inputsWithoutTarget<T extends NamedServer>({
  list,
  field,
  title,
  named,
  inScope,
}: ServerInputs<T>): Rejection[] {
  const choices = inScope.map(titleOf).join(", ") || "none";
  const targets = named.map((id) => inputTarget(id, inScope));
  return named.flatMap((id, i) => {
    const path = `${list}[${i}].${field}`;
    const target = targets[i];
    if (!target) {
      const message =
        id === undefined
          ? `${path} must name its ${title}: the clusters of the request have ${choices}.`
          : `${title} ${id} does not serve the clusters of the request; they have ${choices}.`;
      return [badField(path, "SERVER_UNKNOWN", message, `Name a ${title} that serves the clusters, or none.`)];
    }
    if (targets.indexOf(target) === i) return [];
    return [badField(path, "RESOURCE_DUPLICATE", `${title} ${titleOf(target)} is named twice.`, "Name each once.")];
  });
}

function titleOf({ name, resourceId }: NamedServer): string {
  return nameAndId(name, resourceId);
}
