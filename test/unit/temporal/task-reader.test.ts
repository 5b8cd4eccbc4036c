import type { Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { expect } from "chai";
import { upgradeView } from "../../../src/domain/plan/schedule";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import type { RemediationProgress } from "../../../src/domain/task/host-remediation";
import { initialTask } from "../../../src/domain/task/task-progress";
import { toTimestamp } from "../../../src/domain/timestamp";
import { TaskReader } from "../../../src/temporal/task-reader";
import { fakeClient } from "../../support/fake-client";
import { clusters, samplePlan } from "../../support/sample-plan";
import { sampleProgress } from "../../support/sample-progress";

const { WorkflowExecutionStatus } = temporal.api.enums.v1;
type Status = "RUNNING" | "COMPLETED" | "TERMINATED";

/** A Workflow execution as a server without workers or with them would tell of it. */
interface Execution {
  readonly type: string;
  readonly status: Status;
  readonly memo: Readonly<Record<string, unknown>>;
  /** How many events its history has; a server may not tell. */
  readonly events?: number;
  /** Its run; a reset begins another. */
  readonly runId?: string;
  /** Whether the server fails to describe it. */
  readonly isOutOfReach?: boolean;
  /** What the pending remediation of a host says of it. */
  readonly heartbeat?: RemediationProgress;
  /** How many tries of its Workflow Task have failed. */
  readonly failures?: number;
  /** Workflow IDs of its children that run. */
  readonly children?: readonly string[];
  /** What it answers to a Query; undefined where it does not. */
  readonly answer?: unknown;
}

const timeouts = { call: 1000, query: 1000, answers: 1000 };

describe("the reader of Tasks", () => {
  const plan = samplePlan({ resources: clusters(1) });
  const [cluster] = resourcesOf(plan);
  const resourceId = cluster?.resourceId ?? "";
  const child = { resourceId, workflowId: `cluster/${resourceId}`, runId: "run" };
  const begun = initialTask(plan);

  /** The Task while its cluster has this status. */
  const taskWith = (name: string, status: SubTask["status"]): Task => ({
    ...begun,
    name,
    status: "In Progress",
    subTasks: (begun.subTasks ?? []).map((part) =>
      part.type === "PRECHECKS"
        ? part
        : { ...part, subTasks: part.subTasks?.map((resource) => ({ ...resource, status })) ?? [] },
    ),
  });
  const clusterOf = (task: Task | undefined): SubTask =>
    task?.subTasks?.find(({ type }) => type !== "PRECHECKS")?.subTasks?.[0] as SubTask;

  let executions: Record<string, Execution>;
  let asked: string[];
  /** Is called before each Query of an upgrade is answered. */
  let beforeAnswer: () => void;
  /** The same of its cluster. */
  let beforeChildAnswer: () => void;
  let untilChildAnswers: Promise<void>;

  const upgrade = (task: Task, answer: unknown, status: Status = "RUNNING"): Execution => ({
    ...{ type: "upgradeWorkflow", status, answer, events: 10 },
    memo: { upgrade: upgradeView(plan), task, children: [child] },
  });
  const resource = (subTask: SubTask, status: Status, answer?: SubTask): Execution => ({
    ...{ type: "clusterUpgradeWorkflow", status, answer, events: 20 },
    memo: { upgradeId: plan.id, subTask },
  });

  function client(): Client {
    const fields = (memo: Execution["memo"]) =>
      Object.fromEntries(Object.entries(memo).map(([name, value]) => [name, defaultPayloadConverter.toPayload(value)]));
    return fakeClient({
      workflowService: {
        describeWorkflowExecution: ({ execution }: { execution: { workflowId: string; runId?: string } }) => {
          const { workflowId, runId: wanted = "" } = execution;
          const known = (executions[`${workflowId}@${wanted}`] ?? executions[workflowId]) as Execution;
          const { type, status, memo, events, heartbeat, runId = "run", isOutOfReach, failures = 0 } = known;
          if (isOutOfReach) return Promise.reject(new Error("out of reach"));
          const heartbeatDetails = heartbeat && { payloads: [defaultPayloadConverter.toPayload(heartbeat)] };
          return Promise.resolve({
            workflowExecutionInfo: {
              execution: { ...execution, runId },
              historyLength: events,
              type: { name: type },
              status: WorkflowExecutionStatus[`WORKFLOW_EXECUTION_STATUS_${status}`],
              memo: { fields: fields(memo) },
            },
            pendingActivities: heartbeatDetails
              ? [{ activityId: "remediate/host-1", activityType: { name: "remediateHosts" }, heartbeatDetails }]
              : [],
            ...(failures > 0 && { pendingWorkflowTask: { attempt: failures + 1 } }),
            pendingChildren: (known.children ?? []).map((workflowId) => ({
              ...{ workflowId, runId: "run", workflowTypeName: executions[workflowId]?.type },
            })),
          });
        },
        getWorkflowExecutionHistoryReverse: () =>
          Promise.resolve({
            history: { events: [{ workflowTaskFailedEventAttributes: { failure: { message: "a bug" } } }] },
          }),
      },
      workflow: {
        getHandle: (id: string) => ({
          query: async () => {
            asked.push(id);
            const { answer } = executions[id] as Execution;
            if (id === plan.id) beforeAnswer();
            else beforeChildAnswer();
            if (id === child.workflowId) await untilChildAnswers;
            if (answer === undefined) throw new Error("no worker");
            return answer;
          },
        }),
      },
    });
  }

  beforeEach(() => {
    asked = [];
    beforeAnswer = beforeChildAnswer = () => undefined;
    untilChildAnswers = Promise.resolve();
    const task = taskWith("running", "IN_PROGRESS");
    executions = {
      [plan.id]: upgrade(task, { task, children: [child] }),
      [child.workflowId]: resource(clusterOf(task), "RUNNING", clusterOf(task)),
    };
  });

  /** Changes what there is of an execution; unless it says how many events, one more. */
  const happens = (id: string, change: Partial<Execution>) => {
    const before = executions[id] as Execution;
    executions[id] = { ...before, events: (before.events ?? 0) + 1, ...change };
  };
  const working = taskWith("running", "IN_PROGRESS");
  const answerOf = (task: Task) => ({ task, children: [child] });
  const host: SubTask = {
    ...{ name: "host-1", type: "HOST_UPGRADE", description: "", status: "IN_PROGRESS" },
    ...{ creationTimestamp: plan.creationTimestamp, resources: [{ resourceId: "host-1" }] },
  };
  const named = (description: string): SubTask => ({ ...clusterOf(working), description });

  it("asks each Workflow once for every state that it is in", async () => {
    const reader = new TaskReader(client(), timeouts);
    await reader.read(plan.id);
    await reader.read(plan.id);
    expect(asked).to.have.members([plan.id, child.workflowId]);
    asked.splice(0);
    happens(child.workflowId, { answer: named("one host on") });
    expect(clusterOf(await reader.read(plan.id)).description).to.equal("one host on");
    expect(asked).to.deep.equal([child.workflowId]);
    asked.splice(0);
    happens(plan.id, { answer: answerOf(taskWith("later", "IN_PROGRESS")) });
    expect((await reader.read(plan.id))?.name).to.equal("later");
    expect(asked).to.deep.equal([plan.id]);
  });

  it("asks each time where the server does not count events", async () => {
    executions = Object.fromEntries(
      Object.entries(executions).map(([id, { events: _, ...execution }]) => [id, execution]),
    );
    const reader = new TaskReader(client(), timeouts);
    await reader.read(plan.id);
    await reader.read(plan.id);
    expect(asked).to.have.length(4);
  });

  it("asks again where something has happened between the description and the answer", async () => {
    const reader = new TaskReader(client(), timeouts);
    let isFirst = true;
    beforeAnswer = () => {
      if (isFirst) happens(plan.id, { answer: answerOf(taskWith("later", "IN_PROGRESS")) });
      isFirst = false;
    };
    await reader.read(plan.id);
    expect((await reader.read(plan.id))?.name).to.equal("later");
    expect(asked.filter((id) => id === plan.id)).to.have.length(2);
  });

  it("remembers what was answered for when no worker answers, unless something newer is published", async () => {
    const reader = new TaskReader(client(), timeouts);
    happens(child.workflowId, { answer: named("one host on") });
    await reader.read(plan.id);
    happens(child.workflowId, { answer: undefined });
    happens(plan.id, { answer: undefined });
    expect(clusterOf(await reader.read(plan.id)).description).to.equal("one host on");
    happens(child.workflowId, { memo: { upgradeId: plan.id, subTask: named("published"), published: 1 } });
    expect(clusterOf(await reader.read(plan.id)).description).to.equal("published");
  });

  it("shows what was last known, and as of when, where busy workers do not answer in time, and their answer later", async () => {
    const reader = new TaskReader(client(), { ...timeouts, answers: 10 });
    let answer = () => {};
    untilChildAnswers = new Promise((resolve) => (answer = resolve));
    const publishedAt = "2026-11-26T03:00:00.000Z";
    const memo = { upgradeId: plan.id, subTask: named("published"), published: 1, publishedAt };
    happens(child.workflowId, { memo, answer: { ...named("one host on"), published: 1 } });
    const late = await reader.read(plan.id);
    expect([clusterOf(late).description, late?.asOf]).to.deep.equal(["published", publishedAt]);
    answer();
    await untilChildAnswers;
    const inTime = await reader.read(plan.id);
    expect([clusterOf(inTime).description, inTime?.asOf]).to.deep.equal(["one host on", undefined]);

    const before = toTimestamp(Date.now());
    untilChildAnswers = new Promise(() => {});
    happens(child.workflowId, {});
    const remembered = await reader.read(plan.id);
    expect(clusterOf(remembered).description).to.equal("one host on");
    expect(remembered?.asOf)
      .to.be.a("string")
      .and.satisfy((asOf: string) => asOf <= before);
  });

  it("shows nothing older than before where something was published between a description and its answer", async () => {
    const reader = new TaskReader(client(), timeouts);
    const published = { memo: { upgradeId: plan.id, subTask: named("one host done"), published: 1 } };
    beforeChildAnswer = () => happens(child.workflowId, published);
    happens(child.workflowId, { answer: { ...named("two hosts done"), published: 1 } });
    expect(clusterOf(await reader.read(plan.id)).description).to.equal("two hosts done");
    expect(executions[child.workflowId]?.memo).to.equal(published.memo);
    happens(child.workflowId, { answer: undefined });
    expect(clusterOf(await reader.read(plan.id)).description).to.equal("two hosts done");
    happens(child.workflowId, { memo: { upgradeId: plan.id, subTask: named("three hosts done"), published: 2 } });
    expect(clusterOf(await reader.read(plan.id)).description).to.equal("three hosts done");
  });

  it("shows of an upgrade nothing older than before either", async () => {
    const reader = new TaskReader(client(), timeouts);
    const memoOf = (name: string, published: number) => ({
      memo: { upgrade: upgradeView(plan), task: { ...working, name }, children: [child], published },
    });
    beforeAnswer = () => happens(plan.id, memoOf("begins", 1));
    happens(plan.id, { answer: { ...answerOf({ ...working, name: "is under way" }), published: 1 } });
    expect((await reader.read(plan.id))?.name).to.equal("is under way");
    happens(plan.id, { answer: undefined });
    expect((await reader.read(plan.id))?.name).to.equal("is under way");
    happens(plan.id, memoOf("is paused", 2));
    expect((await reader.read(plan.id))?.name).to.equal("is paused");
  });

  it("tells nobody of a time before they asked, and begins no read before the one before it has ended", async () => {
    const reader = new TaskReader(client(), timeouts);
    let answer = () => {};
    untilChildAnswers = new Promise((resolve) => (answer = resolve));
    const order: string[] = [];
    const read = async (who: string) => {
      const task = await reader.read(plan.id);
      order.push(`${who}: ${task?.status}`);
    };
    const before = read("before");
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked, "its upgrade has answered").to.deep.equal([plan.id, child.workflowId]);
    const ended = { ...taskWith("ended", "SUCCESSFUL"), status: "Successful" as const };
    executions[plan.id] = upgrade(ended, undefined, "COMPLETED");
    executions[child.workflowId] = resource(clusterOf(ended), "COMPLETED");
    const after = [read("after"), read("after")];
    answer();
    await Promise.all([before, ...after]);
    expect(order).to.deep.equal(["before: In Progress", "after: Successful", "after: Successful"]);
  });

  it("ends no read, also none that fails, before everything that it has asked for is there or has failed", async () => {
    const reader = new TaskReader(client(), timeouts);
    await reader.read(plan.id);
    let answer = () => {};
    untilChildAnswers = new Promise((resolve) => (answer = resolve));
    const { [plan.id]: reached } = executions;
    happens(child.workflowId, { answer: named("held up") });
    happens(plan.id, { isOutOfReach: true });
    let hasFailed = false;
    const failing = reader.read(plan.id).catch(() => {
      hasFailed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked.filter((id) => id === child.workflowId)).to.have.length(2);
    expect(hasFailed, "while the cluster is asked").to.equal(false);
    answer();
    await failing;
    expect(hasFailed).to.equal(true);
    executions[plan.id] = reached as Execution;
    expect(clusterOf(await reader.read(plan.id)).description).to.equal("held up");
  });

  it("shows of what was terminated the last that it has told, and of what was reset what it has published", async () => {
    const reader = new TaskReader(client(), timeouts);
    const memo = { upgradeId: plan.id, subTask: named("one host done"), published: 3 };
    happens(child.workflowId, { memo, answer: { ...named("two hosts done"), published: 3 } });
    await reader.read(plan.id);
    for (const id of [plan.id, child.workflowId]) happens(id, { status: "TERMINATED", answer: undefined });
    expect(clusterOf(await reader.read(plan.id)).description).to.equal("two hosts done");
    const task = { ...working, name: "before the reset" };
    executions[plan.id] = { ...upgrade(task, { ...answerOf(task), published: 9 }), events: 30 };
    expect((await reader.read(plan.id))?.name).to.equal("before the reset");
    const again = { upgrade: upgradeView(plan), task: { ...working, name: "reset" }, children: [child], published: 4 };
    happens(plan.id, { runId: "reset", memo: again, answer: undefined });
    expect((await reader.read(plan.id))?.name).to.equal("reset");
  });

  it("keeps what an Activity has told until its Workflow tells of its end", async () => {
    const reader = new TaskReader(client(), timeouts);
    const hostOf = (task: Task | undefined) => clusterOf(task).subTasks?.[0];
    const heartbeat = sampleProgress({ activity: "Restarts." });
    happens(child.workflowId, { answer: { ...clusterOf(working), subTasks: [host] }, heartbeat });
    const told = hostOf(await reader.read(plan.id));
    expect(told?.description).to.equal("Restarts.");
    const { heartbeat: _ended, ...withoutActivity } = executions[child.workflowId] as Execution;
    executions[child.workflowId] = withoutActivity;
    expect(hostOf(await reader.read(plan.id)), "it has ended").to.equal(told);
    happens(child.workflowId, { answer: { ...clusterOf(working), subTasks: [{ ...host, status: "SUCCESSFUL" }] } });
    expect(hostOf(await reader.read(plan.id))?.status).to.equal("SUCCESSFUL");
  });

  it("shows each heartbeat, and gives what has not changed as the same object", async () => {
    const reader = new TaskReader(client(), timeouts);
    const heartbeat = (activity: string) => sampleProgress({ activity });
    happens(child.workflowId, {
      answer: { ...clusterOf(working), subTasks: [host] },
      heartbeat: heartbeat("Enters maintenance mode."),
    });
    const [first, second] = [await reader.read(plan.id), await reader.read(plan.id)].map(clusterOf);
    expect(first?.subTasks?.[0]?.description).to.equal("Enters maintenance mode.");
    expect(second).to.equal(first);
    happens(child.workflowId, { events: executions[child.workflowId]?.events ?? 0, heartbeat: heartbeat("Restarts.") });
    expect(clusterOf(await reader.read(plan.id)).subTasks?.[0]?.description).to.equal("Restarts.");
    expect(asked.filter((id) => id === child.workflowId)).to.have.length(1);
  });

  it("reads a cluster again that was read before its upgrade told that it has ended", async () => {
    const reader = new TaskReader(client(), timeouts);
    await reader.read(plan.id);
    const done = taskWith("running", "SUCCESSFUL");
    beforeAnswer = () =>
      happens(child.workflowId, {
        ...{ status: "COMPLETED", answer: undefined },
        memo: { upgradeId: plan.id, subTask: { ...clusterOf(done), description: "its last word" } },
      });
    happens(plan.id, { answer: answerOf(done) });
    const found = clusterOf(await reader.read(plan.id));
    expect([found.status, found.description]).to.deep.equal(["SUCCESSFUL", "its last word"]);
  });

  const codes = (part: { readonly errors?: readonly { readonly errorCode?: string }[] } | undefined) =>
    part?.errors?.map(({ errorCode }) => errorCode);

  it("says of a blocked resource what it waits for, does not ask it, and shows what is last known", async () => {
    const reader = new TaskReader(client(), timeouts);
    happens(child.workflowId, { failures: 2 });
    expect((await reader.read(plan.id))?.waitingFor, "a deployment may do that").to.equal(undefined);
    asked.splice(0);
    happens(child.workflowId, {
      failures: 3,
      memo: { upgradeId: plan.id, subTask: named("one host on"), published: 1 },
    });
    const task = await reader.read(plan.id);
    expect(asked).to.deep.equal([]);
    expect([task?.status, task?.waitingFor?.code, task?.waitingFor?.attempts]).to.deep.equal([
      ...["In Progress", "WORKFLOW_TASK_FAILING", 3],
    ]);
    expect(task?.waitingFor?.message, "its name").to.match(
      /^The Workflow of \S+-name \(cluster\/\S+\) cannot continue/,
    );
    expect(clusterOf(task)).to.include({ description: "one host on" });
    expect(clusterOf(task).waitingFor).to.deep.equal(task?.waitingFor);
    expect([codes(task), codes(clusterOf(task))]).to.deep.equal([["WORKFLOW_BLOCKED"], ["WORKFLOW_BLOCKED"]]);
    happens(child.workflowId, { failures: 0 });
    const after = await reader.read(plan.id);
    expect([after?.waitingFor, after?.errors]).to.deep.equal([undefined, undefined]);
  });

  it("asks the resources of a blocked upgrade, which continue", async () => {
    const reader = new TaskReader(client(), timeouts);
    happens(plan.id, { failures: 3 });
    const task = await reader.read(plan.id);
    expect(asked).to.deep.equal([child.workflowId]);
    expect(task?.waitingFor?.message).to.contain("The Workflow of this upgrade").and.to.contain("a bug");
    expect([codes(task), clusterOf(task).waitingFor]).to.deep.equal([["WORKFLOW_BLOCKED"], undefined]);
  });

  it("says of blocked notifications that the upgrade does not wait for them", async () => {
    const reader = new TaskReader(client(), timeouts);
    const notify = `notify/${plan.id}`;
    executions[notify] = { type: "notifyWorkflow", status: "RUNNING", memo: {}, failures: 3 };
    happens(plan.id, { children: [notify] });
    const task = await reader.read(plan.id);
    expect([codes(task), task?.waitingFor]).to.deep.equal([["WORKFLOW_BLOCKED"], undefined]);
    expect(task?.errors?.[0]?.remediationMessage).to.contain("only its notifications wait");
  });

  it("says so too of an upgrade that has continued as new, whose notifications are a child of an earlier run", async () => {
    const reader = new TaskReader(client(), timeouts);
    const [notify, watch] = [`notify/${plan.id}`, `notify/${plan.id}/end/2`];
    executions[notify] = { type: "notifyWorkflow", status: "RUNNING", memo: {}, failures: 3 };
    executions[watch] = { type: "watchUpgradeWorkflow", status: "RUNNING", memo: {} };
    happens(plan.id, { children: [watch] });
    const [error] = (await reader.read(plan.id))?.errors ?? [];
    expect(error).to.include({ errorCode: "WORKFLOW_BLOCKED" });
    expect(error?.remediationMessage).to.contain("only its notifications wait");
  });

  it("reads of a resource that was reset the run that follows, unless that works for another upgrade", async () => {
    const reader = new TaskReader(client(), timeouts);
    executions[`${child.workflowId}@run`] = resource(named("before the reset"), "TERMINATED");
    const again = resource(named("published"), "RUNNING", named("one host on"));
    executions[child.workflowId] = { ...again, runId: "reset" };
    expect(clusterOf(await reader.read(plan.id)).description).to.equal("one host on");
    executions[child.workflowId] = { ...again, runId: "other", memo: { ...again.memo, upgradeId: "another" } };
    expect(clusterOf(await new TaskReader(client(), timeouts).read(plan.id)).description).to.equal("before the reset");
  });

  it("says on a Task that was terminated which of its resources still is blocked", async () => {
    const reader = new TaskReader(client(), timeouts);
    happens(child.workflowId, { failures: 3 });
    happens(plan.id, { status: "TERMINATED", answer: undefined });
    const task = await reader.read(plan.id);
    expect([task?.status, codes(task), task?.waitingFor]).to.deep.equal([
      ...["Failed", ["UPGRADE_LOST", "WORKFLOW_BLOCKED"], undefined],
    ]);
  });

  it("does not ask an upgrade that has ended", async () => {
    const reader = new TaskReader(client(), timeouts);
    await reader.read(plan.id);
    executions[plan.id] = upgrade(taskWith("ended", "SUCCESSFUL"), undefined, "COMPLETED");
    executions[child.workflowId] = resource(clusterOf(taskWith("ended", "SUCCESSFUL")), "COMPLETED");
    asked.splice(0);
    happens(plan.id, {});
    happens(child.workflowId, {});
    expect((await reader.read(plan.id))?.name).to.equal("ended");
    expect((await reader.read(plan.id))?.name).to.equal("ended");
    expect(asked).to.deep.equal([]);
  });
});
