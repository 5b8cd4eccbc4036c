import { perResource, type AdmissionRequest, type Rejection } from "./admission-rule";
import type { ResourceUpgradeSpec } from "../upgrade-spec";
import { badField } from "./server-inputs";

/** Personalities and ISOs that a request names are in the inventory, and what is said of firmware is complete. */
export const imagesKnown = perResource((resource, path, request) => [
  ...personalityKnown(resource, path, request),
  ...isoKnown(resource, path, request),
]);

function personalityKnown(
  { personalitySpec }: ResourceUpgradeSpec,
  path: string,
  { installations }: AdmissionRequest,
): Rejection[] {
  if (personalitySpec === undefined) return [];
  const at = `${path}.personalitySpec`;
  const { personalityId, hardwareSupportSpecs = [] } = personalitySpec;
  const known = installations.personalities.some(({ id }) => id === personalityId);
  const firmware = hardwareSupportSpecs.flatMap(({ name, packageSpec }, i) => {
    const fields = { name, "packageSpec.name": packageSpec?.name, "packageSpec.version": packageSpec?.version };
    return Object.entries(fields)
      .filter(([, value]) => value === undefined)
      .map(([field]) => missing(`${at}.hardwareSupportSpecs[${i}].${field}`));
  });
  if (personalityId === undefined) return [missing(`${at}.personalityId`), ...firmware];
  return known ? firmware : [unknown(`${at}.personalityId`, `Personality ${personalityId}`), ...firmware];
}

function isoKnown(
  { customIsoSpec }: ResourceUpgradeSpec,
  path: string,
  { installations }: AdmissionRequest,
): Rejection[] {
  if (customIsoSpec === undefined) return [];
  const at = `${path}.customIsoSpec.id`;
  const { id } = customIsoSpec;
  if (id === undefined) return [missing(at)];
  return installations.isos.some((iso) => iso.id === id) ? [] : [unknown(at, `Custom ISO ${id}`)];
}

function missing(path: string): Rejection {
  return badField(path, "MISSING_FIELD", `${path} is missing.`, `Add ${path}.`);
}

function unknown(path: string, what: string): Rejection {
  return badField(
    path,
    "IMAGE_UNKNOWN",
    `${what} is not in the inventory.`,
    "Name one of the inventory, or leave it out to upgrade to the bundle's own image.",
  );
}
