import { silenceError } from "../manager-silence";
import { perResource } from "./admission-rule";

/** Every resource is a cluster of the inventory, and its component manager says so now. */
export const clustersKnown = perResource(({ resourceId }, path, { spec, clusters }) => {
  if (spec.resourceType !== "CLUSTER") return [];
  const lookup = clusters.get(resourceId);
  if (lookup?._tag === "Known") return [];
  if (lookup?._tag === "Unread") {
    const { componentManagerId, silence } = lookup;
    const { errorCode, message, remediationMessage } = silenceError(
      componentManagerId,
      silence,
      "send the request again",
    );
    return [
      {
        effect: "FAILED_DEPENDENCY",
        path: `${path}.resourceId`,
        code: errorCode,
        message: `Cluster ${resourceId} cannot be looked at. ${message}`,
        remediation: remediationMessage,
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
