import { isNone } from "fp-ts/Option";
import { productsOf } from "../bundle-products";
import { mgmtInScope, netvirtInScope } from "../upgrade-scope";
import type { AdmissionRule } from "./admission-rule";
import { clustersOfRequest } from "./server-inputs";

/** The request's clusters have something that the bundle upgrades: an upgrade of nothing would only look like one. */
export const productsPresent: AdmissionRule = (request) => {
  const { spec, bundle, installations } = request;
  const clusters = clustersOfRequest(request);
  // What an unknown cluster has is unknown as well; that it is unknown is another rule's business.
  if (isNone(bundle) || clusters.length < spec.resourceUpgradeSpecs.length) return [];
  const products = productsOf(bundle.value);
  const isPresent = {
    NETVIRT: netvirtInScope(clusters, installations).length > 0,
    MGMT: mgmtInScope(clusters, installations).length > 0,
    HOSTOS: true,
  };
  if (products.length === 0 || products.some((product) => isPresent[product])) return [];
  return [
    {
      effect: "NOT_ALLOWED",
      path: "bundleId",
      code: "PRODUCT_NOT_SUPPORTED",
      message: `Bundle ${spec.bundleId} holds ${products.join(" and ")}, which none of the request's clusters has in the inventory.`,
      remediation: "Name clusters that the server serves, add the server to the inventory, or choose another bundle.",
    },
  ];
};
