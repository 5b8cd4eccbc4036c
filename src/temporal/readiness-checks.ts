import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from "@temporalio/client";
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import { taskQuery, taskQueue } from "../../workflows/messages";
import type { readinessWorkflow } from "../../workflows/readiness/readiness-workflow";
import { metadataOf, wholeList } from "../domain/page";
import { type ReadinessSchedule, StoredSchedule } from "../domain/readiness/readiness-spec";
import {
  lostReadiness,
  newReadiness,
  type ReadinessPlan,
  readinessTask,
  readinessType,
  isReadinessId,
} from "../domain/readiness/readiness-task";
import { Task } from "../domain/spec/task";
import { toTimestamp } from "../domain/timestamp";
import type { ReadinessChecks } from "../upgrades/ports";
import { badRequest, notFound } from "../upgrades/service-error";
import { describeWorkflow, PayloadReader, readAs, timestampOf, type WorkflowDescription } from "./describe-workflow";
import { readError, writeError } from "./temporal-error";
import { type Execution, visibilityOf, VisibilityReader } from "./visibility";

const { WorkflowExecutionStatus } = temporal.api.enums.v1;
const workflowType = "readinessWorkflow";

/** Bounds of calls to Temporal, in milliseconds: of each, of a Query, and of a whole list. */
const timeouts = { call: 4_000, query: 2_500, list: 15_000 };
/** How many schedules there may be, which is how many the list shows. */
const mostSchedules = 1_000;

/** The port to readiness checks as Temporal Workflow executions and Temporal Schedules. */
export function temporalReadinessChecks(client: Client): ReadinessChecks {
  const bounded = <T>(call: () => Promise<T>, milliseconds = timeouts.call) =>
    client.withDeadline(Date.now() + milliseconds, call);
  const payloads = new PayloadReader(client.options.loadedDataConverter);
  const visibility = visibilityOf(client, timeouts.call);
  const executions = new VisibilityReader(visibility);

  const describe = async (workflowId: string) => {
    const found = await describeWorkflow(client, { workflowId }, Date.now() + timeouts.call);
    return found?.type === workflowType ? found : undefined;
  };
  const hasDigest = async (found: WorkflowDescription | undefined, requestDigest: string | undefined) =>
    (await payloads.field(found?.memo, "requestDigest")) === requestDigest;
  /** The Task as it was before anything had happened, of the input that the Workflow was started with. */
  const initial = async (workflowId: string, { runId }: WorkflowDescription) => {
    const { namespace } = client.options;
    const execution = { workflowId, runId };
    const { history } = await bounded(() =>
      client.workflowService.getWorkflowExecutionHistory({ namespace, execution, maximumPageSize: 1 }),
    );
    const [started] = history?.events ?? [];
    const input = started?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    const at = timestampOf(started?.eventTime) ?? toTimestamp(Date.now());
    return newReadiness((await payloads.value(input)) as ReadinessPlan, workflowId, at);
  };
  const read = async (id: string): Promise<Task | undefined> => {
    const found = await describe(id);
    if (!found) return undefined;
    const handle = client.workflow.getHandle(id, found.runId);
    if (found.status === "RUNNING") {
      const answer = await bounded(() => handle.query(taskQuery), timeouts.query).catch(() => undefined);
      if (answer) return answer;
      // No worker has answered; what has closed meanwhile has its last word in its memo.
      return { ...readinessTask(await initial(id, found)), asOf: toTimestamp(Date.now()) };
    }
    const last = readAs(Task, await payloads.field(found.memo, "task"));
    return last ?? lostReadiness(await initial(id, found), found.closeTime ?? toTimestamp(Date.now()));
  };

  return {
    start: (plan, { id, requestedBy, requestDigest }) =>
      TE.tryCatch(async () => {
        const memo = { name: plan.name, requestedBy, ...(requestDigest !== undefined && { requestDigest }) };
        try {
          await bounded(() =>
            client.workflow.start<typeof readinessWorkflow>(workflowType, {
              ...{ workflowId: id, taskQueue, args: [plan], memo },
              workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
              ...textsOf(plan, requestedBy),
            }),
          );
          return "STARTED";
        } catch (error) {
          if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
          return (await hasDigest(await describe(id), requestDigest)) ? "REPEATED" : "OTHER";
        }
      }, writeError),

    findStarted: (id, requestDigest) =>
      TE.tryCatch(async () => {
        const before = await describe(id);
        if (!before) return "NONE";
        return (await hasDigest(before, requestDigest)) ? "REPEATED" : "OTHER";
      }, writeError),

    read: (id) =>
      pipe(
        TE.tryCatch(() => read(id), readError),
        TE.chain(TE.fromNullable(notFound("task", id))),
      ),

    cancel: (id) =>
      TE.tryCatch(async () => {
        const found = await describe(id);
        if (found?.status === "RUNNING") await bounded(() => client.workflow.getHandle(id, found.runId).cancel());
      }, writeError),

    list: (page = wholeList) =>
      TE.tryCatch(async () => {
        const query = `WorkflowType = '${workflowType}'`;
        const deadline = Date.now() + timeouts.list;
        const first = page.pageNumber * page.pageSize;
        const [total, found] = await Promise.all([
          visibility.count(query, deadline),
          executions.read(query, first, page.pageSize, deadline),
        ]);
        const elements = await Promise.all(found.map((execution) => listed(execution, payloads)));
        return { elements, pageMetadata: metadataOf(page, Math.max(total, first > total ? 0 : first + found.length)) };
      }, readError),

    createSchedule: (id, plan, stored) =>
      TE.tryCatch(
        async () => {
          const { cron, timeZone } = stored.schedule;
          const { createdBy: requestedBy = "" } = stored;
          try {
            await bounded(() =>
              client.schedule.create<typeof readinessWorkflow>({
                scheduleId: id,
                spec: { cronExpressions: [cron], timezone: timeZone },
                action: {
                  type: "startWorkflow",
                  ...{ workflowType, workflowId: id, taskQueue, args: [plan] },
                  memo: { name: plan.name, requestedBy },
                  ...textsOf(plan, requestedBy),
                },
                // A night that was missed by more than an hour is left out: what it would find, the next one finds.
                policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: "1 hour" },
                memo: { stored },
              }),
            );
          } catch (error) {
            // The request was sent before, with the same key.
            if (!(error instanceof ScheduleAlreadyRunning)) throw error;
          }
        },
        // The client's own word for what the server can never accept.
        (error) => (error instanceof TypeError ? notAccepted(stored, error.message) : writeError(error)),
      ),

    listSchedules: () =>
      TE.tryCatch(
        () =>
          bounded(async () => {
            const schedules: ReadinessSchedule[] = [];
            for await (const { scheduleId, memo, info } of client.schedule.list({ pageSize: mostSchedules })) {
              const stored = isReadinessId(scheduleId) ? readAs(StoredSchedule, memo?.["stored"]) : undefined;
              if (!stored) continue;
              const [next] = info.nextActionTimes;
              const taskIds = info.recentActions.map(({ action }) => action.workflow.workflowId).reverse();
              schedules.push({
                ...{ id: scheduleId, ...stored },
                ...(next && { nextRun: toTimestamp(next.getTime()) }),
                ...(taskIds.length > 0 && { taskIds }),
              });
              if (schedules.length >= mostSchedules) break;
            }
            return schedules.sort((a, b) => (a.createdAt ?? "").localeCompare(b.createdAt ?? ""));
          }, timeouts.list),
        readError,
      ),

    deleteSchedule: (id) =>
      TE.tryCatch(
        () => bounded(() => client.schedule.getHandle(id).delete()),
        (error) => (error instanceof ScheduleNotFoundError ? notFound("schedule", id) : writeError(error)),
      ),
  };
}

