import { findMember, type NetvirtFacts } from "../installations";
import { inputTarget, netvirtInScope } from "../upgrade-scope";
import type { NetvirtUpgradeUserInputSpec } from "../upgrade-spec";
import type { AdmissionRule, Rejection } from "./admission-rule";
import { badField, clustersOfRequest, inputsWithoutTarget } from "./server-inputs";

const list = "netvirtUpgradeUserInputSpecs";

/** Inputs for NETVIRT name an instance that serves the request's clusters, each part once, and do not contradict themselves. */
export const netvirtInputsValid: AdmissionRule = (request) => {
  const inputs = request.spec[list] ?? [];
  const inScope = netvirtInScope(clustersOfRequest(request), request.installations);
  return [
    ...inputsWithoutTarget({
      list,
      field: "netvirtId",
      title: "NETVIRT instance",
      named: inputs.map(({ netvirtId }) => netvirtId),
      inScope,
    }),
    ...inputs.flatMap((input, i) => [
      ...partsNamedOnce(input, `${list}[${i}]`, inScope),
      ...edgeOnly(input, `${list}[${i}]`),
    ]),
  ];
};

/** A cluster has several names; the coordinator's id of its group is compared when its precheck reads the groups. */
function partsNamedOnce(
  input: NetvirtUpgradeUserInputSpec,
  path: string,
  inScope: readonly NetvirtFacts[],
): Rejection[] {
  const instance = inputTarget(input.netvirtId, inScope);
  const nameOf = (id: string | undefined) =>
    id === undefined ? id : ((instance && findMember(instance, id)?.name) ?? id);
  const hosts = input.netvirtHostClusterUpgradeSpecs?.map(({ hostClusterId }) => nameOf(hostClusterId)) ?? [];
  const edges = input.netvirtEdgeClusterUpgradeSpecs?.map(({ edgeClusterId }) => edgeClusterId) ?? [];
  return [
    ...namedOnce(hosts, (i) => `${path}.netvirtHostClusterUpgradeSpecs[${i}].hostClusterId`),
    ...namedOnce(edges, (i) => `${path}.netvirtEdgeClusterUpgradeSpecs[${i}].edgeClusterId`),
  ];
}

function namedOnce(ids: readonly (string | undefined)[], pathOf: (index: number) => string): Rejection[] {
  return ids.flatMap((id, i) => {
    const path = pathOf(i);
    if (id === undefined) return [badField(path, "MISSING_FIELD", `${path} is missing.`, `Add ${path}.`)];
    if (ids.indexOf(id) === i) return [];
    return [badField(path, "RESOURCE_DUPLICATE", `${id} is named twice.`, "Name each cluster once.")];
  });
}

function edgeOnly(input: NetvirtUpgradeUserInputSpec, path: string): Rejection[] {
  if (input.netvirtUpgradeOptions?.isEdgeOnlyUpgrade !== true) return [];
  const refuse = (field: string) =>
    badField(
      `${path}.${field}`,
      "FIELD_NOT_FOR_EDGE_ONLY",
      `${field} is about hosts, which an edge only upgrade leaves as they are.`,
      `Leave out ${field}, or isEdgeOnlyUpgrade.`,
    );
  return [
    ...(input.netvirtHostClusterUpgradeSpecs?.length ? [refuse("netvirtHostClusterUpgradeSpecs")] : []),
    ...(input.netvirtUpgradeOptions.isHostClustersUpgradeParallel === true
      ? [refuse("netvirtUpgradeOptions.isHostClustersUpgradeParallel")]
      : []),
    ...(input.netvirtEdgeClusterUpgradeSpecs?.length === 0
      ? [
          badField(
            `${path}.netvirtEdgeClusterUpgradeSpecs`,
            "INVALID_FIELD",
            "An empty netvirtEdgeClusterUpgradeSpecs leaves out every edge cluster, of which an edge only upgrade consists.",
            "Name the edge clusters, or leave out the list to upgrade all of them.",
          ),
        ]
      : []),
  ];
}
