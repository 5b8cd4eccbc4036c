import { type Client, WorkflowFailedError, type WorkflowHandle } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { isRight } from "fp-ts/Either";
import { type ResourcePlan, resourcesOf, type UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { OperatorRequest, RequestOutcome } from "../../src/domain/requests/upgrade-request";
import { lockOf } from "../../src/domain/resource-lock";
import type { SubTask, Task } from "../../src/domain/spec/task";
import type { Upgrade } from "../../src/domain/spec/upgrade";
import { PayloadReader, StoredResource, StoredUpgrade } from "../../src/temporal/describe-workflow";
import {
  requestQuery,
  requestUpdates,
  subTaskQuery,
  taskQuery,
  taskWithChildrenQuery,
  upgradeQuery,
} from "../../workflows/messages";
import type { clusterUpgradeWorkflow } from "../../workflows/resource/cluster-workflow";
import type { upgradeWorkflow } from "../../workflows/upgrade/upgrade-workflow";
import { eventually } from "./eventually";
import type { FakeActivities } from "./fake-activities";

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** An upgrade that a test has started, as its operator and its clients see it. */
export class RunningUpgrade {
  private requests = 0;

  constructor(
    private readonly client: Client,
    readonly handle: WorkflowHandle<typeof upgradeWorkflow>,
    readonly plan: UpgradePlan,
    readonly fake: FakeActivities,
  ) {}

  get id(): string {
    return this.plan.id;
  }

  /** The id of the nth resource. */
  resourceId(n = 0): string {
    return this.resource(n).resourceId;
  }

  private resource(n: number): ResourcePlan {
    const resource = resourcesOf(this.plan)[n];
    if (!resource) throw new Error(`The plan has no resource ${n}`);
    return resource;
  }

  task(): Promise<Task> {
    return this.handle.query(taskQuery);
  }

  upgrade(): Promise<Upgrade> {
    return this.handle.query(upgradeQuery);
  }

  /** One Query after the other: a worker can lose one of two that reach a closed Workflow at the same moment. */
  async statuses(): Promise<string> {
    const { status } = await this.task();
    return `${status} / ${(await this.upgrade()).status}`;
  }

  /** Waits until Task and Upgrade have these statuses, written `Task.status / Upgrade.status`. */
  async untilStatuses(expected: string): Promise<void> {
    await eventually(
      () => this.statuses(),
      (statuses) => statuses === expected,
    );
  }

  /** Sends a Signal with a request id and gives what the upgrade made of it. */
  async ask(signal: OperatorRequest, payload: object = {}): Promise<RequestOutcome> {
    const requestId = `request-${++this.requests}`;
    await this.handle.signal(signal, { ...payload, requestId });
    return this.outcomeOf(requestId);
  }

  /** Sends an Update and gives what the upgrade made of it; rejects with the reason where it is refused. */
  update(name: OperatorRequest, payload?: unknown): Promise<RequestOutcome> {
    return this.handle.executeUpdate(requestUpdates[name], { args: [payload] });
  }

  async outcomeOf(requestId: string): Promise<RequestOutcome> {
    const outcome = await eventually(
      () => this.handle.query(requestQuery, requestId),
      (reading) => reading !== undefined,
    );
    if (!outcome) throw new Error("unreachable");
    return outcome;
  }

  /** How the Workflow closes: its result, or the status it has then. Time passes meanwhile where the server skips it. */
  async end(): Promise<string> {
    try {
      return (await this.handle.result()).outcome;
    } catch (failure) {
      if (!(failure instanceof WorkflowFailedError)) throw failure;
      return (await this.handle.describe()).status.name;
    }
  }

  /** The run of a resource's own Workflow in this upgrade. */
  async child(n = 0): Promise<WorkflowHandle<typeof clusterUpgradeWorkflow>> {
    const resourceId = this.resourceId(n);
    const { children } = await eventually(
      () => this.handle.query(taskWithChildrenQuery),
      (known) => known.children.some((child) => child.resourceId === resourceId),
    );
    const runId = children.find((child) => child.resourceId === resourceId)?.runId;
    return this.client.workflow.getHandle<typeof clusterUpgradeWorkflow>(lockOf(this.resource(n)), runId);
  }

  async subTask(n = 0): Promise<SubTask> {
    return (await this.child(n)).query(subTaskQuery);
  }

  /** Statuses of a cluster's hosts in their order. */
  async hosts(n = 0): Promise<string[]> {
    return ((await this.subTask(n)).subTasks ?? []).map((host) => host.status);
  }

  /** What is stored beside the Workflow for when nobody can be asked. */
  async memo(): Promise<StoredUpgrade> {
    const memo = StoredUpgrade.decode(await this.memoOf(this.handle));
    if (!isRight(memo)) throw new Error("The memo of the upgrade does not decode");
    return memo.right;
  }

  async resourceMemo(n = 0): Promise<StoredResource> {
    const memo = StoredResource.decode(await this.memoOf(await this.child(n)));
    if (!isRight(memo)) throw new Error("The memo of the cluster does not decode");
    return memo.right;
  }

  /** What the Temporal Web UI shows on top of the Workflow (Markdown), or on that of its nth cluster. */
  async currentDetails(n?: number): Promise<string> {
    const handle = n === undefined ? this.handle : await this.child(n);
    const metadata = await handle.query<{ currentDetails?: string }>("__temporal_workflow_metadata");
    return metadata.currentDetails ?? "";
  }

  /** The events of the Workflow so far, or of that of its nth cluster. */
  async events(n?: number): Promise<HistoryEvent[]> {
    const handle = n === undefined ? this.handle : await this.child(n);
    return (await handle.fetchHistory()).events ?? [];
  }

  /** What the Web UI shows for an Activity or a timer of the history. */
  async summaryOf(event: HistoryEvent): Promise<unknown> {
    return new PayloadReader(this.client.options.loadedDataConverter).value(event.userMetadata?.summary);
  }

  /** Status of a cluster's own Workflow, once it has closed; undefined where it was never started. */
  async childEnd(n = 0): Promise<string | undefined> {
    const handle = this.client.workflow.getHandle(lockOf(this.resource(n)));
    const read = async () => {
      try {
        return (await handle.describe()).status.name;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    };
    return eventually(read, (status) => status !== "RUNNING");
  }

  /** The events of its Workflow and those of its clusters, one a line. */
  async story(): Promise<string> {
    const handles = resourcesOf(this.plan).map((resource) => this.client.workflow.getHandle(lockOf(resource)));
    const stories = await Promise.all([this.handle, ...handles].map((handle) => storyOf(handle)));
    return [...stories, `Activities: ${this.fake.calls.join(", ")}`].join("\n");
  }

  private async memoOf(handle: Pick<WorkflowHandle, "describe">): Promise<Record<string, unknown>> {
    const { raw } = await handle.describe();
    return new PayloadReader(this.client.options.loadedDataConverter).fields(raw.workflowExecutionInfo?.memo);
  }
}

async function storyOf(handle: WorkflowHandle): Promise<string> {
  const history = await handle.fetchHistory().catch(() => undefined);
  const events = (history?.events ?? []).map((event) => {
    const { seconds, nanos } = event.eventTime ?? {};
    const at = new Date(Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6).toISOString();
    const what = Object.keys(event).find((key) => key.endsWith("EventAttributes")) ?? "";
    const wrong = event.workflowTaskFailedEventAttributes?.failure?.message ?? "";
    return `  ${at} ${what.replace("EventAttributes", "")} ${wrong}`;
  });
  return [handle.workflowId, ...events].join("\n");
}
