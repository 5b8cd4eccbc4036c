import type { AdmissionRule } from "./admission-rule";

/** Each resource is named once; a second spec for it would contradict the first. */
export const resourcesUnique: AdmissionRule = ({ spec }) => {
  const first = new Map<string, number>();
  return spec.resourceUpgradeSpecs.flatMap(({ resourceId }, i) => {
    const earlier = first.get(resourceId);
    if (earlier === undefined) {
      first.set(resourceId, i);
      return [];
    }
    return [
      {
        effect: "BAD_REQUEST",
        path: `resourceUpgradeSpecs[${i}].resourceId`,
        code: "RESOURCE_DUPLICATE",
        message: `Resource ${resourceId} is already named by resourceUpgradeSpecs[${earlier}].`,
        remediation: "Name each resource once.",
      } as const,
    ];
  });
};
