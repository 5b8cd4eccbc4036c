import * as RA from "fp-ts/ReadonlyArray";
import type * as t from "io-ts";
import { quote, type FieldProblem } from "./decode-errors";
import { isTypoOf } from "./nearest-name";
import { boundedWarnings, mostWarnings, type RequestWarning } from "./request-warning";
import { nearestKnownName, type UnknownField } from "./unknown-fields";

/** The most fields of which it is looked up what was meant; a body can hold a hundred thousand. */
const mostCompared = 100;

/** What becomes of the fields of a request that nobody knows: some cannot be ignored. */
export interface JudgedFields {
  readonly problems: readonly FieldProblem[];
  /** Bounded. */
  readonly warnings: readonly RequestWarning[];
}

/** Every unknown field is an error. */
export function refuseUnknownFields(codec: t.Mixed, unknown: readonly UnknownField[]): JudgedFields {
  return { problems: unknown.map((field, i) => problem(codec, field, i)), warnings: [] };
}

/**
 * Unknown fields are ignored with a warning, but for those that would have made the upgrade smaller or later: a slip in a
 * known name, and a name that says so. Doing more than was asked is the worst answer.
 */
export function tolerateUnknownFields(codec: t.Mixed, unknown: readonly UnknownField[]): JudgedFields {
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
    remediation: "Correct the name or leave the field out; /openapi.json describes every field.",
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
