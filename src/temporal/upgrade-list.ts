import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { isRight } from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import pLimit from "p-limit";
import type { Logger } from "pino";
import { bundleIdKey, taskStatusKey, upgradeStatusKey } from "../../workflows/search-attributes";
import { quote } from "../domain/decode";
import type { ErrorBody } from "../domain/errors";
import { metadataOf, type PageMetadata, type PageRequest, wholeList } from "../domain/page";
import { type PageOfTask, Task, TaskStatus } from "../domain/spec/task";
import { type PageOfUpgrade, Upgrade, UpgradeStatus } from "../domain/spec/upgrade";
import { hasTaskEnded, type LostBecause, lostTask, lostUpgrade } from "../domain/task/lost-upgrade";
import { toTimestamp } from "../domain/timestamp";
import { SingleFlight } from "../single-flight";
import type { TaskFilter, UpgradeFilter } from "../upgrades/ports";
import type { ServiceError } from "../upgrades/service-error";
import { PayloadReader, readAs, timestampOf } from "./describe-workflow";
import { PayloadKeyError } from "./payload-encryption";
import { readError } from "./temporal-error";
import { type Execution, tasksQuery, upgradesQuery, type Visibility, type VisibilityReader } from "./visibility";

const { WorkflowExecutionStatus } = temporal.api.enums.v1;

/** How many different lists are read at the same time: more would only make each of them late. */
const concurrentLists = 4;

/** One page of a list, of whatever is made of each execution. */
interface Page<A> {
  readonly elements: A[];
  readonly pageMetadata: PageMetadata;
}

/** Lists of upgrades and of their Tasks, answered by Temporal's Visibility alone: search attributes to filter, memos for the content. */
export class UpgradeList {
  private readonly reader: PayloadReader;
  private readonly readingUpgrades = new SingleFlight<Page<Upgrade>>();
  private readonly readingTasks = new SingleFlight<Page<Task>>();
  private readonly limit = pLimit(concurrentLists);

  constructor(
    client: Client,
    private readonly visibility: Visibility,
    private readonly executions: VisibilityReader,
    private readonly log: Logger,
    /** Milliseconds for a whole list with the wait for its turn. */
    private readonly timeout: number,
  ) {
    this.reader = new PayloadReader(client.options.loadedDataConverter);
  }

  list(filter: UpgradeFilter, page?: PageRequest): TE.TaskEither<ServiceError, PageOfUpgrade> {
    return this.page(this.readingUpgrades, upgradesQuery(filter), page, (execution) => this.upgrade(execution));
  }

  listTasks(filter: TaskFilter, page?: PageRequest): TE.TaskEither<ServiceError, PageOfTask> {
    return this.page(this.readingTasks, tasksQuery(filter), page, (execution) => this.task(execution));
  }

  private page<A>(
    reading: SingleFlight<Page<A>>,
    query: string,
    page: PageRequest = wholeList,
    element: (execution: Execution) => Promise<A | undefined>,
  ): TE.TaskEither<ServiceError, Page<A>> {
    return TE.tryCatch(
      () =>
        reading.share(`${page.pageNumber}/${page.pageSize}/${query}`, () => {
          const deadline = Date.now() + this.timeout;
          return this.limit(() => this.read(query, page, deadline, element));
        }),
      readError,
    );
  }

  private async read<A>(
    query: string,
    page: PageRequest,
    deadline: number,
    element: (execution: Execution) => Promise<A | undefined>,
  ): Promise<Page<A>> {
    const { pageNumber, pageSize } = page;
    const first = pageNumber * pageSize;
    const counting = this.visibility.count(query, deadline);
    // The front is read while it is counted. A later page may not be there, and the way to it is long.
    const reading =
      first === 0
        ? this.executions.read(query, 0, pageSize, deadline)
        : counting.then((total) =>
            first < total ? this.executions.read(query, first, Math.min(pageSize, total - first), deadline) : [],
          );
    const [counted, executions] = await Promise.all([counting, reading]);
    // What has started between the two is on the page without having been counted.
    const total = Math.max(counted, executions.length > 0 ? first + executions.length : 0);
    const elements = await Promise.all(executions.map(element));
    return { elements: elements.filter((found) => found !== undefined), pageMetadata: metadataOf(page, total) };
  }

