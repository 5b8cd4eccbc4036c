import { readFileSync } from "node:fs";
import * as E from "fp-ts/Either";
import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import * as t from "io-ts";
import { parse } from "yaml";
import { canonicalId } from "../domain/codec";
import type { ErrorBody } from "../domain/errors";
import { products } from "../domain/plan/upgrade-plan";
import { Bundle } from "../domain/spec/bundle";
import { unknownFieldLines } from "../domain/unknown-fields";
import { isProductVersion } from "../domain/version";
import type { BundleCatalog } from "../upgrades/ports";

const Bundles = t.array(Bundle);

/** Bundles, or what is wrong with the file that should hold them, a line each. */
type Read = E.Either<readonly string[], readonly Bundle[]>;

/** Who is told what becomes of the catalog's file while it is in use. */
interface CatalogReport {
  /** It holds other bundles, or can be used again: these count from now on. */
  onRenewed?(bundles: readonly Bundle[]): void;
  /** It cannot be used, a line for each thing that is wrong; what was read before still counts. Once for each of its states. */
  onBroken?(lines: readonly string[]): void;
}

/** The catalog as its file is whenever it is asked. */
export interface FileCatalog extends BundleCatalog {
  /** What is less well because the file cannot be used, for the readiness: nothing, or one error. */
  problems(): ErrorBody[];
}

/**
 * Reads the bundle catalog, and again whenever it is asked: an operator who recalls a bundle edits the file. While that cannot
 * be used, as in the middle of an edit, what was read before counts. On the left: what is wrong with the file at first.
 */
export function readCatalog(file: string, report: CatalogReport = {}): E.Either<readonly string[], FileCatalog> {
  const source = new CatalogFile(file);
  return E.map((first: readonly Bundle[]): FileCatalog => {
    let list = first;
    let broken: string | undefined;
    const current = () => {
      const read = source.read();
      if (E.isLeft(read)) {
        const wrong = read.left.join("\n");
        if (wrong !== broken) report.onBroken?.(read.left);
        broken = wrong;
      } else if (read.right !== list || broken !== undefined) {
        list = read.right;
        broken = undefined;
        report.onRenewed?.(list);
      }
      return list;
    };
    return {
      find: (bundleId) => TE.fromIO(() => O.fromNullable(current().find(({ id }) => id === bundleId))),
      list: () => TE.fromIO(current),
      problems: () => {
        current();
        return broken === undefined ? [] : [catalogUnusable];
      },
    };
  })(source.read());
}

/** Everybody may read it, so it does not say where the file is and what is in it. */
const catalogUnusable: ErrorBody = {
  errorCode: "CATALOG_UNUSABLE",
  errorType: "INTERNAL",
  message: "The changed bundle catalog file cannot be used; the previous bundles stay.",
  remediationMessage: "Correct the file; the API's log says what is wrong.",
};

/** The file of a catalog, which is read each time and parsed where it holds something else, whatever its times say. */
class CatalogFile {
  readonly #file: string;
  #last: { readonly text: string; readonly bundles: Read } | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  read(): Read {
    const text = E.tryCatch(() => readFileSync(this.#file, "utf8"), firstLine);
    if (E.isLeft(text)) return text;
    if (this.#last?.text !== text.right) this.#last = { text: text.right, bundles: bundlesOf(text.right) };
    return this.#last.bundles;
  }
}

/** The bundles of a catalog's file at this moment. On the left: what is wrong with it, a line each. */
export function readBundles(file: string): Read {
  return new CatalogFile(file).read();
}

function firstLine(error: unknown): readonly string[] {
  return [error instanceof Error ? (error.message.split("\n")[0] ?? "unreadable") : String(error)];
}

/** The bundles of a YAML list of Bundles (Spec 2.6). */
function bundlesOf(text: string): Read {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    return E.left(firstLine(error));
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
    ...new Set(ids.filter((id, i) => ids.indexOf(id) < i).map((id) => `Bundle ${id} occurs twice.`)),
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
  return `Bundle ${place}: ${path.join(".") || "the whole entry"} is missing or does not match the specification.`;
}
