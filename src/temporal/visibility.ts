import type { Client } from "@temporalio/client";
import type { TaskStatus } from "../domain/spec/task";
import type { PublishedPhase } from "../domain/spec/upgrade";
import { endedPhases } from "../domain/upgrade/attention";
import { SingleFlight } from "../single-flight";
import type { TaskFilter, UpgradeFilter } from "../upgrades/ports";
import { grpcCode } from "./temporal-error";

/** Statuses of what has ended, of the Upgrade and of its Task. */
const upgradeEnds = ["COMPLETED_WITH_SUCCESS", "COMPLETED_WITH_FAILURE", "CANCELLED"];
const taskEnds = ["Successful", "COMPLETED_WITH_WARNING", "SKIPPED", "Failed", "Cancelled"];
const endedWithoutAWord = "ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed')";

/** Each once: a run that another one has taken on from is no upgrade of its own. */
const ofUpgrades = "WorkflowType = 'upgradeWorkflow' AND ExecutionStatus != 'ContinuedAsNew'";

/** Visibility's list filter for upgrades (https://docs.temporal.io/list-filter). */
export function upgradesQuery(filter: Omit<UpgradeFilter, "search" | "changeId" | "label" | "createdBy">): string {
  const { status, phase, bundleId, bundleType, resourceId, createdSince } = filter;
  const conditions = [ofUpgrades];
  if (status !== undefined) {
    const each = status.map((one) => statusCondition("UpgradeStatus", one, upgradeEnds, "COMPLETED_WITH_FAILURE"));
    conditions.push(each.length === 1 ? each.join() : `(${each.map((one) => `(${one})`).join(" OR ")})`);
  }
  if (phase !== undefined) conditions.push(phaseCondition(phase));
  if (bundleId !== undefined) conditions.push(`BundleId = ${quoted(bundleId)}`);
  if (bundleType !== undefined) conditions.push(`BundleType = ${quoted(bundleType)}`);
  if (resourceId !== undefined) conditions.push(ofResource(resourceId));
  if (createdSince !== undefined) conditions.push(`CreatedAt >= ${quoted(createdSince)}`);
  return conditions.join(" AND ");
}

/** The same for their Tasks. A status is found in whichever of its spellings it is asked for. */
export function tasksQuery({ taskStatus, resourceId }: TaskFilter): string {
  const conditions = [ofUpgrades];
  if (taskStatus !== undefined) {
    conditions.push(statusCondition("TaskStatus", stored[taskStatus] ?? taskStatus, taskEnds, "Failed"));
  }
  if (resourceId !== undefined) conditions.push(ofResource(resourceId));
  return conditions.join(" AND ");
}

/** One of these phases. Of a Workflow that ended without a word the last phase says nothing: it has failed. */
function phaseCondition(phases: readonly PublishedPhase[]): string {
  const live = phases.filter((phase) => !endedPhases.includes(phase));
  const over = phases.filter((phase) => endedPhases.includes(phase));
  const among = (list: readonly string[]) => `(${list.map(quoted).join(", ")})`;
  const either = [
    ...(live.length > 0 ? [`(ExecutionStatus = 'Running' AND UpgradePhase IN ${among(live)})`] : []),
    ...(over.length > 0 ? [`UpgradePhase IN ${among(over)}`] : []),
    ...(over.includes("FAILED") ? [`(${endedWithoutAWord} AND UpgradePhase NOT IN ${among(endedPhases)})`] : []),
  ];
  return either.length === 0 ? "WorkflowType = ''" : `(${either.join(" OR ")})`;
}

/** The spelling that Tasks have, for those of Spec 3 that they do not. */
const stored: Partial<Record<TaskStatus, TaskStatus>> = {
  PENDING: "Pending",
  IN_PROGRESS: "In Progress",
  SUCCESSFUL: "Successful",
  FAILED: "Failed",
  CANCELLED: "Cancelled",
};

/** No resource has a quotation mark in its id, and Visibility on SQLite fails where it is asked for one in a list. */
function ofResource(resourceId: string): string {
  return resourceId.includes('"') ? "WorkflowType = ''" : `ResourceIds = ${quoted(resourceId)}`;
}

/** The running Workflows of resources, which are the locks. */
export function locksQuery(workflowIds: readonly string[]): string {
  return `ExecutionStatus = 'Running' AND WorkflowId IN (${workflowIds.map(quoted).join(", ")})`;
}

/** Running Workflows of these types. */
export function runningWorkflowsQuery(types: readonly string[]): string {
  return `ExecutionStatus = 'Running' AND WorkflowType IN (${types.map(quoted).join(", ")})`;
}

/**
 * Running Workflows whose last Workflow Tasks have failed, several in a row. A server that does not have the attribute
 * answers INVALID_ARGUMENT: 1.29 does not, 1.32 does.
 */
export const reportedWorkflowsQuery =
  "ExecutionStatus = 'Running' AND TemporalReportedProblems IN ('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut')";

/** A terminated Workflow could not say that it failed; its search attribute still says what it was doing. */
function statusCondition(attribute: string, status: string, ends: readonly string[], failed: string): string {
  const says = `${attribute} = ${quoted(status)}`;
  if (status === failed) {
    return `(${says} OR (${endedWithoutAWord} AND ${attribute} NOT IN (${ends.map(quoted).join(", ")})))`;
  }
  return ends.includes(status) ? says : `${says} AND ExecutionStatus = 'Running'`;
}

