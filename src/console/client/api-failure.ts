import type { ErrorBody } from "../../domain/error-body";

/** Why the API did not do what was asked. `isUnreachable`: it gave no answer at all. */
export class ApiFailure extends Error {
  constructor(
    readonly body: ErrorBody,
    readonly isUnreachable = false,
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

/** What to show of anything that was thrown. */
export function errorBodyOf(thrown: unknown): ErrorBody {
  if (thrown instanceof ApiFailure) return thrown.body;
  return {
    message: thrown instanceof Error ? thrown.message : "Something went wrong in this page.",
    remediationMessage: "Load the page again.",
  };
}
