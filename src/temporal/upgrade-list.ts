import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { isRight } from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import pLimit from "p-limit";
import type { Logger } from "pino";
import { bundleIdKey, taskStatusKey, upgradeStatusKey } from "../../workflows/search-attributes";
import { quote } from "../domain/decode";
import type { ErrorBody } from "../domain/errors";
import { largestPage, metadataOf, type PageMetadata, type PageRequest, wholeList } from "../domain/page";
import { type PageOfTask, Task, TaskStatus } from "../domain/spec/task";
import { type PageOfUpgrade, PublishedPhase, Upgrade, UpgradeStatus } from "../domain/spec/upgrade";
import { hasTaskEnded, type LostBecause, lostTask, lostUpgrade } from "../domain/task/lost-upgrade";
import { toTimestamp } from "../domain/timestamp";
import { attentionGroups, comparisons, type UpgradeCounts, type UpgradeSort } from "../domain/upgrade/attention";
import { SingleFlight } from "../single-flight";
import type { TaskFilter, UpgradeFilter, UpgradeListing } from "../upgrades/ports";
import type { ServiceError } from "../upgrades/service-error";
import { PayloadReader, readAs, timestampOf } from "./describe-workflow";
import { PayloadKeyError } from "./payload-encryption";
import { SearchIndex } from "./search-index";
import { readError } from "./temporal-error";
import { type Execution, tasksQuery, upgradesQuery, type Visibility, type VisibilityReader } from "./visibility";

const { WorkflowExecutionStatus } = temporal.api.enums.v1;

/** How many different lists are read at the same time: more would only make each of them late. */
const concurrentLists = 4;

/** How many upgrades of a part of a list are sorted here, which Visibility on SQL cannot do. */
const sortedAtMost = largestPage;
/** How many counts are asked for at the same time, and how long they are good for (milliseconds). */
const concurrentCounts = 5;
const countsLifetime = 3000;
const rememberedCounts = 100;

/** A part of a list of upgrades; without a comparison in Visibility's order: running ones, the newest first, then the last ended. */
interface Part {
  readonly query: string;
  readonly compare?: (a: Upgrade, b: Upgrade) => number;
}

