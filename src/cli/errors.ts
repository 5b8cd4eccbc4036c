import type { ErrorBody } from "../domain/errors";

/** Ends a command: with which code, what is wrong, and the one thing to do next. */
export class CliError extends Error {
  /** The service's own Error, where it gave one. */
  readonly body: ErrorBody | undefined;
  /** What belongs to the message, a line each. */
  readonly details: readonly string[];

  constructor(
    readonly code: ExitCode,
    message: string,
    readonly nextStep: string,
    { body, cause, details = [] }: ErrorParts = {},
  ) {
    super(message, { cause });
    this.body = body;
    this.details = details;
  }
}

interface ErrorParts {
  readonly body?: ErrorBody;
  readonly details?: readonly string[];
  readonly cause?: unknown;
}

/** For arguments and files that cannot be used as they are. */
export function wrongUsage(message: string, nextStep: string, parts?: ErrorParts): CliError {
  return new CliError(exitCode.wrongUsage, message, nextStep, parts);
}

/** The error of an answer of the service; `nextStep` is its own remediation where it gives one. */
export function answeredError(status: number, body: ErrorBody): CliError {
  const isRefused = status < 500 || isShed(body);
  const code = isRefused ? exitCode.refused : isAway(status) ? exitCode.notReachable : exitCode.failed;
  const nextStep = isUnauthorized(status, body)
    ? "Log in with `upgradectl login`, or set UPGRADECTL_TOKEN."
    : (body.remediationMessage ?? "Look the error code up in docs/error-codes.md.");
  return new CliError(code, body.message, nextStep, { body });
}

/** The option that a field of a request comes from; undefined where none does. */
export type OptionOf = (path: string) => string | undefined;

/** Paths of fields in messages; an index is always part of a path. */
const paths = /[A-Za-z]+\[\d+\](?:\.[A-Za-z]+)*|[A-Za-z]+/g;

/** An error of the service in the terms of the command line, where the request was made from options. */
export function inTermsOfOptions(error: unknown, optionOf: OptionOf): unknown {
  if (!(error instanceof CliError) || !error.body) return error;
  const named: string[] = [];
  const translate = (body: ErrorBody): ErrorBody => {
    const path = body.context?.["path"];
    const option = path === undefined ? undefined : optionOf(path);
    const { nestedErrors } = body;
    if (option !== undefined) named.push(option.split(" ")[0] ?? option);
    return {
      ...body,
      message: path === undefined ? body.message : messageOf(body.message, path, option, optionOf),
      ...(nestedErrors && { nestedErrors: nestedErrors.map(translate) }),
    };
  };
  const body = translate(error.body);
  if (named.length === 0) return error;
  const nextStep = `Correct ${[...new Set(named)].join(" and ")}; --help describes it.`;
  return new CliError(error.code, body.message, nextStep, { body, cause: error });
}

/** `path: expected x` and `The query parameter path must be x` begin with the option then; what names no path gets it in front. */
function messageOf(message: string, path: string, option: string | undefined, optionOf: OptionOf): string {
  const inOptions = message
    .replace(`The query parameter ${path} `, `${path} `)
    .replace(paths, (word) => (word === path || word.includes("[") ? (optionOf(word) ?? word) : word));
  return option === undefined || inOptions.includes(option) ? inOptions : `${option}: ${inOptions}`;
}

/** Whether an answer says that the credentials are missing or no longer good. */
export function isUnauthorized(status: number, { errorCode }: ErrorBody): boolean {
  return status === 403 && errorCode === "Unauthorized";
}

/** Answers of a proxy, or of a service that is not ready: it may work again in a moment. */
function isAway(status: number): boolean {
  return status === 502 || status === 503 || status === 504;
}

/** Whether a request was refused before anything was done, so that it may be sent again whatever it was. */
export function isShed({ errorCode }: ErrorBody): boolean {
  return errorCode === "OVERLOADED" || errorCode === "RATE_LIMITED";
}

/** What `upgradectl` ends with, so that a script can tell the cases apart (docs/upgradectl.md). */
export const exitCode = {
  successful: 0,
  /** The upgrade failed or was cancelled, or the service failed. */
  failed: 1,
  wrongUsage: 2,
  /** Nothing answers at the server's address, or not as this service does. */
  notReachable: 3,
  /** The service understood and said no. */
  refused: 4,
  /** What shells expect of a program that Ctrl-C has ended. */
  interrupted: 130,
} as const;

/** One of them. */
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
