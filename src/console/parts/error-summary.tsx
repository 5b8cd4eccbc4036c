import type { Task } from "../../domain/spec/task";
import { errorGroups, splitErrors } from "../model/own-errors";
import { ErrorCode, ErrorNote } from "./error-note";

interface ErrorSummaryProps {
  readonly task: Task;
  /** Shows the row of a part in the tree of steps, where its error is. */
  readonly goTo: (key: string) => void;
}

const mostPlaces = 10;

/** What went wrong, in short: each error code with links to where it happened, where the error itself is told. */
export function ErrorSummary({ task, goTo }: ErrorSummaryProps) {
  const groups = errorGroups(task);
  const { now: own } = splitErrors(task);
  if (groups.length === 0 && own.length === 0) return null;
  return (
    <section aria-labelledby="errors-title">
      <h2 id="errors-title">{task.status === "COMPLETED_WITH_WARNING" ? "What it ended with" : "What went wrong"}</h2>
      {own.map((error, i) => (
        <ErrorNote key={i} error={error} />
      ))}
      <ul class="error-groups">
        {groups.map(({ errorCode, places }) => (
          <li key={errorCode ?? ""}>
            {errorCode === undefined ? "No code" : <ErrorCode code={errorCode} />}
            <span class="small">{places.length > 1 && `, ${places.length} times`}:</span>{" "}
            {places.slice(0, mostPlaces).map(({ key, name }) => (
              <button key={key} type="button" class="link" onClick={() => goTo(key)}>
                {name}
              </button>
            ))}
            {places.length > mostPlaces && (
              <span class="small">and {places.length - mostPlaces} more: see Failed only in the steps</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The errors that a Task keeps of what was retried since. */
export function PastErrors({ task }: { readonly task: Task }) {
  const { past: own } = splitErrors(task);
  if (own.length === 0) return null;
  return (
    <section aria-labelledby="past-errors-title">
      <h2 id="past-errors-title">What went wrong before the retry</h2>
      {own.map((error, i) => (
        <ErrorNote key={i} error={error} />
      ))}
    </section>
  );
}
