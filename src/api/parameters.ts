import * as t from "io-ts";
import { canonicalId, DescribedType, lengthOf } from "../domain/codec";
import { largestPage, type PageRequest } from "../domain/page";

/** A parameter of a request: which values it takes, and what it is, for readers of the OpenAPI document. */
export interface Parameter<C extends t.Mixed = t.Mixed> {
  readonly codec: C;
  readonly description: string;
}

/** The parameters of one place of a request (path, query or headers), by name. */
export type ParametersByName = Readonly<Record<string, Parameter>>;

/** A parameter with its description: a sentence that says what it means. */
export const parameter = <C extends t.Mixed>(codec: C, description: string): Parameter<C> => ({ codec, description });

/** A whole number in decimal digits, as it stands in a query string, within inclusive bounds. */
export function DecimalBetween(minimum: number, maximum: number): DescribedType<number> {
  const fits = (n: number) => Number.isInteger(n) && n >= minimum && n <= maximum;
  return new DescribedType<number>(
    `a whole number from ${minimum} to ${maximum}`,
    { type: "integer", minimum, maximum },
    (u): u is number => typeof u === "number" && fits(u),
    (u, c) =>
      typeof u === "string" && /^\d{1,10}$/.test(u) && fits(Number(u)) ? t.success(Number(u)) : t.failure(u, c),
    String,
  );
}

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/** The value of the `Idempotency-Key` header: 1 to 255 visible ASCII characters (docs/spec-gaps.md). */
export const IdempotencyKey = new DescribedType<string>(
  "1 to 255 visible ASCII characters without spaces",
  {
    type: "string",
    minLength: 1,
    maxLength: 255,
    pattern: "^[!-~]+$",
  },
  (u): u is string => typeof u === "string" && visibleAscii.test(u),
  (u, c) => (typeof u === "string" && visibleAscii.test(u) ? t.success(u) : t.failure(u, c)),
  t.identity,
);

/** Several values of a parameter, which is repeated or has commas between them. Each is decoded by itself. */
export function SeveralOf<A extends string>(one: t.Type<A, unknown, unknown>) {
  const list = t.array(one);
  return new DescribedType<readonly A[]>(
    one.name,
    { type: "array", items: one, minItems: 1 },
    (u): u is readonly A[] => list.is(u),
    (u, c) => list.validate(u, c),
    t.identity,
  );
}

/** What upgrades are searched by. */
export const SearchText = new DescribedType<string>(
  "a text of at most 100 characters",
  { type: "string", maxLength: 100 },
  (u): u is string => typeof u === "string" && lengthOf(u) <= 100,
  (u, c) => (typeof u === "string" && lengthOf(u) <= 100 ? t.success(u) : t.failure(u, c)),
  t.identity,
);

/** How many elements a page has where only its number is asked for. */
const defaultPageSize = 100;

/** The header of a request that can be repeated. */
export const idempotencyHeader = {
  "Idempotency-Key": parameter(
    IdempotencyKey,
    "Makes a repeated request safe: the same key with the same body answers the same task.",
  ),
};

/** Query parameters of every list (docs/spec-gaps.md, paging). */
export const paging = {
  pageNumber: parameter(
    DecimalBetween(0, 2 ** 31 - 1),
    `Number of the page, counted from 0. Default: 0. Without pageNumber and pageSize, the answer has everything that matches, up to ${largestPage}.`,
  ),
  pageSize: parameter(
    DecimalBetween(1, largestPage),
    `Number of elements of a page. Default: ${defaultPageSize}, if pageNumber is given.`,
  ),
};

/** The page that is asked for, by one of the two parameters or both. */
export function pageRequested({
  pageNumber,
  pageSize,
}: {
  readonly [K in keyof PageRequest]?: PageRequest[K] | undefined;
}): PageRequest | undefined {
  if (pageNumber === undefined && pageSize === undefined) return undefined;
  return { pageNumber: pageNumber ?? 0, pageSize: pageSize ?? defaultPageSize };
}

/** Of any case; decoded ids are in lower case. The expressions of the document know no flag. */
const uuid = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

const precheckId = new RegExp(`${uuid.source.replace(/\$$/, "")}-prechecks-[1-9]\\d{0,5}$`);

/** The id of a precheck run, which is the id of its Task (domain/task/prechecks.ts). */
export const PrecheckId = idType("the id of a precheck run", { pattern: precheckId.source }, (id) =>
  precheckId.test(id),
);

const ofReadiness = "-readiness(?:-\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ)?";
const taskId = new RegExp(`${uuid.source.replace(/\$$/, "")}(?:-prechecks-[1-9]\\d{0,5}|${ofReadiness})?$`);

/** The id of a Task: that of an upgrade, of one of its precheck runs, or of a readiness check. */
export const TaskId = idType(
  "a UUID, or the id of a precheck run or of a readiness check",
  { pattern: taskId.source },
  (id) => taskId.test(id),
);

const scheduleId = new RegExp(`${uuid.source.replace(/\$$/, "")}-readiness$`);

/** The id of a schedule of readiness checks, which is that of the Task of its first run. */
export const ScheduleId = idType("the id of a schedule", { pattern: scheduleId.source }, (id) => scheduleId.test(id));

function idType(expected: string, schema: { readonly pattern: string }, accepts: (id: string) => boolean) {
  const is = (u: unknown): u is string => typeof u === "string" && accepts(u);
  return new DescribedType<string>(
    expected,
    { type: "string", ...schema },
    is,
    (u, c) => (is(u) ? t.success(canonicalId(u)) : t.failure(u, c)),
    t.identity,
  );
}

/** The id of an upgrade and of its task. Without `format: uuid`, of which generators make a type that no answer's id has. */
export const UpgradeId = idType("a UUID", { pattern: uuid.source }, (id) => uuid.test(id));
