import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from "@temporalio/client";
import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import type { Logger } from "pino";
import { taskQueue, type UpgradeMemo } from "../../workflows/messages";
import {
  bundleIdKey,
  bundleTypeKey,
  changeIdKey,
  labelsKey,
  createdAtKey,
  resourceIdsKey,
  searchTermsKey,
  taskStatusKey,
  upgradePhaseKey,
  upgradeStatusKey,
} from "../../workflows/search-attributes";
import type { upgradeWorkflow } from "../../workflows/upgrade/upgrade-workflow";
import { withTimesOf } from "../domain/plan/schedule";
import { resourcesOf, type UpgradePlan } from "../domain/plan/upgrade-plan";
import { conflictingLocks, lockOf } from "../domain/resource-lock";
import { type ChangeRecord, labelTexts } from "../domain/spec/change-record";
import { initialTask } from "../domain/task/task-progress";
import { initialUpgrade } from "../domain/upgrade/upgrade-facts";
import type { Deadline, StartOrigin as AskedBy, UpgradeExecutions } from "../upgrades/ports";
import { type NamedResource, notFound, type ServiceError } from "../upgrades/service-error";
import { ActivityReader } from "./activity-reader";
import { UpgradeDescriptions, PayloadReader } from "./describe-workflow";
import { LockHolders } from "./lock-holder";
import { RequestSender } from "./request-sender";
import { SearchIndex } from "./search-index";
import { TaskReader } from "./task-reader";
import { readError, writeError } from "./temporal-error";
import { UpgradeList } from "./upgrade-list";
import { visibilityOf, VisibilityReader } from "./visibility";

/** Bounds of calls to Temporal, in milliseconds. */
export interface TemporalTimeouts {
  readonly call: number;
  readonly query: number;
  /** How long a read of a Task waits for its Workflows before it shows what was last known. */
  readonly answers: number;
  /** A whole list of upgrades, which may take many calls. */
  readonly list: number;
  /** From a request until an upgrade has said what it makes of it. */
  readonly outcome: number;
}

const defaultTimeouts: TemporalTimeouts = { call: 4000, query: 2500, answers: 250, list: 15_000, outcome: 10_000 };

/**
 * The port to upgrades as Temporal Workflow executions. `currentRequestId` tells the `x-request-id` of the request that
 * is being served, which goes where the Temporal Web UI shows it.
 */
export function temporalUpgradeExecutions(
  client: Client,
  log: Logger,
  currentRequestId: () => string | undefined = () => undefined,
  timeouts: TemporalTimeouts = defaultTimeouts,
): UpgradeExecutions {
  const bounded = <T>(call: () => Promise<T>, until = Infinity) =>
    client.withDeadline(Math.min(Date.now() + timeouts.call, until), call);
  const visibility = visibilityOf(client, timeouts.call);
  const executions = new VisibilityReader(visibility);
  const holders = new LockHolders(client, executions, timeouts.call);
  const list = new UpgradeList(client, visibility, executions, log, timeouts.list);
  // A read may come after one that has just begun: the two together stay below 8 seconds.
  const tasks = new TaskReader(client, { ...timeouts, call: Math.min(timeouts.call, 3500), query: timeouts.outcome });
  const upgrades = new UpgradeDescriptions(client, timeouts.call);
  const sender = new RequestSender(client, upgrades, timeouts, currentRequestId);
  const activities = new ActivityReader(client, { call: timeouts.call, query: timeouts.outcome });
  const payloads = new PayloadReader(client.options.loadedDataConverter);

  /** The plan that an upgrade was started with: the input of its Workflow. One that has several runs has the latest times in it. */
  const startedPlan = async (workflowId: string, until?: Deadline): Promise<UpgradePlan> => {
    const { namespace } = client.options;
    const execution = { workflowId };
    const { history } = await bounded(
      () => client.workflowService.getWorkflowExecutionHistory({ namespace, execution, maximumPageSize: 1 }),
      until,
    );
    const input = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    // Only this service starts upgrades, and an upgrade itself.
    return (await payloads.value(input)) as UpgradePlan;
  };

  return {
    start: (plan, origin, until) =>
      TE.tryCatch(async () => {
        try {
          const requestId = currentRequestId();
          await bounded(
            () => startWorkflow(client, plan, { ...origin, ...(requestId !== undefined && { requestId }) }),
            until,
          );
          return "STARTED";
        } catch (error) {
          if (error instanceof WorkflowExecutionAlreadyStartedError) return "DUPLICATE";
          throw error;
        }
      }, writeError),

    findStarted: (id, until) =>
      TE.tryCatch(async () => {
        const found = await upgrades.find(id, until);
        if (!found) return O.none;
        return O.some({ task: initialTask(await startedPlan(id, until)), requestDigest: found.requestDigest });
      }, writeError),

    list: (listing, page) => list.list(listing, page),
    count: (filter) => list.count(filter),
    listTasks: (filter, page) => list.listTasks(filter, page),
    lockHolders: (locks, until) => TE.tryCatch(() => holders.of(locks, until), writeError),

    readUpgrade: (id) =>
      pipe(
        TE.tryCatch(() => upgrades.find(id), readError),
        TE.chain(orNotFound("upgrade", id)),
        TE.map(({ upgrade }) => upgrade),
      ),
    readPlan: (id) =>
      pipe(
        TE.tryCatch(async () => {
          const found = await upgrades.find(id);
          return found && withTimesOf(await startedPlan(id), found.upgrade);
        }, readError),
        TE.chain(orNotFound("upgrade", id)),
      ),
    readTask: (id) =>
      pipe(
        TE.tryCatch(() => tasks.read(id), readError),
        TE.chain(orNotFound("task", id)),
      ),
    request: (id, request, origin) =>
      pipe(
        TE.tryCatch(() => sender.send(id, request, origin), writeError),
        TE.chain(orNotFound("upgrade", id)),
      ),
    cancel: (id, requestedBy) =>
      pipe(
        TE.tryCatch(() => sender.cancel(id, requestedBy), writeError),
        TE.chain(orNotFound("upgrade", id)),
      ),
    recordRefusal: (id, refused) => () => sender.recordRefusal(id, refused),
    readActivity: (id) =>
      pipe(
        TE.tryCatch(() => activities.read(id), readError),
        TE.chain(orNotFound("upgrade", id)),
      ),
    readLocks: (id) =>
      pipe(
        TE.tryCatch(async () => ((await upgrades.find(id)) ? startedPlan(id) : undefined), readError),
        TE.chain(orNotFound("upgrade", id)),
        TE.map((plan) => resourcesOf(plan).flatMap((resource) => [lockOf(resource), ...conflictingLocks(resource)])),
      ),
  };
}

