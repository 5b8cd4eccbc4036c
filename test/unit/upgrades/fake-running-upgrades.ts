import * as TE from "fp-ts/TaskEither";
import { upgradeView } from "../../../src/domain/plan/schedule";
import type { UpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import type { PageOfTask, Task } from "../../../src/domain/spec/task";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { initialTask } from "../../../src/domain/task/task-progress";
import type {
  CancelAnswer,
  ReadActivity,
  RefusedRequest,
  RequestAnswer,
  RequestOrigin,
  TaskFilter,
  UpgradeExecutions,
  UpgradeRequest,
} from "../../../src/upgrades/ports";
import { notFound, type ServiceError } from "../../../src/upgrades/service-error";
import { samplePlan } from "../../support/sample-plan";

/** The id of the one upgrade that there is. */
export const upgradeId = "11111111-2222-4333-8444-555555555555";
const plan = samplePlan({ id: upgradeId, draft: true });

const accepted: RequestAnswer = {
  _tag: "Judged",
  outcome: { request: "commit", accepted: true, at: "2026-11-01T12:00:00.000Z" },
};

/** One draft that answers requests as a test wants it to, and a record of what it was asked, in order. */
export class FakeRunningUpgrades {
  /** Names of calls that matter: what was sent, and the reads around it. */
  readonly calls: string[] = [];
  readonly requests: { readonly request: UpgradeRequest; readonly origin: RequestOrigin }[] = [];
  upgrade: Upgrade = upgradeView(plan);
  task: Task = initialTask(plan);
  answer: RequestAnswer = accepted;
  activity: ReadActivity = { _tag: "Answered", record: { entries: [], dropped: 0 } };
  /** Refusals that the upgrade was told of. */
  readonly refused: RefusedRequest[] = [];
  cancelAnswer: CancelAnswer = { _tag: "Applied" };
  locks: readonly string[] = ["cluster/c1"];
  plan: UpgradePlan = plan;
  failing: Partial<Record<"request" | "cancel" | "readLocks" | "readTask", ServiceError>> = {};
  readonly executions: Pick<
    UpgradeExecutions,
    | "readUpgrade"
    | "readPlan"
    | "readTask"
    | "readTaskInTime"
    | "listTasks"
    | "request"
    | "cancel"
    | "readLocks"
    | "recordRefusal"
    | "readActivity"
  >;

  constructor() {
    const of = <A>(name: string, resource: "upgrade" | "task", id: string, answer: () => A) => {
      this.calls.push(name);
      const failure = this.failing[name as keyof typeof this.failing];
      if (failure) return TE.left(failure);
      return id === upgradeId ? TE.right<ServiceError, A>(answer()) : TE.left(notFound(resource, id));
    };
    this.executions = {
      readUpgrade: (id) => of("readUpgrade", "upgrade", id, () => this.upgrade),
      readPlan: (id) => of("readPlan", "upgrade", id, () => this.plan),
      readTask: (id) => of("readTask", "task", id, () => this.task),
      readTaskInTime: (id) => of("readTaskInTime", "task", id, () => this.task),
      listTasks: (filter: TaskFilter, page) => {
        this.calls.push(`listTasks ${JSON.stringify([filter, page ?? null])}`);
        return TE.right<ServiceError, PageOfTask>({ elements: [] });
      },
      request: (id, request, origin) =>
        of("request", "upgrade", id, () => {
          this.requests.push({ request, origin });
          return this.answer;
        }),
      cancel: (id) => of("cancel", "upgrade", id, () => this.cancelAnswer),
      recordRefusal: (_, refused) => () => {
        this.refused.push(refused);
        return Promise.resolve();
      },
      readActivity: (id) => of("readActivity", "upgrade", id, () => this.activity),
      readLocks: (id) => of("readLocks", "upgrade", id, () => this.locks),
    };
  }
}