/** A text as a value of a list filter. */
export function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** A Workflow execution as Visibility lists it. */
export type Execution = NonNullable<
  Awaited<ReturnType<Client["workflowService"]["listWorkflowExecutions"]>>["executions"]
>[number];

/** Temporal's Visibility, call by call: it knows how many executions match, and what comes next. */
export interface Visibility {
  count(query: string, deadline: number): Promise<number>;
  /** The first `size` executions, or those after `token`. Without a next token there are no more. */
  list(query: string, size: number, token: Uint8Array | undefined, deadline: number): Promise<Step>;
}

interface Step {
  readonly executions: readonly Execution[];
  readonly nextToken: Uint8Array | undefined;
}

/** Visibility by a client; a call takes at most `callTimeout` milliseconds, and ends at the deadline of its reader. */
export function visibilityOf(client: Client, callTimeout: number): Visibility {
  const { namespace } = client.options;
  const { workflowService } = client;
  const until = (deadline: number) => Math.min(Date.now() + callTimeout, deadline);
  return {
    count: (query, deadline) =>
      client.withDeadline(until(deadline), async () =>
        Number((await workflowService.countWorkflowExecutions({ namespace, query })).count),
      ),
    list: (query, pageSize, token, deadline) =>
      client.withDeadline(until(deadline), async () => {
        const request = { namespace, query, pageSize, ...(token && { nextPageToken: token }) };
        const { executions, nextPageToken } = await workflowService.listWorkflowExecutions(request);
        return { executions, nextToken: nextPageToken.length > 0 ? nextPageToken : undefined };
      }),
  };
}

/**
 * How many executions one call asks for: at first as many as fit into one message whatever their memos are (2 MiB each at
 * most; connection.ts), and more where the last ones were small, up to what the server gives. Few calls matter: by default
 * a Temporal server lets a namespace make ten a second.
 */
const atOnce = { first: 50, growth: 4, most: 1000, bytes: 16 * 1024 * 1024 };
/** A gRPC status code: the answer is larger than is taken, or calls are too many. */
const resourceExhausted = 8;
/** How many places in lists are remembered, so that reading page by page does not start from the front each time. */
const rememberedPlaces = 200;
/** For how long, in milliseconds: what has started or ended since has moved the rest of the list. */
const placeLifetime = 30_000;

/** What comes after the first `at` executions of a query; the very front has no token. */
interface Place {
  readonly query: string;
  readonly at: number;
  readonly token: Uint8Array | undefined;
  readonly until: number;
}

/** Reads any part of a list of executions, of which Visibility tells only what comes next. */
export class VisibilityReader {
  private readonly places = new Map<string, Place>();
  private readonly steps = new SingleFlight<{ executions: readonly Execution[]; next: Place | undefined }>();
  /** How many executions one call may ask for now. */
  private most = atOnce.first;

  constructor(
    private readonly visibility: Visibility,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * At most `size` executions, beginning with that of index `first`; fewer only at the end of the list. Walks there in
   * large steps from the nearest place that is known. Rejects when `deadline` (epoch milliseconds) has passed.
   */
  async read(query: string, first: number, size: number, deadline = Infinity): Promise<Execution[]> {
    const end = first + size;
    const found: Execution[] = [];
    let place: Place | undefined = this.nearest(query, first);
    while (place && place.at < end) {
      const { executions, next } = await this.step(place, Math.min(this.most, end - place.at), deadline);
      found.push(...executions.slice(Math.max(0, first - place.at)));
      place = next;
    }
    return found;
  }

  private nearest(query: string, first: number): Place {
    let best: Place = { query, at: 0, token: undefined, until: Infinity };
    for (const place of this.places.values()) {
      if (place.query === query && place.at > best.at && place.at <= first && place.until > this.now()) best = place;
    }
    return best;
  }

  /** Readers that walk the same way at the same time take the same steps. */
  private step({ query, at, token }: Place, size: number, deadline: number) {
    return this.steps.share(`${at}/${size}/${query}`, async () => {
      const { executions, nextToken } = await this.list(query, size, token, deadline);
      if (!nextToken || executions.length === 0) return { executions, next: undefined };
      const next = { query, at: at + executions.length, token: nextToken, until: this.now() + placeLifetime };
      this.remember(next);
      return { executions, next };
    });
  }

  private async list(query: string, size: number, token: Uint8Array | undefined, deadline: number): Promise<Step> {
    try {
      const step = await this.visibility.list(query, size, token, deadline);
      const largest = Math.max(1024, ...step.executions.map(bytesOf));
      const next = Math.min(atOnce.most, atOnce.growth * this.most, Math.floor(atOnce.bytes / largest));
      this.most = Math.max(atOnce.first, next);
      return step;
    } catch (error) {
      this.most = atOnce.first;
      if (size <= atOnce.first || grpcCode(error) !== resourceExhausted) throw error;
      return this.list(query, atOnce.first, token, deadline);
    }
  }

  private remember(place: Place): void {
    const key = `${place.at}/${place.query}`;
    this.places.delete(key);
    this.places.set(key, place);
    const oldest = this.places.keys().next().value;
    if (this.places.size > rememberedPlaces && oldest !== undefined) this.places.delete(oldest);
  }
}

/** What an execution's memo takes, nearly all of its size. */
function bytesOf({ memo }: Execution): number {
  return Object.values(memo?.fields ?? {}).reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
}
