import * as RA from "fp-ts/ReadonlyArray";
import type * as t from "io-ts";
import { shapeOf } from "./codec";
import { type FieldProblem, quote } from "./decode";
import { boundedWarnings, mostWarnings, type RequestWarning } from "./spec/request-warning";

/** A field that a codec does not know and decoding therefore drops. */
interface UnknownField {
  /** Such as `resourceUpgradeSpecs[0].typo`. */
  readonly path: string;
  readonly name: string;
  readonly value: unknown;
  /** The names that are known at its place. */
  readonly known: readonly string[];
}

/** The fields that a codec does not know, in their own order. What does not decode at all is not looked into. */
export function unknownFields(codec: t.Mixed, value: unknown, path = ""): readonly UnknownField[] {
  const shape = shapeOf(codec);
  if (shape.kind === "list") return elementsOf(shape.element, value, path);
  if (shape.kind === "described" && shape.codec.schema.items) return elementsOf(shape.codec.schema.items, value, path);
  if (shape.kind !== "object" || typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const fields: t.Props = { ...shape.required, ...shape.optional };
  const known = Object.keys(fields);
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return field ? unknownFields(field, inner, at) : [{ path: at, name, value: inner, known }];
  });
}

function elementsOf(element: t.Mixed, value: unknown, path: string): readonly UnknownField[] {
  return Array.isArray(value) ? value.flatMap((inner, i) => unknownFields(element, inner, `${path}[${i}]`)) : [];
}

/** A line for each field of a file that its codec does not know, with the nearest name that is known at its place. */
export function unknownFieldLines(codec: t.Mixed, content: unknown): readonly string[] {
  return unknownFields(codec, content).map(({ path, name, known }) => {
    const nearest = nearestName(name, known);
    return `${path}: there is no such field.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`;
  });
}

/** The known name that an unknown field most likely stands for: one of its own place, or the same name at another place. */
function nearestKnownName(codec: t.Mixed, { name, known }: UnknownField): string | undefined {
  const elsewhere = known.includes(name) ? undefined : pathsByName(codec).get(name);
  return elsewhere ?? nearestName(name, known);
}

/** Every field name that a codec knows at any depth, with the path of the first place: `resourceUpgradeSpecs[].toVersion`. */
function pathsByName(codec: t.Mixed, path = "", found = new Map<string, string>()): ReadonlyMap<string, string> {
  const shape = shapeOf(codec);
  const element =
    shape.kind === "list" ? shape.element : shape.kind === "described" ? shape.codec.schema.items : undefined;
  if (element) return pathsByName(element, `${path}[]`, found);
  if (shape.kind !== "object") return found;
  for (const [name, field] of Object.entries<t.Mixed>({ ...shape.required, ...shape.optional })) {
    const at = path === "" ? name : `${path}.${name}`;
    if (!found.has(name)) found.set(name, at);
    pathsByName(field, at, found);
  }
  return found;
}

/** The most fields of which it is looked up what was meant; a body can hold a hundred thousand. */
const mostCompared = 100;

/** What becomes of the fields of a request that nobody knows: some cannot be ignored. */
export interface CheckedFields {
  readonly problems: readonly FieldProblem[];
  /** Bounded. */
  readonly warnings: readonly RequestWarning[];
}

/** Every unknown field is an error. */
export function refuseUnknownFields(codec: t.Mixed, unknown: readonly UnknownField[]): CheckedFields {
  return { problems: unknown.map((field, i) => problem(codec, field, i)), warnings: [] };
}

/**
 * Unknown fields are ignored with a warning, but for those that would have made the upgrade smaller or later: a slip in a
 * known name, and a name that says so. Doing more than was asked is the worst answer.
 */
export function tolerateUnknownFields(codec: t.Mixed, unknown: readonly UnknownField[]): CheckedFields {
  const mustNotBeIgnored = ({ name, value, known }: UnknownField) =>
    value !== null && (known.some((one) => isTypoOf(name, one)) || restricts(name));
  const { left: ignored, right: refused } = RA.partition(mustNotBeIgnored)(unknown);
  const warnings = ignored.map((field, i): RequestWarning => {
    if (i > mostWarnings) return { code: "UNKNOWN_FIELD", message: "" };
    const nearestName = nearestKnownName(codec, field);
    return {
      code: "UNKNOWN_FIELD",
      path: cutPath(field.path),
      ...(nearestName !== undefined && { nearestName }),
      message: `${describe(codec, field)}. It was ignored.`,
    };
  });
  return { problems: refused.map((field, i) => problem(codec, field, i)), warnings: boundedWarnings(warnings) };
}

