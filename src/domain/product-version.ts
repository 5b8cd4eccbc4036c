import { compareVersions } from "./version";

/** What a host tells of the product that it runs: its release and build, such as `9.0.1` and `24957456`. */
interface Product {
  readonly version: string;
  readonly build: string;
}

/**
 * How a host compares with a base image version. A host tells its release and build (`9.0.1`, `24957456`), not the patch
 * level that the version (`9.0.1-0.24957456`) has in between. Negative where the host is the older one, 0 where it is the
 * same.
 */
export function compareToTarget({ version, build }: Product, target: string): number {
  return compareVersions(`${version}-${build}`, target);
}

/** Whether a host runs a base image version; false where its own is not known. */
export function isAtVersion(product: Product | undefined, target: string): boolean {
  return product !== undefined && compareToTarget(product, target) === 0;
}

/** A host's own version for people; empty where it is not known. */
export function versionText(product: Product | undefined): string {
  return product ? `${product.version} build ${product.build}` : "";
}

/** The same from {@link versionText}; undefined where the text is another one. */
export function productOfText(text: string | undefined): Product | undefined {
  const [, version, build] = /^(\S+) build (\S+)$/.exec(text ?? "") ?? [];
  return version !== undefined && build !== undefined ? { version, build } : undefined;
}
