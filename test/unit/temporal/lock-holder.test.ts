import type { Client } from "@temporalio/client";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { expect } from "chai";
import { LockHolders } from "../../../src/temporal/lock-holder";
import type { VisibilityReader } from "../../../src/temporal/visibility";
import { fakeClient } from "../../support/fake-client";

const { WORKFLOW_EXECUTION_STATUS_COMPLETED, WORKFLOW_EXECUTION_STATUS_RUNNING } =
  temporal.api.enums.v1.WorkflowExecutionStatus;

describe("LockHolders", () => {
  const lock = "cluster/34";
  /** Each answers one look with what there was when it began. */
  let answers: (() => void)[];
  let isHeld: boolean;

  function client(
    upgradeId: Payload = defaultPayloadConverter.toPayload("one"),
    parent?: { workflowId: string },
  ): Client {
    return fakeClient({
      workflowService: {
        describeWorkflowExecution: () => {
          const status = isHeld ? WORKFLOW_EXECUTION_STATUS_RUNNING : WORKFLOW_EXECUTION_STATUS_COMPLETED;
          const info = { status, memo: { fields: { upgradeId } }, ...(parent && { parentExecution: parent }) };
          const described = { workflowExecutionInfo: info, pendingActivities: [], pendingChildren: [] };
          return new Promise((resolve) => answers.push(() => resolve(described)));
        },
      },
    });
  }

  beforeEach(() => {
    answers = [];
    isHeld = true;
  });

  it("says of nobody who asks after a lock was given back that somebody holds it", async () => {
    const holders = new LockHolders(client(), {} as VisibilityReader, 1000);
    const before = holders.of([lock]);
    isHeld = false;
    const after = [holders.of([lock]), holders.of([lock])];
    expect(answers, "one look at a time").to.have.length(1);
    answers[0]?.();
    expect([...(await before)]).to.deep.equal([[lock, "one"]]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers, "one for both").to.have.length(2);
    answers[1]?.();
    expect((await Promise.all(after)).map(({ size }) => size)).to.deep.equal([0, 0]);
  });

  it("names the holder whose payloads nobody here can read", async () => {
    const unreadable = { metadata: { encoding: Buffer.from("binary/encrypted") }, data: Buffer.from("?") };
    const [memo, parentExecution] = [{ fields: { upgradeId: unreadable } }, { workflowId: "one" }];
    const locks = Array.from({ length: 17 }, (_, n) => `cluster/${n}`);
    const listed = locks.map((workflowId) => ({ execution: { workflowId }, memo, parentExecution }));
    const visibility = { read: () => Promise.resolve(listed) } as unknown as VisibilityReader;
    const holders = new LockHolders(client(unreadable, parentExecution), visibility, 1000);
    const few = holders.of([lock]);
    answers[0]?.();
    expect([...(await few)]).to.deep.equal([[lock, "one"]]);
    expect([...(await holders.of(locks))]).to.deep.equal(locks.map((one) => [one, "one"]));
  });
});
