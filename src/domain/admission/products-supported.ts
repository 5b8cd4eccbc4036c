import { isNone } from "fp-ts/Option";
import { productsOf } from "../bundle-products";
import type { AdmissionRule, Rejection } from "./admission-rule";

/** The bundle and the user inputs ask only for products that this service upgrades: HOSTOS so far. */
export const productsSupported: AdmissionRule = ({ spec, bundle }) => {
  const rejections: Rejection[] = [];
  const refuse = (path: string, message: string) =>
    rejections.push({
      effect: "NOT_ALLOWED",
      path,
      code: "PRODUCT_NOT_SUPPORTED",
      message,
      remediation: "Choose a bundle that holds HOSTOS only, without inputs for other products.",
    });
  if (!isNone(bundle)) {
    const products = productsOf(bundle.value);
    const others = products.filter((product) => product !== "HOSTOS");
    if (others.length > 0) refuse("bundleId", `This service does not upgrade ${others.join(" and ")} yet.`);
    if (products.length === 0) refuse("bundleId", `Bundle ${spec.bundleId} holds no product that can be upgraded.`);
  }
  if (spec.netvirtUpgradeUserInputSpecs?.length) {
    refuse("netvirtUpgradeUserInputSpecs", "This service does not upgrade NETVIRT yet.");
  }
  if (spec.mgmtUpgradeUserInputSpecs?.length) {
    refuse("mgmtUpgradeUserInputSpecs", "This service does not upgrade MGMT yet.");
  }
  return rejections;
};
