import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { bundleWorkflowCode, DefaultLogger, Worker } from "@temporalio/worker";
import { temporal } from "@temporalio/proto";
import { expect } from "chai";
import { untilEnd } from "../../../workflows/end-guard";
import { eventually } from "../../support/eventually";
import { failedTasks, requestsOfLastTask } from "../../support/sound-histories";
import { useBench } from "../../support/upgrade-bench";
import type { asksAfterItsEnd } from "./asks-after-its-end";

const { EventType } = temporal.api.enums.v1;

describe("A Workflow that asks for something after its end", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** Runs it on a worker with these interceptors until it has ended, or a Workflow Task of it has failed. */
  async function run(interceptors: readonly string[]) {
    const { env } = bench();
    const taskQueue = randomUUID();
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue,
      workflowBundle: await bundleWorkflowCode({
        workflowsPath: resolve(__dirname, "asks-after-its-end.ts"),
        workflowInterceptorModules: [...interceptors],
        logger: new DefaultLogger("WARN"),
      }),
    });
    return worker.runUntil(async () => {
      const handle = await env.client.workflow.start<typeof asksAfterItsEnd>("asksAfterItsEnd", {
        taskQueue,
        workflowId: taskQueue,
      });
      const history = await eventually(
        () => handle.fetchHistory(),
        ({ events }) =>
          (events ?? []).some(({ eventType }) =>
            [EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED].includes(
              eventType ?? 0,
            ),
          ),
      );
      const { status } = await handle.describe();
      if (status.name === "RUNNING") await handle.terminate("end of the test");
      return { status: status.name, history };
    });
  }

  it("ends, and nothing of that is in its history", async () => {
    const { status, history } = await run([resolve(__dirname, "../../../workflows/end-guard.ts")]);
    expect([status, failedTasks(history), requestsOfLastTask(history)]).to.deep.equal(["COMPLETED", [], []]);
  });

  it("has it in the Workflow Task of its end without the guard", async () => {
    const { history } = await run([]);
    expect(requestsOfLastTask(history)).to.deep.equal(["EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED"]);
  });
});

describe("The commands of a Workflow", () => {
  const [memo, end, signal, answer] = [
    { modifyWorkflowProperties: {} },
    { completeWorkflowExecution: {} },
    { signalExternalWorkflowExecution: {} },
    { respondToQuery: {} },
  ];

  it("are in time up to its end, and answers to Queries always", () => {
    expect(untilEnd([memo, signal], false)).to.deep.equal({ kept: [memo, signal], late: [] });
    expect(untilEnd([memo, end, signal, answer], false)).to.deep.equal({ kept: [memo, end, answer], late: [signal] });
    for (const kind of ["failWorkflowExecution", "cancelWorkflowExecution", "continueAsNewWorkflowExecution"])
      expect(untilEnd([{ [kind]: {} }, signal], false).late).to.deep.equal([signal]);
  });

  it("are all too late in the activations after that", () => {
    expect(untilEnd([memo, signal, answer], true)).to.deep.equal({ kept: [answer], late: [memo, signal] });
  });
});
