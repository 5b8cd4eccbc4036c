import type { ClusterFacts } from "../cluster-facts";
import { inputTarget } from "../upgrade-scope";
import type { AdmissionRequest, Rejection } from "./admission-rule";

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
export function inputsWithoutTarget<T extends { readonly resourceId: string }>({
  list,
  field,
  title,
  named,
  inScope,
}: ServerInputs<T>): Rejection[] {
  const choices = inScope.map(({ resourceId }) => resourceId).join(", ") || "none";
  const targets = named.map((id) => inputTarget(id, inScope));
  return named.flatMap((id, i) => {
    const path = `${list}[${i}].${field}`;
    const target = targets[i];
    if (!target) {
      const message =
        id === undefined
          ? `${path} must say which ${title} it is for: the request's clusters have ${choices}.`
          : `${title} ${id} does not serve the request's clusters; they have ${choices}.`;
      return [badField(path, "SERVER_UNKNOWN", message, `Give one of the ${title}s that serve the clusters, or none.`)];
    }
    if (targets.indexOf(target) === i) return [];
    return [badField(path, "RESOURCE_DUPLICATE", `${title} ${target.resourceId} is named twice.`, "Name each once.")];
  });
}
