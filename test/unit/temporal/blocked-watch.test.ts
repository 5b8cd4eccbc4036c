import { defaultPayloadConverter } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { expect } from "chai";
import { BlockedWatch } from "../../../src/temporal/blocked-workflows";
import { fakeClient } from "../../support/fake-client";
import { ManualTimers } from "../../support/manual-timers";
import { memoryLog } from "../api/api-under-test";

const { EventType, WorkflowExecutionStatus } = temporal.api.enums.v1;

/** A running Workflow of a cluster, and which try of its Workflow Task is under way. */
interface Workflow {
  readonly upgradeId: string;
  attempt: number;
}

describe("the watch for blocked Workflows", () => {
  /** By Workflow ID; the run of each has the same id. */
  let workflows: Map<string, Workflow>;
  let reports: boolean;
  let answers: boolean;
  let queries: string[];
  let described: string[];
  const timers = new ManualTimers();
  const { log, lines } = memoryLog();
  let watch: BlockedWatch;

  function client() {
    return fakeClient({
      workflowService: {
        listWorkflowExecutions: ({ query, pageSize, nextPageToken }: ListRequest) => {
          queries.push(query);
          if (!answers) return Promise.reject(new Error("out of reach"));
          const asksReports = query.includes("TemporalReportedProblems");
          if (asksReports && !reports) return Promise.reject(grpcError(3, "invalid search attribute"));
          const all = [...workflows].filter(([, { attempt }]) => !asksReports || attempt > 4).map(([id]) => id);
          const first = nextPageToken ? nextPageToken[0]! : 0;
          const page = all.slice(first, first + pageSize);
          const isLast = first + pageSize >= all.length;
          return Promise.resolve({
            executions: page.map((id) => ({ execution: { workflowId: id, runId: id } })),
            nextPageToken: isLast ? new Uint8Array() : new Uint8Array([first + pageSize]),
          });
        },
        describeWorkflowExecution: ({ execution: { workflowId } }: { execution: { workflowId: string } }) => {
          described.push(workflowId);
          const workflow = workflows.get(workflowId);
          if (!workflow) return Promise.reject(grpcError(5, "no such execution"));
          return Promise.resolve({
            workflowExecutionInfo: {
              execution: { workflowId, runId: workflowId },
              type: { name: "clusterUpgradeWorkflow" },
              status: WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING,
              memo: { fields: { upgradeId: defaultPayloadConverter.toPayload(workflow.upgradeId) } },
            },
            pendingWorkflowTask: { attempt: workflow.attempt },
            pendingActivities: [],
            pendingChildren: [],
            parent: undefined,
          });
        },
        getWorkflowExecutionHistoryReverse: () =>
          Promise.resolve({
            history: {
              events: [
                {
                  eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
                  workflowTaskFailedEventAttributes: { failure: { message: "a bug" } },
                },
              ],
            },
          }),
      },
    });
  }

  beforeEach(() => {
    workflows = new Map([1, 2, 3, 4, 5].map((n) => [`cluster/${n}`, { upgradeId: `upgrade-${n}`, attempt: 0 }]));
    [reports, answers, queries, described] = [true, true, [], []];
    lines.splice(0);
    watch = new BlockedWatch(client(), log, timers, { pause: 1000, size: 2 });
  });
  afterEach(() => watch.close());

  const block = (n: number, attempt = 9) => {
    (workflows.get(`cluster/${n}`) as Workflow).attempt = attempt;
  };

  it("asks the server which Workflows fail, and looks at those alone", async () => {
    block(4);
    watch.start();
    await timers.pass(0);
    expect(watch.counts()).to.deep.equal({
      upgrade: 0,
      cluster: 1,
      netvirt: 0,
      mgmt: 0,
      notifications: 0,
      readiness: 0,
    });
    expect(described).to.deep.equal(["cluster/4"]);
    const [problem] = watch.problems();
    expect(problem).to.include({ errorCode: "WORKFLOW_BLOCKED" });
    expect(problem?.message).to.contain("1 Workflow is blocked, of upgrade upgrade-4.");
  });

  it("looks at all that run in turn, so many at a time, where the server does not know", async () => {
    reports = false;
    block(5);
    watch.start();
    await timers.pass(0);
    expect([described, watch.counts()?.cluster]).to.deep.equal([["cluster/1", "cluster/2"], 0]);
    await timers.pass(2000);
    expect(watch.counts()?.cluster).to.equal(1);
    expect(described).to.deep.equal([1, 2, 3, 4, 5].map((n) => `cluster/${n}`));
    described.splice(0);
    await timers.pass(1000);
    expect(described, "from the front, and what is known").to.have.members(["cluster/5", "cluster/1", "cluster/2"]);
  });

  it("says in the log when one becomes blocked and when it is no more, once each", async () => {
    block(1);
    watch.start();
    await timers.pass(5000);
    expect(lines.map(({ msg, taskId, level }) => [level, taskId, msg])).to.deep.equal([
      [50, "upgrade-1", "Workflow cluster/1 cannot continue: its Workflow Task has failed 8 times: a bug"],
    ]);
    block(1, 0);
    await timers.pass(1000);
    expect([watch.counts()?.cluster, watch.problems()]).to.deep.equal([0, []]);
    expect(lines.at(-1)).to.include({ msg: "Workflow is no longer blocked", taskId: "upgrade-1" });
  });

  it("forgets one that was terminated", async () => {
    block(1);
    watch.start();
    await timers.pass(0);
    workflows.delete("cluster/1");
    await timers.pass(1000);
    expect(watch.problems()).to.deep.equal([]);
  });

  it("has no numbers while Temporal does not answer, and again when it does", async () => {
    answers = false;
    watch.start();
    await timers.pass(0);
    expect(watch.counts()).to.equal(undefined);
    answers = true;
    await timers.pass(1000);
    expect(watch.counts()?.cluster).to.equal(0);
  });

  it("names the first ten upgrades, and counts all", async () => {
    workflows = new Map(
      Array.from({ length: 12 }, (_, n) => [`cluster/${n}`, { upgradeId: `upgrade-${n}`, attempt: 9 }]),
    );
    watch.start();
    await timers.pass(6000);
    const [problem] = watch.problems();
    expect(problem?.message).to.contain("12 Workflows are blocked").and.to.contain("upgrade-9 and 2 more");
    expect(problem?.context).to.include({ workflows: "12" });
  });

  it("looks no more when it is closed", async () => {
    watch.start();
    await timers.pass(0);
    watch.close();
    queries.splice(0);
    await timers.pass(10_000);
    expect(queries).to.deep.equal([]);
  });
});

interface ListRequest {
  readonly query: string;
  readonly pageSize: number;
  readonly nextPageToken?: Uint8Array;
}

function grpcError(code: number, details: string): Error {
  return Object.assign(new Error(details), { code, details, metadata: {} });
}
