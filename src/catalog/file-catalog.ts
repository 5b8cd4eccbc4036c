import { readFileSync } from "node:fs";
import * as E from "fp-ts/Either";
import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import * as t from "io-ts";
import { parse } from "yaml";
import { Bundle } from "../domain/bundle";
import { canonicalId } from "../domain/codec";
import { unknownFieldLines } from "../domain/unknown-fields";
import { products } from "../domain/upgrade-plan";
import { isProductVersion } from "../domain/version";
import type { BundleCatalog } from "../upgrades/ports";

const Bundles = t.array(Bundle);

/** Reads the bundle catalog. On the left: what is wrong with the file, a line each. */
export function readCatalog(file: string): E.Either<readonly string[], BundleCatalog> {
  return E.map((list: readonly Bundle[]): BundleCatalog => {
    const bundles = new Map(list.map((bundle) => [bundle.id, bundle]));
    return {
      find: (bundleId) => TE.right(O.fromNullable(bundles.get(bundleId))),
      list: () => TE.right(list),
    };
  })(readBundles(file));
}

/** Its bundles, of a YAML list of Bundles (Spec 2.6). On the left: what is wrong with the file, a line each. */
export function readBundles(file: string): E.Either<readonly string[], readonly Bundle[]> {
  let content: unknown;
  try {
    content = parse(readFileSync(file, "utf8"));
  } catch (error) {
    return E.left([error instanceof Error ? (error.message.split("\n")[0] ?? "unreadable") : String(error)]);
  }
  const decoded = Bundles.decode(content);
  const unknown = unknownFieldLines(Bundles, content).map((line) => line.replace(/^\[(\d+)\]\./, "Bundle $1: "));
  if (E.isLeft(decoded)) return E.left([...unknown, ...new Set(decoded.left.map(whatIsWrong))]);
  if (unknown.length > 0) return E.left(unknown);
  const list = decoded.right.map((bundle) => ({ ...bundle, id: canonicalId(bundle.id) }));
  const problems = contradictions(list);
  if (problems.length > 0) return E.left(problems);
  return E.right(list);
}

function contradictions(bundles: readonly Bundle[]): string[] {
  const ids = bundles.map(({ id }) => id);
  return [
    ...new Set(ids.filter((id, i) => ids.indexOf(id) < i).map((id) => `Bundle ${id} is there twice.`)),
    ...bundles.flatMap(impossibleTargets),
  ];
}

/** Targets that no manager could offer: an upgrade to them could only fail, and late. */
function impossibleTargets({ id, components = [] }: Bundle): string[] {
  return components.flatMap(({ type = "", toVersion }) => {
    if (!products.some((product) => product === type)) return [];
    if (!toVersion) return [`Bundle ${id}: its ${type} component has no toVersion.`];
    const isHostos = type === "HOSTOS";
    if (isProductVersion(toVersion, { build: isHostos })) return [];
    const example = isHostos ? "a release and build such as 9.0.1-24957456" : "a version such as 9.0.2.0-25148086";
    return [`Bundle ${id}: toVersion ${toVersion} of its ${type} component is not ${example}.`];
  });
}

/** Numbers are places in the list, "0" and "1" inside a bundle are the halves of its codec. */
function whatIsWrong({ context }: t.ValidationError): string {
  const [, place, ...fields] = context.map(({ key }) => key);
  if (place === undefined) return "The catalog must be a list of bundles.";
  const path = fields.filter((key, i) => !/^[01]$/.test(key) || fields[i - 1] === "components");
  return `Bundle ${place}: ${path.join(".") || "the whole entry"} is missing or not what the specification says.`;
}
