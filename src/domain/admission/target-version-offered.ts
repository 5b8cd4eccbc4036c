import { isNone } from "fp-ts/Option";
import { hostosVersionOf, versionsOffered } from "../bundle-products";
import { isSameVersion } from "../version";
import { perResource } from "./admission-rule";
import { badField } from "./server-inputs";

/** `toVersion`, where given, is what the bundle offers and what the hosts are brought to. */
export const targetVersionOffered = perResource((resource, path, { bundle, installations }) => {
  const { toVersion, personalitySpec, customIsoSpec } = resource;
  if (toVersion === undefined || isNone(bundle)) return [];
  const at = `${path}.toVersion`;
  const offered = versionsOffered(bundle.value);
  if (!offered.some((version) => isSameVersion(version, toVersion))) {
    return [
      badField(
        at,
        "VERSION_NOT_OFFERED",
        `Bundle ${bundle.value.id} does not offer version ${toVersion}; it offers ${offered.join(" and ") || "none"}.`,
        "Leave toVersion out, or give a version that the bundle offers.",
      ),
    ];
  }
  const image =
    installations.personalities.find(({ id }) => id === personalitySpec?.personalityId) ??
    installations.isos.find(({ id }) => id === customIsoSpec?.id);
  const meant = hostosVersionOf(bundle.value, toVersion);
  if (image === undefined || meant === undefined || isSameVersion(image.version, meant)) return [];
  return [
    badField(
      at,
      "VERSION_CONTRADICTION",
      `toVersion ${toVersion} means ${meant}, but ${image.name} brings the hosts to ${image.version}.`,
      "Leave toVersion out, or name an image of that version.",
    ),
  ];
});
