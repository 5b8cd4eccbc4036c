import type { ErrorBody } from "../../domain/errors";
import type { FieldError } from "../client/new-upgrade";
import { ErrorNote } from "../parts/error-note";
import { revealField } from "./form-context";

interface ProblemSummaryProps {
  readonly problems: readonly FieldError[];
  /** What the service has refused, where it named no field. */
  readonly error: ErrorBody | undefined;
}

/** What stands in the way, each problem with a way to its field; without any, what the service said of no field. */
export function ProblemSummary({ problems, error }: ProblemSummaryProps) {
  if (problems.length === 0)
    return (
      <div id="problem-summary" tabIndex={-1}>
        {error && <ErrorNote error={error} isAlert />}
      </div>
    );
  return (
    <div class="error" role="alert" id="problem-summary" tabIndex={-1}>
      <p class="remedy">
        {problems.length === 1 ? "One thing has to be put right:" : `${problems.length} things have to be put right:`}
      </p>
      <ul>
        {problems.map(({ at, message, remediation }) => (
          <li key={`${at} ${message}`}>
            <button type="button" class="link" onClick={() => revealField(at)?.focus()}>
              {message}
            </button>
            {remediation !== undefined && ` ${remediation}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