  private async upgrade({ searchAttributes, ...found }: Execution): Promise<Upgrade | undefined> {
    const { execution, status, closeTime, memo } = found;
    const read = await this.fieldOf(memo, "upgrade");
    if ("error" in read) {
      const id = execution?.workflowId ?? "";
      const known = UpgradeStatus.decode(keywordOf(searchAttributes, upgradeStatusKey.name));
      const bundleId = keywordOf(searchAttributes, bundleIdKey.name);
      return {
        id,
        taskId: id,
        ...(isRight(known) && { status: known.right }),
        ...(bundleId !== undefined && { bundleId }),
        errors: [this.keyMissing(execution, read.error)],
      };
    }
    const upgrade = readAs(Upgrade, read.value);
    if (!upgrade) return this.unreadable(execution);
    return isRunning(status) || upgrade.endTime !== undefined ? upgrade : lostUpgrade(upgrade, endOf(closeTime));
  }

  private async task({ searchAttributes, startTime, ...found }: Execution): Promise<Task | undefined> {
    const { execution, status, closeTime, memo } = found;
    const read = await this.fieldOf(memo, "task");
    if ("error" in read) {
      const known = TaskStatus.decode(keywordOf(searchAttributes, taskStatusKey.name));
      return {
        id: execution?.workflowId ?? "",
        name: "An upgrade that cannot be read",
        type: "UPGRADE",
        status: isRight(known) ? known.right : "Pending",
        creationTimestamp: timestampOf(startTime) ?? toTimestamp(0),
        errors: [this.keyMissing(execution, read.error)],
      };
    }
    const task = readAs(Task, read.value);
    if (!task) return this.unreadable(execution);
    const { subTasks: _details, ...header } = task;
    return isRunning(status) || hasTaskEnded(header) ? header : lostTask(header, reasonOf(status), endOf(closeTime));
  }

  /** A key that is missing is the trouble of one upgrade, not of the list. */
  private async fieldOf(
    memo: Execution["memo"],
    name: string,
  ): Promise<{ value: unknown } | { error: PayloadKeyError }> {
    try {
      return { value: await this.reader.field(memo, name) };
    } catch (error) {
      if (error instanceof PayloadKeyError) return { error };
      throw error;
    }
  }

  private keyMissing(execution: Execution["execution"], { keyId, problem }: PayloadKeyError): ErrorBody {
    this.log.warn({ taskId: execution?.workflowId, keyId }, "An upgrade is encrypted with a key that is missing");
    return {
      errorCode: "PAYLOAD_KEY_MISSING",
      errorType: "FAILED_DEPENDENCY",
      message: `What is stored of this upgrade is encrypted with the key ${quote(keyId)}, which ${problem}.`,
      remediationMessage:
        "Ask the operator to put that key into PAYLOAD_KEYS_FILE again and to start the API again (docs/encryption.md).",
      context: { keyId: keyId.slice(0, 255) },
    };
  }

  private unreadable(execution: Execution["execution"]): undefined {
    this.log.warn({ taskId: execution?.workflowId }, "An upgrade's memo cannot be read; it is left out of the list");
    return undefined;
  }
}

/** Search attributes are not encrypted. */
function keywordOf(attributes: Execution["searchAttributes"], name: string): string | undefined {
  const data = attributes?.indexedFields?.[name]?.data;
  if (!data) return undefined;
  const value: unknown = JSON.parse(Buffer.from(data).toString());
  return typeof value === "string" ? value : undefined;
}

function isRunning(status: Execution["status"]): boolean {
  return status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
}

function reasonOf(status: Execution["status"]): LostBecause {
  if (status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TERMINATED) return "TERMINATED";
  return status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TIMED_OUT ? "TIMED_OUT" : "FAILED";
}

function endOf(time: Execution["closeTime"]): string {
  return timestampOf(time) ?? new Date().toISOString();
}
