import { failure, problems } from "../client/new-upgrade";
import { revealField } from "./form-context";
import { ErrorNote } from "../parts/error-note";

/** What stands in the way, each problem with a way to its field; below, what the service said of no field. */
export function ProblemSummary() {
  const placed = problems.value;
  const error = failure.value;
  if (placed.length === 0)
    return (
      <div id="problem-summary" tabIndex={-1}>
        {error && <ErrorNote error={error} isAlert />}
      </div>
    );
  return (
    <div class="error" role="alert" id="problem-summary" tabIndex={-1}>
      <p class="remedy">
        {placed.length === 1 ? "One thing has to be put right:" : `${placed.length} things have to be put right:`}
      </p>
      <ul>
        {placed.map(({ at, message, remediation }) => (
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
