/**
 * What was answered: the status, and of an error its code, the state that it names (`context.status`), and of one that
 * is composed of several problems (error-codes.md) what each of them would be alone.
 */
export interface Answered {
  readonly status: number;
  readonly code?: string;
  readonly state?: string;
  readonly nested?: readonly Answered[];
}

/** The part of an error's body that the walk looks at. */
export interface AnsweredError {
  readonly errorCode?: string;
  readonly errorType?: string;
  readonly context?: { readonly status?: string };
  readonly nestedErrors?: readonly AnsweredError[];
}

/** Codes of errors that say nothing of their own, by status; the status of several problems is the first of these that one has. */
const composites: Readonly<Record<number, string>> = {
  400: "INVALID_REQUEST",
  403: "OPERATION_NOT_ALLOWED",
  424: "FAILED_DEPENDENCY",
};

/** Statuses of problems that can come together, by `errorType`. */
const statuses: Readonly<Record<string, number>> = { INVALID_INPUT: 400, NOT_ALLOWED: 403, FAILED_DEPENDENCY: 424 };

/** An answer with this status and, where it is an error, this body. */
export function answered(status: number, error?: AnsweredError): Answered {
  const { errorCode: code, context, nestedErrors = [] } = error ?? {};
  const isComposite = code !== undefined && code === composites[status];
  return {
    status,
    ...(code !== undefined && { code }),
    ...(context?.status !== undefined && { state: context.status }),
    ...(isComposite && { nested: nestedErrors.map((one) => answered(statuses[one.errorType ?? ""] ?? 500, one)) }),
  };
}

/**
 * The problems that an answer is composed of; one that is not composed is the only one. Throws where its status or code
 * is not that of several problems together.
 */
export function problemsOf(answer: Answered): readonly Answered[] {
  const { status, code, nested } = answer;
  if (!nested) return [answer];
  const expected = answerOf(nested);
  if (nested.length < 2 || status !== expected?.status || code !== expected.code)
    throw new Error(`The answer ${nameOf(answer)} is not what its problems make together`);
  return nested;
}

/** The answer to a request that has these problems; undefined without any. */
export function answerOf(problems: readonly Answered[]): Answered | undefined {
  if (problems.length < 2) return problems[0];
  // What the client can mend first (spec-gaps.md, which status when several apply).
  const status = Math.min(...problems.map((one) => one.status));
  const code = composites[status];
  return { status, ...(code !== undefined && { code }), nested: problems };
}

/** An answer's name in counts; of one that is composed with all of its problems. */
export function nameOf(answer: Answered | undefined): string {
  if (!answer) return "none";
  const { status, code, nested } = answer;
  const name = code === undefined ? String(status) : `${status} ${code}`;
  return nested ? `${name} (${nested.map(nameOf).join(", ")})` : name;
}
