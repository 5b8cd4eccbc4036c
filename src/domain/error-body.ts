import * as t from "io-ts";
import { model } from "./codec";

/** One underlying cause of an error (Spec 7). */
export const ErrorCause = model({}, { type: t.string, message: t.string });
export type ErrorCause = t.TypeOf<typeof ErrorCause>;

/**
 * The specification's `Error` (Spec 7), named so that it does not hide JavaScript's. Every field is optional there;
 * `message` is always present here because published clients read it without a check. `context` is a flat map
 * of strings because typed clients refuse anything else.
 */
export interface ErrorBody {
  readonly errorCode?: string;
  readonly errorType?: string;
  readonly arguments?: string[];
  readonly context?: Record<string, string>;
  readonly message: string;
  readonly remediationMessage?: string;
  readonly causes?: ErrorCause[];
  readonly nestedErrors?: ErrorBody[];
  readonly referenceToken?: string;
}

export const ErrorBody: t.Type<ErrorBody, unknown, unknown> = t.recursion("Error", () =>
  model(
    { message: t.string },
    {
      errorCode: t.string,
      errorType: t.string,
      arguments: t.array(t.string),
      context: t.record(t.string, t.string),
      remediationMessage: t.string,
      causes: t.array(ErrorCause),
      nestedErrors: t.array(ErrorBody),
      referenceToken: t.string,
    },
  ),
);
