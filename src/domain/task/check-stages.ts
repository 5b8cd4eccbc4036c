import { type CheckAnswer, checkError, type CheckPoint, type PlannedCheck } from "../checks/own-check";
import type { Stage, SubTask } from "../spec/task";

/** A check of the inventory that the Workflow of a resource asks, has to ask again, or has the answer of. */
export type CheckProgress = { readonly check: PlannedCheck; readonly point: CheckPoint } & (
  | { readonly type: "CheckAsked"; readonly text?: string }
  | { readonly type: "CheckAnswered"; readonly answer: CheckAnswer }
);

const pointNames: Readonly<Record<CheckPoint, string>> = {
  BEFORE_UPGRADE: "",
  BEFORE_HOST: " before hosts",
  AFTER_HOST: " after hosts",
  AFTER_RESOURCE: " after the upgrade",
};

/** The Stage of a check that has not been asked. */
export function checkStage({ id, kind }: PlannedCheck, point: CheckPoint, at: string): Stage {
  return {
    name: `Check ${id}${pointNames[point]}`,
    type: `${kind}_CHECK`,
    description: "Not asked yet.",
    status: "PENDING",
    creationTimestamp: at,
  };
}

/** The Stage of a check that is asked, or waited for: `text` is what it said last. */
export function askedStage(stage: Stage, text = "Asked; no answer yet."): Stage {
  const { completionTimestamp: _, errors: __, ...rest } = stage;
  return { ...rest, status: "IN_PROGRESS", description: text };
}

/** The Stage of a check that was answered at `at`. */
export function answeredStage(stage: Stage, check: PlannedCheck, answer: CheckAnswer, at: string): Stage {
  const passed = answer.verdict === "PASSED";
  const text = answer.text === "" ? (passed ? "Passed." : "Not passed.") : answer.text;
  return {
    ...stage,
    status: passed ? "SUCCESSFUL" : "FAILED",
    description: text,
    completionTimestamp: at,
    ...(!passed && { errors: [checkError(check, answer)] }),
  };
}

/** A resource with what a check said last at a point. A Stage that is new comes after those that have begun. */
export function withCheck(part: SubTask, progress: CheckProgress, at: string): SubTask {
  const { check, point } = progress;
  const change = (stage: Stage) =>
    progress.type === "CheckAsked"
      ? askedStage(stage, progress.text)
      : answeredStage(stage, check, progress.answer, at);
  const { stages = [] } = part;
  const fresh = checkStage(check, point, at);
  const known = stages.findIndex(({ name, type }) => name === fresh.name && type === fresh.type);
  if (known >= 0) return { ...part, stages: stages.map((stage, place) => (place === known ? change(stage) : stage)) };
  const begun = stages.findLastIndex(({ status }) => status !== "PENDING") + 1;
  return { ...part, stages: [...stages.slice(0, begun), change(fresh), ...stages.slice(begun)] };
}
