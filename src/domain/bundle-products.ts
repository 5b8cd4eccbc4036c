import type { Bundle, BundleComponent } from "./bundle";
import { isSameVersion } from "./version";
import { products, type Product } from "./upgrade-plan";

/** The products of a bundle's components, in the order in which they are upgraded. */
export function productsOf(bundle: Bundle): Product[] {
  return products.filter((product) => componentOf(bundle, product) !== undefined);
}

/** The bundle's component of a product, where it has one. */
export function componentOf(bundle: Bundle, product: Product): BundleComponent | undefined {
  return bundle.components?.find((component) => component.type === product);
}

/**
 * The HOSTOS base image that a request means: the one of its `toVersion` where the bundle has several, else the
 * bundle's first. Undefined where the bundle holds none.
 */
export function hostosVersionOf(bundle: Bundle, toVersion?: string): string | undefined {
  const versions = hostosVersions(bundle);
  if (toVersion === undefined || toVersion === bundle.version) return versions[0];
  return (
    versions.find((offered) => offered === toVersion) ?? versions.find((offered) => isSameVersion(offered, toVersion))
  );
}

/** Every `toVersion` that a request may give: those of the HOSTOS components, and the bundle's own. */
export function versionsOffered(bundle: Bundle): readonly string[] {
  return [...hostosVersions(bundle), ...(bundle.version === undefined ? [] : [bundle.version])];
}

function hostosVersions({ components = [] }: Bundle): readonly string[] {
  return components.flatMap(({ type, toVersion }) => (type === "HOSTOS" ? (toVersion ?? []) : []));
}