function problem(codec: t.Mixed, field: UnknownField, i: number): FieldProblem {
  return {
    path: cutPath(field.path),
    code: "UNKNOWN_FIELD",
    message: i < mostCompared ? `${describe(codec, field)}.` : `${cutPath(field.path)}: there is no such field.`,
    remediation: "Correct the name or remove the field; /openapi.json describes every field.",
  };
}

/** Without a full stop. */
function describe(codec: t.Mixed, field: UnknownField): string {
  const nearest = nearestKnownName(codec, field);
  const hint = nearest === undefined ? "" : `; the nearest known name is ${nearest}`;
  return `${cutPath(field.path)}: there is no field ${quote(field.name)} here${hint}`;
}

/** A path ends in a client's own name, which may be long. */
function cutPath(path: string): string {
  return path.length <= 255 ? path : `${path.slice(0, 254)}…`;
}

/** Words of names that say that not everything, or nothing yet, or nothing at all is to be done. */
const restrictingWords = new Set(
  [
    "host hosts node nodes clusters targets only subset scope filter filters selector selectors select selected",
    "selection limit limits max maximum skip skips skipped except omit without partial partially canary batch percent",
    "percentage window windows draft drafts delay delayed delays defer deferred later after before until deadline wait",
    "hold held postpone postponed cron calendar approval approve approved confirm confirmation manual manually pause",
    "cluster vm vms resource resources validate commit auto autocommit enabled stage sequential serial when",
    "paused suspend suspended dry simulate simulated simulation preview noop trial rehearsal test hostname hostnames",
  ].flatMap((line) => line.split(" ")),
);

/** What such names begin with or hold, also where nobody can tell their words apart (`dryrun`, `excludedhosts`). */
const restrictingParts = /exclu|inclu|schedul|dryrun|readonly|whatif|hostids|hostlist/;

/** A beginning together with a time. */
const beginnings = new Set(["start", "starts", "begin", "begins", "run", "execute", "execution", "upgrade"]);
const times = new Set(["time", "at", "date", "datetime", "timestamp", "on", "now", "immediately"]);

/** Whether a name says that it narrows the scope of an upgrade or delays it. */
function restricts(name: string): boolean {
  const words = wordsOf(name.slice(0, 255));
  return (
    words.some((word) => restrictingWords.has(word)) ||
    restrictingParts.test(words.join("")) ||
    (words.some((word) => beginnings.has(word)) && words.some((word) => times.has(word)))
  );
}

/** The words of a name in camelCase, snake_case, kebab-case or with spaces, in lower case: `dryRun`, `DRY_RUN`, `hostIDs`. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== "");
}

/** Names longer than this are nobody's slip of a finger; comparing them would take long. */
const longestCompared = 64;

/** The known name that a name is most like, whatever its case; undefined where none is known. The first of several. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > longestCompared) return known[0];
  const distances = known.map((one) => ({ one, edits: editsBetween(plain(name), plain(one)) }));
  return distances.sort((a, b) => a.edits - b.edits)[0]?.one;
}

/**
 * Whether a name is a known one but for its case, its separators (`bundle_id`, `bundle-id`) or one edit: a letter too many,
 * too few, another one, or two that have changed places.
 */
export function isTypoOf(name: string, known: string): boolean {
  if (name.length > longestCompared) return false;
  const [a, b] = [plain(name), plain(known)];
  // A request can have a hundred thousand names.
  return Math.abs(a.length - b.length) <= 1 && editsBetween(a, b) <= 1;
}

/** Whether a name is a known one but for its case and separators. */
export function isOtherCaseOf(name: string, known: string): boolean {
  return name.length <= longestCompared && plain(name) === plain(known);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_.-]/g, "");
}

/**
 * Edits that make one text of the other (optimal string alignment). Own code, because the well-kept packages take two letters
 * that have changed places for two edits.
 */
function editsBetween(a: string, b: string): number {
  let [twoBefore, before]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const edits = [(before?.[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (before?.[j - 1] ?? 0) + (same ? 0 : 1)];
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits.push((twoBefore?.[j - 2] ?? 0) + 1);
      row.push(Math.min(...edits));
    }
    [twoBefore, before] = [before, row];
  }
  return before?.[b.length] ?? 0;
}
