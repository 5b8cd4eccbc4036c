import { isNone } from "fp-ts/Option";
import { componentOf } from "../bundle-products";
import { perResource } from "./admission-rule";

/** `toVersion`, where given, is what the bundle brings the hosts to. */
export const targetVersionOffered = perResource(({ toVersion }, path, { bundle }) => {
  if (toVersion === undefined || isNone(bundle)) return [];
  const offered = [componentOf(bundle.value, "HOSTOS")?.toVersion, bundle.value.version].filter((v) => v !== undefined);
  if (offered.includes(toVersion)) return [];
  return [
    {
      effect: "BAD_REQUEST",
      path: `${path}.toVersion`,
      code: "VERSION_NOT_OFFERED",
      message: `Bundle ${bundle.value.id} does not offer version ${toVersion}; it offers ${offered.join(" and ") || "none"}.`,
      remediation: "Leave toVersion out, or give a version that the bundle offers.",
    },
  ];
});
