import { perResource } from "./admission-rule";

/** Every resource is a cluster of the inventory, and its component manager says so now. */
export const clustersKnown = perResource(({ resourceId }, path, { spec, clusters }) => {
  if (spec.resourceType !== "CLUSTER") return [];
  const lookup = clusters.get(resourceId);
  if (lookup?._tag === "Known") return [];
  if (lookup?._tag === "Unreachable") {
    return [
      {
        effect: "FAILED_DEPENDENCY",
        path: `${path}.resourceId`,
        code: "COMPONENT_MANAGER_UNREACHABLE",
        message: `Component manager ${lookup.componentManagerId} of cluster ${resourceId} does not answer: ${lookup.reason}.`,
        remediation: `Make sure that ${lookup.componentManagerId} is running and reachable, then send the request again.`,
      },
    ];
  }
  return [
    {
      effect: "BAD_REQUEST",
      path: `${path}.resourceId`,
      code: "RESOURCE_UNKNOWN",
      message: `Cluster ${resourceId} is not in the inventory.`,
      remediation: "Name a cluster of the inventory by its resource id.",
    },
  ];
});
