import type { Bundle, BundleComponent } from "./bundle";
import { products, type Product } from "./upgrade-plan";

/** The products of a bundle's components, in the order in which they are upgraded. */
export function productsOf(bundle: Bundle): Product[] {
  return products.filter((product) => componentOf(bundle, product) !== undefined);
}

/** The bundle's component of a product, where it has one. */
export function componentOf(bundle: Bundle, product: Product): BundleComponent | undefined {
  return bundle.components?.find((component) => component.type === product);
}
