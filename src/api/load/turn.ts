import * as E from "fp-ts/Either";
import type { TaskEither } from "fp-ts/TaskEither";
import type { ApiError } from "../api-error";
import type { Pass } from "./gate";

/** Does work when it is a request's turn, or fails with what refuses it. `taskIdOf` names the Task that it answers. */
export type Turn = <A>(work: TaskEither<ApiError, A>, taskIdOf?: (answer: A) => string) => TaskEither<ApiError, A>;

/**
 * The turn of a request that was let in; `refusal` is made only where it does not come. Work that goes on after its
 * answer, as `afterwards` says of its Task, keeps its place as long.
 */
export function turnOf(
  pass: Pass,
  refusal: () => ApiError,
  afterwards?: (taskId: string) => Promise<void> | undefined,
): Turn {
  return (work, taskIdOf) => async () => {
    if (!(await pass.begin())) return E.left(refusal());
    let goesOn: Promise<void> | undefined;
    try {
      const outcome = await work();
      if (E.isRight(outcome) && taskIdOf) goesOn = afterwards?.(taskIdOf(outcome.right));
      return outcome;
    } finally {
      if (goesOn) void goesOn.finally(() => pass.end());
      else pass.end();
    }
  };
}
