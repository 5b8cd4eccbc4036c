import * as TE from "fp-ts/TaskEither";
import type { ReadinessSchedule, StoredSchedule } from "../../../src/domain/readiness/readiness-spec";
import {
  endReadiness,
  newReadiness,
  type ReadinessPlan,
  readinessTask,
} from "../../../src/domain/readiness/readiness-task";
import type { Task } from "../../../src/domain/spec/task";
import type { ReadinessChecks } from "../../../src/upgrades/ports";
import { notFound, type ServiceError } from "../../../src/upgrades/service-error";

const at = "2026-11-01T12:00:00.000Z";

/** Readiness checks in memory, which behave as their port says. None begins by itself. */
export class FakeReadiness {
  readonly started = new Map<string, { readonly plan: ReadinessPlan; readonly requestDigest: string | undefined }>();
  readonly tasks = new Map<string, Task>();
  readonly schedules = new Map<string, StoredSchedule>();

  readonly checks: ReadinessChecks = {
    start: (plan, { id, requestDigest }) =>
      TE.fromIO(() => {
        const before = this.started.get(id);
        if (before) return before.requestDigest === requestDigest ? "REPEATED" : "OTHER";
        this.started.set(id, { plan, requestDigest });
        this.tasks.set(id, readinessTask(newReadiness(plan, id, at)));
        return "STARTED";
      }),
    findStarted: (id, requestDigest) =>
      TE.fromIO(() => {
        const before = this.started.get(id);
        if (!before) return "NONE";
        return before.requestDigest === requestDigest ? "REPEATED" : "OTHER";
      }),
    read: (id) => this.task(id),
    cancel: (id) =>
      TE.fromIO(() => {
        const plan = this.started.get(id)?.plan;
        if (plan) this.tasks.set(id, readinessTask(endReadiness(newReadiness(plan, id, at), at, true)));
      }),
    list: () => TE.fromIO(() => ({ elements: [...this.tasks.values()] })),
    createSchedule: (id, _plan, stored) => TE.fromIO(() => void this.schedules.set(id, stored)),
    listSchedules: () =>
      TE.fromIO(() => [...this.schedules].map(([id, stored]): ReadinessSchedule => ({ id, ...stored }))),
    deleteSchedule: (id) =>
      this.schedules.delete(id) ? TE.right(undefined) : TE.left<ServiceError>(notFound("schedule", id)),
  };

  private task(id: string): TE.TaskEither<ServiceError, Task> {
    return TE.fromNullable(notFound("task", id))(this.tasks.get(id));
  }
}
