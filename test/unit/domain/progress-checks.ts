import { expect } from "chai";
import type { Stage, SubTask } from "../../../src/domain/spec/task";

/** SubTasks with all that is nested in them, each before its parts. */
export function flat(parts: readonly SubTask[] = []): SubTask[] {
  return parts.flatMap((part) => [part, ...flat(part.subTasks)]);
}

interface Timed {
  readonly creationTimestamp: string;
  readonly completionTimestamp?: string;
}

/** Nothing ends before it was created, and nothing comes from after `now`. */
export function expectInOrder({ creationTimestamp, completionTimestamp }: Timed, now: string): void {
  expect(creationTimestamp <= now, `created ${creationTimestamp}, now ${now}`).to.equal(true);
  if (completionTimestamp === undefined) return;
  expect(creationTimestamp <= completionTimestamp, `${creationTimestamp} to ${completionTimestamp}`).to.equal(true);
  expect(completionTimestamp <= now, `ended ${completionTimestamp}, now ${now}`).to.equal(true);
}

/** What has a final status has an end time, and nothing else; what has ended has no part or Stage that has not. */
export function expectEndsAgree(parts: readonly SubTask[]): void {
  for (const part of parts) {
    expect(part.completionTimestamp !== undefined, part.name).to.equal(hasEnded(part));
    for (const inner of part.subTasks ?? [])
      if (hasEnded(part)) expect(hasEnded(inner), `${inner.name} of ${part.name}`).to.equal(true);
    for (const stage of part.stages ?? []) {
      expect(stage.completionTimestamp !== undefined, stage.name).to.equal(hasEnded(stage));
      if (hasEnded(part)) expect(hasEnded(stage), `${stage.name} of ${part.name}`).to.equal(true);
    }
  }
}

function hasEnded({ status }: SubTask | Stage): boolean {
  return status !== "PENDING" && status !== "IN_PROGRESS";
}
