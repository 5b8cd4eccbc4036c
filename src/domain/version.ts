/** A version as vendors write it in several ways: its release, and its build where it is told. */
export interface ProductVersion {
  /** Without zeros at the end: `9.0.2.0` is `9.0.2`. */
  readonly release: readonly number[];
  readonly build?: number;
}

/** Builds have at least so many digits; what is shorter at the end of a dotted version belongs to its release. */
const leastBuildDigits = 6;

/**
 * The release and build of a version: `9.0.1-24957456`, `9.0.1-0.24957456` (with a patch level in between) and
 * `9.0.1.0.24957456` are the same. What is no number is skipped.
 */
export function parseVersion(version: string): ProductVersion {
  const [dotted = "", ...dashed] = version.split("-");
  const release = numbersOf(dotted);
  const behind = (dashed.join("-").match(/\d+/g) ?? []).map(Number);
  const build = behind.at(-1);
  if (build !== undefined) return { release: withoutZeros(release), build };
  const last = /(\d+)\D*$/.exec(dotted)?.[1] ?? "";
  if (release.length < 2 || last.length < leastBuildDigits) return { release: withoutZeros(release) };
  return { release: withoutZeros(release.slice(0, -1)), build: Number(last) };
}

/**
 * Compares two versions by release, then by build where both tell theirs. Missing numbers of a release count as 0.
 * Negative where `a` is the older one.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  const difference = compareNumbers(left.release, right.release);
  if (difference !== 0 || left.build === undefined || right.build === undefined) return difference;
  return left.build - right.build;
}

/** Whether two spellings mean one version. */
export function isSameVersion(a: string, b: string): boolean {
  return compareVersions(a, b) === 0;
}

/** Compares versions of parts that have a scheme of their own, such as drivers: number by number, from the left. */
export function compareNumberByNumber(a: string, b: string): number {
  return compareNumbers(numbersOf(a), numbersOf(b));
}

/**
 * A HOSTOS version as component managers name base images, `9.0.1-0.24957456`: images are asked for by name. One that has no
 * build stays as it is.
 */
export function imageVersion(version: string): string {
  const { release, build } = parseVersion(version);
  if (build === undefined || /^\d+\.\d+\.\d+-\d+(?:\.\d+)+$/.test(version)) return version;
  const [major = 0, minor = 0, update = 0] = release;
  return release.length > 3 ? version : `${major}.${minor}.${update}-0.${build}`;
}

/** Whether a text is a version that products have: two to five numbers, with a build where one is needed. */
export function isProductVersion(text: string, needs: { readonly build: boolean }): boolean {
  return (
    /^\d{1,9}(?:\.\d{1,9}){1,4}(?:-\d{1,9}(?:\.\d{1,9}){0,4})?$/.test(text) &&
    (!needs.build || parseVersion(text).build !== undefined)
  );
}

function compareNumbers(left: readonly number[], right: readonly number[]): number {
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function withoutZeros(numbers: readonly number[]): readonly number[] {
  return numbers.slice(0, numbers.findLastIndex((one) => one !== 0) + 1);
}

function numbersOf(version: string): number[] {
  return (version.match(/\d+/g) ?? []).map(Number);
}

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