/** An upgrade on a page, where it could be read. */
interface Found {
  readonly id: string;
  readonly upgrade: Upgrade | undefined;
}

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
  private readonly counting = new SingleFlight<UpgradeCounts>();
  private readonly counted = new Map<string, { readonly until: number; readonly counts: UpgradeCounts }>();
  private readonly index: SearchIndex;
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
    this.index = new SearchIndex(client);
  }

  list(
    { sort = "attention", ...filter }: UpgradeListing,
    page: PageRequest = wholeList,
  ): TE.TaskEither<ServiceError, PageOfUpgrade> {
    const query = this.queryOf(filter);
    return this.shared(this.readingUpgrades, `${keyOf(page)}/${sort}/${query}`, (deadline) =>
      this.readParts(query, this.parts(filter, sort), page, deadline),
    );
  }

  listTasks(filter: TaskFilter, page: PageRequest = wholeList): TE.TaskEither<ServiceError, PageOfTask> {
    const query = tasksQuery(filter);
    return this.shared(this.readingTasks, `${keyOf(page)}/${query}`, (deadline) =>
      this.read(query, page, deadline, (execution) => this.task(execution)),
    );
  }

  /** Counts the upgrades of each phase. Callers share what was counted within some seconds. */
  count(filter: UpgradeFilter): TE.TaskEither<ServiceError, UpgradeCounts> {
    const key = this.queryOf(filter);
    const known = this.counted.get(key);
    if (known && known.until > Date.now()) return TE.right(known.counts);
    return this.shared(this.counting, key, async (deadline) => {
      const counts = await this.countPhases(filter, deadline);
      this.counted.delete(key);
      this.counted.set(key, { counts, until: Date.now() + countsLifetime });
      const oldest = this.counted.keys().next().value;
      if (this.counted.size > rememberedCounts && oldest !== undefined) this.counted.delete(oldest);
      return counts;
    });
  }

  private async countPhases(filter: UpgradeFilter, deadline: number): Promise<UpgradeCounts> {
    const limit = pLimit(concurrentCounts);
    const wanted = filter.phase;
    const phases = await Promise.all(
      (Object.keys(PublishedPhase.keys) as PublishedPhase[]).map(async (phase) => ({
        phase,
        upgrades:
          wanted?.includes(phase) === false
            ? 0
            : await limit(() => this.visibility.count(this.queryOf({ ...filter, phase: [phase] }), deadline)),
      })),
    );
    return { total: phases.reduce((sum, { upgrades }) => sum + upgrades, 0), phases };
  }

  private queryOf({ search, changeId, label, createdBy, ...filter }: UpgradeFilter): string {
    const found = this.index.conditions({
      ...(search !== undefined && { search }),
      ...(changeId !== undefined && { changeId }),
      ...(label && { label }),
      ...(createdBy !== undefined && { createdBy }),
    });
    return [upgradesQuery(filter), ...found].join(" AND ");
  }

  /** The parts of a list, one after another, each of which Visibility can tell by itself. */
  private parts(filter: UpgradeFilter, sort: UpgradeSort): readonly Part[] {
    if (sort !== "attention") return [{ query: this.queryOf(filter), compare: comparisons[sort] }];
    return attentionGroups
      .map(({ phases, ...group }) => ({
        ...group,
        phase: phases.filter((phase) => filter.phase?.includes(phase) !== false),
      }))
      .filter(({ phase, statuses }) => phase.length > 0 && overlaps(statuses, filter.status))
      .map(({ phase, compare }) => ({ query: this.queryOf({ ...filter, phase }), ...(compare && { compare }) }));
  }

  private shared<A>(
    flights: SingleFlight<A>,
    key: string,
    read: (deadline: number) => Promise<A>,
  ): TE.TaskEither<ServiceError, A> {
    return TE.tryCatch(
      () =>
        flights.share(key, () => {
          const deadline = Date.now() + this.timeout;
          return this.limit(() => read(deadline));
        }),
      readError,
    );
  }

  /**
   * One page of a list of several parts. An upgrade that moves to an earlier part while they are read would be in none of
   * them: a first page that lacks some of those that were counted is read once more.
   */
  private async readParts(
    query: string,
    parts: readonly Part[],
    page: PageRequest,
    deadline: number,
  ): Promise<Page<Upgrade>> {
    const first = page.pageNumber * page.pageSize;
    const read = async () => {
      const [total, found] = await Promise.all([
        this.visibility.count(query, deadline),
        this.readThrough(parts, { first, size: page.pageSize }, deadline),
      ]);
      return { total, found };
    };
    let { total, found } = await read();
    if (first === 0 && parts.length > 1 && found.length < Math.min(total, page.pageSize))
      ({ total, found } = await read());
    return {
      elements: found.flatMap(({ upgrade }) => upgrade ?? []),
      pageMetadata: metadataOf(page, Math.max(total, found.length > 0 ? first + found.length : 0)),
    };
  }

  private async readThrough(
    parts: readonly Part[],
    { first, size }: { readonly first: number; readonly size: number },
    deadline: number,
  ): Promise<readonly Found[]> {
    const found = new Map<string, Found>();
    let skip = first;
    for (const part of parts) {
      if (found.size >= size) break;
      const before = skip === 0 ? 0 : await this.visibility.count(part.query, deadline);
      if (skip > 0 && skip >= before) {
        skip -= before;
        continue;
      }
      for (const one of await this.readPart(part, skip, size - found.size, deadline))
        if (!found.has(one.id)) found.set(one.id, one);
      skip = 0;
    }
    return [...found.values()];
  }

  /** Some of a part. What is sorted here is sorted among the first of it; what comes after them is as Visibility has it. */
  private async readPart(part: Part, first: number, size: number, deadline: number): Promise<readonly Found[]> {
    const { query, compare } = part;
    const read = async (from: number, most: number) => {
      const executions = await this.executions.read(query, from, most, deadline);
      return Promise.all(
        executions.map(async (one) => ({ id: one.execution?.workflowId ?? "", upgrade: await this.upgrade(one) })),
      );
    };
    if (!compare || first >= sortedAtMost) return read(first, size);
    const all = (await read(0, sortedAtMost)).sort((a, b) =>
      a.upgrade && b.upgrade ? compare(a.upgrade, b.upgrade) : Number(!a.upgrade) - Number(!b.upgrade),
    );
    const sorted = all.slice(first, first + size);
    const more = first + size - sortedAtMost;
    return more > 0 && all.length === sortedAtMost ? [...sorted, ...(await read(sortedAtMost, more))] : sorted;
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
        "Ask the operator to restore that key in PAYLOAD_KEYS_FILE and restart the API (docs/encryption.md).",
      context: { keyId: keyId.slice(0, 255) },
    };
  }

  private unreadable(execution: Execution["execution"]): undefined {
    this.log.warn(
      { taskId: execution?.workflowId },
      "Could not read the memo of an upgrade; it is missing from the list",
    );
    return undefined;
  }
}

const keyOf = ({ pageNumber, pageSize }: PageRequest) => `${pageNumber}/${pageSize}`;

function overlaps<A>(some: readonly A[], wanted: readonly A[] | undefined): boolean {
  return wanted === undefined || some.some((one) => wanted.includes(one));
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
