import { defaultPayloadConverter } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { expect } from "chai";
import { BlockFinder } from "../../../src/temporal/blocked-workflows";
import type { WorkflowDescription } from "../../../src/temporal/describe-workflow";
import { fakeClient } from "../../support/fake-client";

const { EventType, TimeoutType, WorkflowTaskFailedCause } = temporal.api.enums.v1;
type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

const at = (second: number) => ({ eventTime: { seconds: second as never, nanos: 0 } });
const completed = (second: number): HistoryEvent => ({
  ...at(second),
  eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
});
const signalled = (second: number): HistoryEvent => ({
  ...at(second),
  eventType: EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
});
const failed = (
  second: number,
  message = "a bug",
  cause = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
): HistoryEvent => ({
  ...at(second),
  eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
  workflowTaskFailedEventAttributes: { cause, failure: { message } },
});
const timedOut = (second: number, timeoutType: temporal.api.enums.v1.TimeoutType): HistoryEvent => ({
  ...at(second),
  eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT,
  workflowTaskTimedOutEventAttributes: { timeoutType },
});

describe("the finder of blocked Workflows", () => {
  let history: HistoryEvent[];
  let reads: number;
  let answers: boolean;
  let finder: BlockFinder;
  beforeEach(() => {
    [history, reads, answers] = [[completed(1)], 0, true];
    const client = fakeClient({
      workflowService: {
        getWorkflowExecutionHistoryReverse: () => {
          reads += 1;
          if (!answers) return Promise.reject(new Error("out of reach"));
          return Promise.resolve({ history: { events: [...history].reverse() } });
        },
      },
    });
    finder = new BlockFinder(client, 1000);
  });

  const find = (workflowTaskAttempt: number, change: Partial<WorkflowDescription> = {}) =>
    finder.find("cluster/c", {
      ...{ type: "clusterUpgradeWorkflow", status: "RUNNING", runId: "run", version: "run/9", closeTime: undefined },
      ...{ cancelRequested: false, parent: undefined, pendingChildren: [], pendingActivities: [], workflowTaskAttempt },
      history: { events: 9, bytes: 900 },
      memo: { fields: { upgradeId: defaultPayloadConverter.toPayload("u") } },
      ...change,
    });

  it("reads no history of a Workflow whose tries have not failed", async () => {
    expect([await find(0), await find(1)]).to.deep.equal([undefined, undefined]);
    expect(reads).to.equal(0);
  });

  it("finds one after three failed tries, of which the server records only the first", async () => {
    history.push(failed(2, "[TMPRL1100] Nondeterminism\n  error"));
    expect(await find(2), "one has failed").to.equal(undefined);
    expect(await find(3), "two have failed").to.equal(undefined);
    expect(await find(4)).to.deep.equal({
      ...{ workflowId: "cluster/c", runId: "run", kind: "cluster", upgradeId: "u", failures: 3, timedOut: false },
      ...{ since: "1970-01-01T00:00:02.000Z", reason: "[TMPRL1100] Nondeterminism error" },
    });
  });

  it("counts on where the server counts anew, because Signals have come", async () => {
    history.push(failed(2), signalled(3), failed(4), signalled(5), failed(6));
    expect(await find(2)).to.include({ failures: 3, since: "1970-01-01T00:00:02.000Z" });
    history.push(signalled(7));
    expect(await find(1), "between two tries").to.include({ failures: 3 });
  });

  it("keeps the beginning when it is further back than is read, and forgets it when the Workflow continues", async () => {
    history.push(failed(2));
    await find(5);
    history = [failed(60)];
    expect(await find(5)).to.include({ since: "1970-01-01T00:00:02.000Z" });
    history.push(completed(61));
    expect(await find(0)).to.equal(undefined);
    history.push(failed(70));
    expect(await find(4)).to.include({ since: "1970-01-01T00:01:10.000Z" });
  });

  it("counts what no worker completed in time, and no worker that has gone", async () => {
    const [late, gone] = [TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE, TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START];
    history.push(timedOut(2, gone), timedOut(3, gone), timedOut(4, gone));
    expect(await find(2)).to.equal(undefined);
    history.push(timedOut(5, late));
    expect(await find(4)).to.include({ failures: 3, timedOut: true, reason: "no worker completed it in time" });
  });

  it("counts neither a Signal that came at the end nor a reset", async () => {
    const causes = WorkflowTaskFailedCause;
    history.push(failed(2, "", causes.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW));
    for (const second of [3, 4, 5])
      history.push(failed(second, "", causes.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND));
    expect(await find(2)).to.equal(undefined);
  });

  it("names the cause where there is no message, and reads a message that is a payload", async () => {
    history.push(failed(2, ""));
    expect(await find(4)).to.include({ reason: "NON_DETERMINISTIC_ERROR" });
    const encodedAttributes = defaultPayloadConverter.toPayload({ message: "a secret bug" });
    const [, last] = history;
    Object.assign(last?.workflowTaskFailedEventAttributes?.failure ?? {}, {
      message: "Encoded failure",
      encodedAttributes,
    });
    expect(await find(4)).to.include({ reason: "a secret bug" });
  });

  it("tells nothing of what has ended, is no Workflow of an upgrade, or cannot be read", async () => {
    history.push(failed(2));
    expect(await find(4, { status: "TERMINATED" })).to.equal(undefined);
    expect(await find(4, { type: "somebodysWorkflow" })).to.equal(undefined);
    answers = false;
    expect(await find(4)).to.equal(undefined);
  });
});
