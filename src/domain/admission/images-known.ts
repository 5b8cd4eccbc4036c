import { perResource, type Rejection } from "./admission-rule";

/** Personalities and ISOs that a request names are in the inventory, which lists none of them yet. */
export const imagesKnown = perResource(({ personalitySpec, customIsoSpec }, path) => {
  const rejections: Rejection[] = [];
  const refuse = (field: string, what: string) =>
    rejections.push({
      effect: "BAD_REQUEST",
      path: `${path}.${field}`,
      code: "IMAGE_UNKNOWN",
      message: `${what} is not in the inventory.`,
      remediation: `Leave out ${field} to upgrade to the bundle's own image.`,
    });
  if (personalitySpec !== undefined) {
    refuse("personalitySpec.personalityId", `Personality ${personalitySpec.personalityId ?? "(none given)"}`);
  }
  if (customIsoSpec !== undefined) refuse("customIsoSpec.id", `Custom ISO ${customIsoSpec.id ?? "(none given)"}`);
  return rejections;
});