/** What the Temporal Web UI shows before a worker has seen it. */
function textsOf({ name, resources }: ReadinessPlan, requestedBy: string) {
  const shown = resources.slice(0, 50).map((one) => `- **${one.name.slice(0, 100)}** to ${one.targetVersion}`);
  const more = resources.length > shown.length ? [`- and ${resources.length - shown.length} more`] : [];
  const by = `Requested by \`${requestedBy.replaceAll("`", "'").slice(0, 255)}\``;
  return { staticSummary: name.slice(0, 200), staticDetails: [...shown, ...more, "", by].join("\n") };
}

/** A run as the list shows it: without its SubTasks, and without asking its Workflow. */
async function listed(execution: Execution, payloads: PayloadReader): Promise<Task> {
  const { memo, startTime, closeTime, status } = execution;
  const { name, task } = await payloads.fields(memo);
  const last = readAs(Task, task);
  if (last) {
    const { subTasks: _, ...header } = last;
    return header;
  }
  const running = status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
  const completionTimestamp = timestampOf(closeTime);
  return {
    id: execution.execution?.workflowId ?? "",
    name: typeof name === "string" ? name : "",
    type: readinessType,
    status: running ? "In Progress" : "Failed",
    creationTimestamp: timestampOf(startTime) ?? toTimestamp(Date.now()),
    ...(completionTimestamp !== undefined && { completionTimestamp }),
    ...{ isCancellable: running, isRetryable: false },
  };
}

function notAccepted({ schedule: { cron, timeZone } }: StoredSchedule, why: string) {
  return badRequest({
    path: "schedule",
    code: "CHECK_SCHEDULE_INVALID",
    message: `Temporal does not accept the schedule ${cron} in ${timeZone}: ${why}.`,
    remediation: "Check the ranges of the cron expression, such as 5-3, and the name of the time zone.",
  });
}
