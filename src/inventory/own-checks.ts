import type { CheckDefinition } from "../domain/checks/check-definition";
import { type CheckKind, type CheckPoint, checkPoints, type PlannedCheck } from "../domain/checks/own-check";
import { EndpointReader } from "./endpoint-reader";
import type { InventoryContent } from "./inventory-content";
import type { SecretReader } from "./read-secret";

/** A check of the operators: what upgrades plan of it, and how it is asked. The latter holds secrets, and is never logged. */
export interface OwnCheckEntry {
  readonly planned: PlannedCheck;
  readonly definition: CheckDefinition;
}

type Check = NonNullable<InventoryContent["checks"]>[number];

/** Every upgrade keeps what each of them has said. */
const mostChecks = 20;

const mostMatchers = 20;

/** A query is part of a URL. */
const longestQuery = 2_000;

const defaults = { timeoutSeconds: 10, intervalSeconds: 30, decideMinutes: 24 * 60 };

const endpoint = ["url", "urlFile", "urlVariable", "allowHttp"] as const;
const monitoring = [...endpoint, "tokenFile", "tokenVariable"] as const;

/** What the fields of each kind are, beside those that all have. */
const fieldsOf: Readonly<Record<CheckKind, readonly (keyof Check)[]>> = {
  PROMETHEUS: [...monitoring, "query", "condition", "emptyPasses"],
  ALERTMANAGER: [...monitoring, "filter"],
  WEBHOOK: [...endpoint, "secretFile", "secretVariable", "decideMinutes"],
};

const points: ReadonlySet<string> = new Set<CheckPoint>(checkPoints);

/** The checks by id, in the order of the inventory; what is wrong with them goes to `problems`. */
export function ownChecks(
  checks: readonly Check[],
  readSecret: SecretReader,
  problems: string[],
): ReadonlyMap<string, OwnCheckEntry> {
  const entries = new Map<string, OwnCheckEntry>();
  const ids = new Set<string>();
  if (checks.length > mostChecks) problems.push(`There are more than ${mostChecks} checks.`);
  for (const check of checks) {
    const { id, kind } = check;
    const reader = new CheckReader(`check ${id}`, readSecret, problems);
    if (ids.has(id)) problems.push(`Check ${id} occurs twice.`);
    ids.add(id);
    if (!/^[\w.-]{1,100}$/.test(id))
      reader.wrong(`The id of check ${id} must be 1 to 100 letters, digits, dots, hyphens and underscores.`);
    for (const field of Object.values(fieldsOf).flat())
      if (check[field] !== undefined && !fieldsOf[kind].includes(field))
        reader.wrong(`The field ${field} of check ${id} does not belong to the kind ${kind}.`);
    if (check.domains?.length === 0)
      reader.wrong(`The domains of check ${id} are empty: name some, or remove the field.`);
    const at = reader.points(check.at);
    const definition = reader.definition(check);
    if (!definition) continue;
    const { onFailure, domains, intervalSeconds = defaults.intervalSeconds } = check;
    const { decideMinutes = defaults.decideMinutes } = check;
    const planned = { id, kind, at, onFailure, intervalSeconds, decideMinutes, ...(domains && { domains }) };
    entries.set(id, { planned, definition });
  }
  return entries;
}

/** Reads one check. */
class CheckReader extends EndpointReader {
  points(at: readonly string[]): CheckPoint[] {
    if (at.length === 0) this.wrong(`The ${this.who} has no at: write ${checkPoints.join(", ")}, or several.`);
    for (const point of at.filter((one) => !isPoint(one)))
      this.wrong(
        point === "AFTER_STAGE"
          ? `The ${this.who} has at AFTER_STAGE, which needs campaigns: this version has none.`
          : `The ${this.who} has at ${point}: this version knows ${checkPoints.join(", ")}.`,
      );
    return [...new Set(at.filter(isPoint))];
  }

  definition(check: Check): CheckDefinition | undefined {
    const { id, timeoutSeconds = defaults.timeoutSeconds } = check;
    const common = { id, timeoutSeconds };
    const url = this.url(check);
    if (check.kind === "WEBHOOK") {
      const secrets = this.secrets(check);
      return url === undefined ? undefined : { ...common, kind: "WEBHOOK", url, secrets };
    }
    // Paths and parameters are appended to it.
    if (url !== undefined && /[?#]/.test(url))
      this.wrong(`The url of ${this.who} must end before ? and #: the address of the server, and its path prefix.`);
    const token = this.token(check);
    const address = url === undefined ? undefined : { url, ...(token !== undefined && { token }) };
    if (check.kind === "ALERTMANAGER") {
      const { filter = [] } = check;
      if (filter.length === 0 || filter.length > mostMatchers)
        this.wrong(`The filter of ${this.who} must have 1 to ${mostMatchers} matchers, such as severity="critical".`);
      return address && { ...common, kind: "ALERTMANAGER", ...address, filter };
    }
    const { query = "", condition, emptyPasses = false } = check;
    if (query.trim() === "" || query.length > longestQuery)
      this.wrong(`The query of ${this.who} must be PromQL of at most ${longestQuery} characters.`);
    if (!condition) return this.wrong(`The ${this.who} has no condition, such as {operator: LT, value: 0.05}.`);
    return address && { ...common, kind: "PROMETHEUS", ...address, query, condition, emptyPasses };
  }

  private token({ tokenFile: file, tokenVariable: variable }: Check): string | undefined {
    if (file === undefined && variable === undefined) return undefined;
    const token = this.secret("token", "tokenFile nor tokenVariable", { file, variable });
    if (token === undefined || /^[\x21-\x7e]{1,8192}$/.test(token)) return token;
    return this.wrong(`The token of ${this.who} must be one line of ASCII without spaces.`);
  }
}

function isPoint(point: string): point is CheckPoint {
  return points.has(point);
}
