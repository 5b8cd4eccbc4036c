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
  clusterNamesKey,
  requestedByKey,
  resourceIdsKey,
  searchTermsKey,
  startsAtKey,
  targetVersionKey,
  taskStatusKey,
  upgradePhaseKey,
  upgradeStatusKey,
} from "../../workflows/search-attributes";
import type { upgradeWorkflow } from "../../workflows/upgrade/upgrade-workflow";
import { withTimesOf } from "../domain/plan/schedule";
import { resourcesOf, type UpgradePlan } from "../domain/plan/upgrade-plan";
import { conflictingLocks, lockOf } from "../domain/resource-lock";
import { type ChangeRecord, labelTexts } from "../domain/spec/change-record";
import { bundleName } from "../domain/spec/bundle";
import { initialTask } from "../domain/task/task-progress";
import { joinNames, listedVersion, startsAt, toKeyword } from "../domain/upgrade/list-columns";
import { initialUpgrade } from "../domain/upgrade/upgrade-facts";
import type { Deadline, StartOrigin as AskedBy, UpgradeExecutions } from "../upgrades/ports";
import { type NamedResource, notFound, type ServiceError } from "../upgrades/service-error";
import { ActivityReader } from "./activity-reader";
import { BoundedTaskReads } from "./bounded-task-reads";
import { ClusterWorkReader } from "./cluster-work";
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
  /** How long a read of a Task takes before the read before it stands in. */
  readonly task: number;
  /** A whole list of upgrades, which may take many calls. */
  readonly list: number;
  /** From a request until an upgrade has said what it makes of it. */
  readonly outcome: number;
}

const defaultTimeouts: TemporalTimeouts = {
  ...{ call: 4000, query: 2500, answers: 250, task: 300 },
  ...{ list: 15_000, outcome: 10_000 },
};

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
  const work = new ClusterWorkReader(client, executions);
  const list = new UpgradeList(client, visibility, executions, log, timeouts.list);
  // A read may come after one that has just begun: the two together stay below 8 seconds.
  const reader = new TaskReader(client, { ...timeouts, call: Math.min(timeouts.call, 3500), query: timeouts.outcome });
  const boundedReads = new BoundedTaskReads((id) => reader.read(id), timeouts.task);
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

    readClusterWork: (ids) => () => work.read(ids).catch(() => []),

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
        TE.tryCatch(() => reader.read(id), readError),
        TE.chain(orNotFound("task", id)),
      ),
    readTaskInTime: (id) =>
      pipe(
        TE.tryCatch(() => boundedReads.read(id), readError),
        TE.chain(orNotFound("task", id)),
      ),
    request: (id, request, origin) =>
      pipe(
        TE.tryCatch(() => sender.send(id, request, origin).finally(() => boundedReads.requested(id)), writeError),
        TE.chain(orNotFound("upgrade", id)),
      ),
    cancel: (id, requestedBy) =>
      pipe(
        TE.tryCatch(() => sender.cancel(id, requestedBy).finally(() => boundedReads.requested(id)), writeError),
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
  const begins = startsAt(plan, {});
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
      { key: targetVersionKey, value: listedVersion(plan) },
      ...(begins === undefined ? [] : [{ key: startsAtKey, value: new Date(begins) }]),
      // Like the search terms, but they are there to be read.
      ...(index.isPlain
        ? [
            { key: clusterNamesKey, value: joinNames(resources.map(({ name }) => name)) },
            { key: requestedByKey, value: toKeyword(origin.requestedBy) },
          ]
        : []),
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

/** At most 400 bytes, which is what the server takes. It stays as it is, so it says nothing that changes. */
function summaryOf({ name }: UpgradePlan): string {
  return Buffer.byteLength(name) <= 400 ? name : `${Buffer.from(name).subarray(0, 390).toString()}…`;
}

/**
 * Markdown, at most 20,000 bytes: the first clusters by name, the rest by number. It stays as it is: what changes, such as the
 * times, is in the current details.
 */
function detailsOf(plan: UpgradePlan, { requestedBy, requestId }: StartOrigin): string {
  const resources = resourcesOf(plan);
  const shown = resources
    .slice(0, 50)
    .map(
      ({ name, resourceId, targetVersion, attempts: { maximumAttempts } }) =>
        `- **${name.slice(0, 100)}** (${resourceId.slice(0, 100)}) to ${targetVersion.slice(0, 60)}, ` +
        (maximumAttempts === 1 ? "1 attempt" : `${maximumAttempts} attempts`),
    );
  const more = resources.length > 50 ? [`- and ${resources.length - 50} more`] : [];
  return [
    `Bundle ${bundleName(plan.bundle).slice(0, 300)} on ${resources.length === 1 ? "1 resource" : `${resources.length} resources, in this order`}:`,
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
