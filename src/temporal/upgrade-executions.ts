import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionDescription,
} from "@temporalio/client";
import { isRight } from "fp-ts/Either";
import { pipe } from "fp-ts/function";
import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import type { Logger } from "pino";
import { lostUpgrade } from "../domain/lost-upgrade";
import type { Task } from "../domain/task";
import { initialTask } from "../domain/task-progress";
import type { Upgrade } from "../domain/upgrade";
import { resourcesOf, type UpgradePlan } from "../domain/upgrade-plan";
import { upgradeView } from "../domain/upgrade-view";
import type { UpgradeExecutions } from "../upgrades/ports";
import { notFound, type ServiceError } from "../upgrades/service-error";
import { taskQueue, type UpgradeMemo } from "../../workflows/messages";
import {
  bundleIdKey,
  bundleTypeKey,
  resourceIdsKey,
  taskStatusKey,
  upgradeStatusKey,
} from "../../workflows/search-attributes";
import type { upgradeWorkflow } from "../../workflows/upgrade-workflow";
import { PayloadReader, StoredUpgrade } from "./memo";
import { TaskReader } from "./task-reader";
import { readError, writeError } from "./temporal-error";
import { UpgradeList } from "./upgrade-list";
import { lostBecause } from "./workflow-end";

/** Bounds of calls to Temporal, in milliseconds. */
export interface TemporalTimeouts {
  readonly call: number;
  readonly query: number;
  /** A whole list of upgrades, which may take many calls. */
  readonly list: number;
}

const defaultTimeouts: TemporalTimeouts = { call: 4000, query: 2500, list: 15_000 };

/** The port to upgrades as Temporal Workflow executions. */
export function temporalUpgradeExecutions(
  client: Client,
  log: Logger,
  timeouts: TemporalTimeouts = defaultTimeouts,
): UpgradeExecutions {
  const deadline = () => Date.now() + timeouts.call;
  const bounded = <T>(call: () => Promise<T>) => client.withDeadline(deadline(), call);
  const list = new UpgradeList(client, log, timeouts);
  const tasks = new TaskReader(client, timeouts.query, timeouts.call);
  const payloads = new PayloadReader(client.options.loadedDataConverter);

  const describe = async (id: string): Promise<WorkflowExecutionDescription | undefined> => {
    try {
      const description = await bounded(() => client.workflow.getHandle(id).describe());
      return description.type === "upgradeWorkflow" ? description : undefined;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  };

  const stored = async (description: WorkflowExecutionDescription) => {
    const memo = StoredUpgrade.decode(await payloads.fields(description.raw.workflowExecutionInfo?.memo));
    if (isRight(memo)) return memo.right;
    throw new Error(`The memo of upgrade ${description.workflowId} cannot be read`);
  };

  return {
    start: (plan, requestDigest) =>
      TE.tryCatch(async () => {
        try {
          await bounded(() => startWorkflow(client, plan, requestDigest));
          return "STARTED";
        } catch (error) {
          if (error instanceof WorkflowExecutionAlreadyStartedError) return "DUPLICATE";
          throw error;
        }
      }, writeError),

    findStarted: (id) =>
      TE.tryCatch(async () => {
        const description = await describe(id);
        if (!description) return O.none;
        const { requestDigest } = await stored(description);
        return O.some({ task: await originalTask(client, payloads, id, bounded), requestDigest });
      }, writeError),

    list: (filter, page) => list.list(filter, page),
    lockHolders: (resourceIds) => list.lockHolders(resourceIds),

    readUpgrade: (id) =>
      pipe(
        TE.tryCatch(async (): Promise<Upgrade | undefined> => {
          const description = await describe(id);
          if (!description) return undefined;
          const { upgrade } = await stored(description);
          const ended = upgrade.endTime !== undefined;
          const { closeTime, status } = description;
          return ended || lostBecause(status.name) === undefined
            ? upgrade
            : lostUpgrade(upgrade, (closeTime ?? new Date()).toISOString());
        }, readError),
        TE.chain(orNotFound("upgrade", id)),
      ),

    readTask: (id) =>
      pipe(
        TE.tryCatch(() => tasks.read(id), readError),
        TE.chain(orNotFound("task", id)),
      ),
  };
}

function orNotFound(resource: "upgrade" | "task", id: string) {
  return <A>(found: A | undefined): TE.TaskEither<ServiceError, A> =>
    found === undefined ? TE.left(notFound(resource, id)) : TE.right(found);
}

/** Starts the Workflow with all that lists and readers need before a worker has seen it. */
async function startWorkflow(client: Client, plan: UpgradePlan, requestDigest?: string): Promise<void> {
  const upgrade = upgradeView(plan);
  const task = initialTask(plan);
  const memo: UpgradeMemo = { upgrade, task, children: [], ...(requestDigest !== undefined && { requestDigest }) };
  const resources = resourcesOf(plan);
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
      { key: resourceIdsKey, value: searchable(resources.map(({ resourceId }) => resourceId)) },
    ],
    staticSummary: summaryOf(plan),
    staticDetails: detailsOf(plan),
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
function detailsOf(plan: UpgradePlan): string {
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
  ].join("\n");
}

/** The Task of the 202 that an upgrade was accepted with: a function of the plan it was started with. */
async function originalTask(
  client: Client,
  payloads: PayloadReader,
  workflowId: string,
  bounded: <T>(call: () => Promise<T>) => Promise<T>,
): Promise<Task> {
  const { namespace } = client.options;
  const { history } = await bounded(() =>
    client.workflowService.getWorkflowExecutionHistory({ namespace, execution: { workflowId }, maximumPageSize: 1 }),
  );
  const input = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  // Only this service starts upgrades, and REJECT_DUPLICATE keeps the first run the only one.
  return initialTask((await payloads.value(input)) as UpgradePlan);
}
