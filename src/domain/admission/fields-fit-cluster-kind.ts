import { optionsOfImages } from "../options-of-images";
import { remediationOptions } from "../remediation-options";
import { perCluster, type Rejection } from "./admission-rule";

/** Fields that exist for one kind of cluster are not given for the other (docs/spec-gaps.md, cluster kinds). */
export const fieldsFitClusterKind = perCluster((cluster, resource, path) => {
  const rejection = (field: string, title = field, reason?: string): Rejection => ({
    effect: "BAD_REQUEST",
    path: `${path}.${field}`,
    code: "FIELD_NOT_FOR_CLUSTER_KIND",
    message: `${title} does not apply to cluster ${cluster.name}, which is managed by ${cluster.kind === "IMAGE" ? "an image" : "baselines"}${reason === undefined ? "." : `: ${reason}`}`,
    remediation: `Leave ${title} out for this cluster.`,
  });
  if (cluster.kind === "IMAGE") return resource.customIsoSpec === undefined ? [] : [rejection("customIsoSpec")];
  const inner = resource.hostosUpgradeOptionsSpec;
  return [
    ...(resource.personalitySpec === undefined ? [] : [rejection("personalitySpec")]),
    ...optionsOfImages(remediationOptions(resource)).map(({ option, title, reason }) => {
      const field = inner?.[option] === undefined ? option : `hostosUpgradeOptionsSpec.${option}`;
      return rejection(field, title === option ? field : title, reason);
    }),
  ];
});
