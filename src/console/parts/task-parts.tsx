import { useState } from "preact/hooks";
import type { Task } from "../../domain/task";
import { anyFailed } from "../model/task-rows";
import { TaskTree } from "./task-tree";

/** All parts of a Task, or only those that failed. */
export function TaskParts({ task }: { readonly task: Task }) {
  const [failedOnly, setFailedOnly] = useState(false);
  const hasFailed = anyFailed(task);
  return (
    <section aria-labelledby="parts-title">
      <div class="headline">
        <h2 id="parts-title">Parts</h2>
        {(hasFailed || failedOnly) && (
          <label class="check">
            <input
              type="checkbox"
              checked={failedOnly}
              onChange={({ currentTarget: { checked } }) => setFailedOnly(checked)}
            />
            Failed only
          </label>
        )}
      </div>
      {failedOnly && !hasFailed ? (
        <p class="small" role="status">
          Nothing is failed any more.
        </p>
      ) : (
        <TaskTree task={task} filter={failedOnly ? "FAILED" : "ALL"} />
      )}
    </section>
  );
}
