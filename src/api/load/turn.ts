import * as E from "fp-ts/Either";
import type { TaskEither } from "fp-ts/TaskEither";
import type { ApiError } from "../api-error";
import type { Pass } from "./gate";

/** Does work when it is a request's turn, or fails with what refuses it. */
export type Turn = <A>(work: TaskEither<ApiError, A>) => TaskEither<ApiError, A>;

/** The turn of a request that was let in; `refusal` is made only where it does not come. */
export function turnOf(pass: Pass, refusal: () => ApiError): Turn {
  return (work) => async () => {
    if (!(await pass.begin())) return E.left(refusal());
    try {
      return await work();
    } finally {
      pass.end();
    }
  };
}
