import { perCluster, type Rejection } from "./admission-rule";

/** Fields that exist for one kind of cluster are not given for the other (docs/spec-gaps.md, cluster kinds). */
export const fieldsFitClusterKind = perCluster((cluster, resource, path) => {
  const rejections: Rejection[] = [];
  const refuse = (field: string) =>
    rejections.push({
      effect: "BAD_REQUEST",
      path: `${path}.${field}`,
      code: "FIELD_NOT_FOR_CLUSTER_KIND",
      message: `${field} does not apply to cluster ${cluster.name}, which is managed by ${cluster.kind === "IMAGE" ? "an image" : "baselines"}.`,
      remediation: `Leave ${field} out for this cluster.`,
    });
  if (cluster.kind === "IMAGE") {
    if (resource.customIsoSpec !== undefined) refuse("customIsoSpec");
  } else {
    if (resource.personalitySpec !== undefined) refuse("personalitySpec");
    const options = resource.hostosUpgradeOptionsSpec;
    if (options?.enforceHclValidation === true) refuse("hostosUpgradeOptionsSpec.enforceHclValidation");
    if (options?.enableQuickPatch === true) refuse("hostosUpgradeOptionsSpec.enableQuickPatch");
  }
  return rejections;
});
