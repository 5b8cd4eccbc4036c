import type { ErrorBody } from "../../domain/errors";
import type { StageStatus, SubTaskStatus, Task } from "../../domain/spec/task";
import { checksType } from "../../domain/task/own-checks";
import type { StatusWords } from "./labels";

const ofChecks: Record<SubTaskStatus | StageStatus, StatusWords> = {
  PENDING: { tone: "waiting", sign: "○", word: "Waiting" },
  IN_PROGRESS: { tone: "running", sign: "▶", word: "Asking" },
  SUCCESSFUL: { tone: "good", sign: "✓", word: "Passed" },
  FAILED: { tone: "bad", sign: "✕", word: "Not passed" },
  NOT_APPLICABLE: { tone: "off", sign: "–", word: "Not needed" },
};

/** An own check, or all of them: what is asked again and again has not failed, and does not run either. */
export const wordsOfCheck = (status: SubTaskStatus | StageStatus): StatusWords => ofChecks[status];

/** Why an own check has paused an upgrade; undefined where none has, or where it goes on in spite of it. */
export function pausingCheck({ subTasks = [] }: Pick<Task, "subTasks">): ErrorBody | undefined {
  const part = subTasks.find(({ type }) => type === checksType);
  if (part?.status !== "IN_PROGRESS") return undefined;
  // The next one is asked as soon as somebody accepts that this one has not passed.
  const last = (part.stages ?? []).findLast(({ status }) => status !== "PENDING");
  return last?.status === "FAILED" ? last.errors?.[0] : undefined;
}
