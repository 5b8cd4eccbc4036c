import type { ErrorBody } from "../../domain/error-body";

/**
 * Why the API did not do what was asked. `isUnreachable`: it gave no answer at all. `retryAfterSeconds`: when it wants to
 * be asked again, where it said so.
 */
export class ApiFailure extends Error {
  constructor(
    readonly body: ErrorBody,
    readonly isUnreachable = false,
    readonly retryAfterSeconds = 0,
  ) {
    super(body.message);
  }
}

/** The failure of a request that got no answer. */
export function unreachable(): ApiFailure {
  return new ApiFailure(
    {
      message: "The API does not answer.",
      remediationMessage: "Check that the service runs; the console tries again by itself.",
    },
    true,
  );
}

/** For how many seconds the API does not want to be asked again; 0 where it did not say. */
export function retryAfterOf(thrown: unknown): number {
  return thrown instanceof ApiFailure ? thrown.retryAfterSeconds : 0;
}

/** What to show of anything that was thrown. */
export function errorBodyOf(thrown: unknown): ErrorBody {
  if (thrown instanceof ApiFailure) return thrown.body;
  return {
    message: thrown instanceof Error ? thrown.message : "Something went wrong in this page.",
    remediationMessage: "Load the page again.",
  };
}