function orNotFound(resource: NamedResource, id: string) {
  return <A>(found: A | undefined): TE.TaskEither<ServiceError, A> =>
    found === undefined ? TE.left(notFound(resource, id)) : TE.right(found);
}

/** Who starts an upgrade, and by which request. */
type StartOrigin = AskedBy & { readonly requestId?: string };

/** Starts the Workflow with all that lists and readers need before a worker has seen it. */
export async function startWorkflow(client: Client, plan: UpgradePlan, origin: StartOrigin): Promise<void> {
  const upgrade = initialUpgrade(plan, origin.requestedBy);
  const task = initialTask(plan);
  const memo: UpgradeMemo = { upgrade, task, children: [], publishedAt: plan.creationTimestamp, ...origin };
  const resources = resourcesOf(plan);
  const index = new SearchIndex(client);
  const { changeId, labels } = index.changeRecordOf(plan.spec);
  await client.workflow.start<typeof upgradeWorkflow>("upgradeWorkflow", {
    workflowId: plan.id,
    taskQueue,
    args: [plan],
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    memo: { ...memo },
    typedSearchAttributes: [
      { key: upgradeStatusKey, value: upgrade.status ?? "PENDING" },
      { key: taskStatusKey, value: task.status },
      { key: bundleIdKey, value: plan.bundle.id },
      ...(plan.bundle.type === undefined ? [] : [{ key: bundleTypeKey, value: plan.bundle.type }]),
      { key: upgradePhaseKey, value: upgrade.phase ?? "WAITING" },
      { key: searchTermsKey, value: index.termsOf(upgrade) },
      ...(changeId === undefined ? [] : [{ key: changeIdKey, value: changeId }]),
      ...(labels === undefined ? [] : [{ key: labelsKey, value: [...labels] }]),
      { key: createdAtKey, value: new Date(plan.creationTimestamp) },
      { key: resourceIdsKey, value: searchable(resources.map(({ resourceId }) => resourceId)) },
    ],
    staticSummary: summaryOf(plan),
    staticDetails: detailsOf(plan, origin),
  });
}

/**
 * As many of the ids as the server takes for one search attribute, which is 2,048 bytes of JSON. Of a larger upgrade the
 * rest is found by the Workflows of its resources, each of which has its own id there.
 */
function searchable(ids: readonly string[]): string[] {
  let bytes = 1;
  return ids.filter((id) => (bytes += Buffer.byteLength(JSON.stringify(id)) + 1) <= 2048);
}

/** At most 400 bytes, which is what the server takes. */
function summaryOf({ name, draft }: UpgradePlan): string {
  const summary = `${name}${draft ? " (draft)" : ""}`;
  return Buffer.byteLength(summary) <= 400 ? summary : `${Buffer.from(summary).subarray(0, 390).toString()}…`;
}

/** Markdown, at most 20,000 bytes: the first clusters by name, the rest by number. */
function detailsOf(plan: UpgradePlan, { requestedBy, requestId }: StartOrigin): string {
  const resources = resourcesOf(plan);
  const shown = resources.slice(0, 50).map(({ name, resourceId, targetVersion, attempts, scheduledTimestamp }) => {
    const when = scheduledTimestamp === undefined ? "" : `, not before ${scheduledTimestamp}`;
    return `- **${name.slice(0, 100)}** (${resourceId.slice(0, 100)}) to ${targetVersion.slice(0, 60)}, attempts: ${attempts.maximumAttempts}${when}`;
  });
  const more = resources.length > 50 ? [`- and ${resources.length - 50} more`] : [];
  return [
    `Bundle \`${plan.bundle.id.slice(0, 255)}\` on ${resources.length} resource(s), in this order:`,
    "",
    ...shown,
    ...more,
    "",
    `Requested by \`${requestedBy.replaceAll("`", "'").slice(0, 255)}\``,
    ...changeRecordLines(plan.spec),
    ...(requestId === undefined ? [] : ["", `Request id: \`${requestId}\``]),
    // The Web UI makes room by the lines that there are, and cuts off what does not fit.
    ...["", "\u00a0", "", "\u00a0"],
  ].join("\n");
}

/** Lines of Markdown; the texts of people stand in code, where they are no Markdown. */
function changeRecordLines({ reason, changeId, labels }: ChangeRecord): string[] {
  const lines = [
    ["Change", changeId],
    ["Reason", reason],
    ["Labels", labelTexts(labels).join(", ")],
  ].flatMap(([name, text]) => (text ? ["", `${name}: \`${text.replaceAll("`", "'")}\``] : []));
  return lines;
}
