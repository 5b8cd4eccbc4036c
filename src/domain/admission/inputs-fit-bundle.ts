import { isNone } from "fp-ts/Option";
import { productsOf } from "../bundle-products";
import type { Product } from "../upgrade-plan";
import type { ResourceUpgradeSpec } from "../upgrade-spec";
import type { AdmissionRule, Rejection } from "./admission-rule";

/** Fields of a resource that say how its hosts are upgraded, beside the options of HOSTOS. */
const hostFields = [
  "shutdownVms",
  "toVersion",
  "personalitySpec",
  "customIsoSpec",
  "enableQuickboot",
  "evacuateOfflineVms",
] as const satisfies readonly (keyof ResourceUpgradeSpec)[];

/** The bundle holds a product, and the request has inputs for none that it does not hold: no field is ignored. */
export const inputsFitBundle: AdmissionRule = ({ spec, bundle }) => {
  if (isNone(bundle)) return [];
  const products = new Set(productsOf(bundle.value));
  if (products.size === 0) {
    return [
      {
        effect: "NOT_ALLOWED",
        path: "bundleId",
        code: "PRODUCT_NOT_SUPPORTED",
        message: `Bundle ${spec.bundleId} holds no product that can be upgraded.`,
        remediation: "Choose a bundle with a component of the type NETVIRT, MGMT or HOSTOS.",
      },
    ];
  }
  const refusal = (path: string, product: Product): Rejection => ({
    effect: "BAD_REQUEST",
    path,
    code: "INPUT_NOT_FOR_BUNDLE",
    message: `${path} is about ${product}, which bundle ${spec.bundleId} does not hold.`,
    remediation: `Leave ${path} out, or choose a bundle with ${product}.`,
  });
  return [
    ...(!products.has("NETVIRT") && spec.netvirtUpgradeUserInputSpecs?.length
      ? [refusal("netvirtUpgradeUserInputSpecs", "NETVIRT")]
      : []),
    ...(!products.has("MGMT") && spec.mgmtUpgradeUserInputSpecs?.length
      ? [refusal("mgmtUpgradeUserInputSpecs", "MGMT")]
      : []),
    ...(products.has("HOSTOS")
      ? []
      : spec.resourceUpgradeSpecs.flatMap((resource, i) =>
          aboutHosts(resource).map((field) => refusal(`resourceUpgradeSpecs[${i}].${field}`, "HOSTOS")),
        )),
  ];
};

/**
 * Paths, within a resource, of what is given about its hosts. The failure action is not: it holds for every product
 * (docs/spec-gaps.md, hostosUpgradeFailureAction).
 */
function aboutHosts(resource: ResourceUpgradeSpec): string[] {
  const { hostosUpgradeFailureAction: _everyProduct, ...options } = resource.hostosUpgradeOptionsSpec ?? {};
  const isGiven = (value: unknown) => value !== undefined && value !== false;
  return [
    ...hostFields.filter((field) => isGiven(resource[field])),
    ...Object.entries(options)
      .filter(([, value]) => isGiven(value))
      .map(([field]) => `hostosUpgradeOptionsSpec.${field}`),
  ];
}
