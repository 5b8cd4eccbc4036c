import type { Client } from "@temporalio/client";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { expect } from "chai";
import { LockHolders, readHolder } from "../../../src/temporal/lock-holder";
import type { VisibilityReader } from "../../../src/temporal/visibility";
import { fakeClient } from "../../support/fake-client";

const { WORKFLOW_EXECUTION_STATUS_COMPLETED: completed, WORKFLOW_EXECUTION_STATUS_RUNNING: running } =
  temporal.api.enums.v1.WorkflowExecutionStatus;

describe("LockHolders", () => {
  const lock = "cluster/34";
  /** Each answers one look with what there was when it began. */
  let answers: (() => void)[];
  let isHeld: boolean;

  const names = { upgradeName: "Upgrade prod to 9.0.2", resourceName: "prod" };
  const stored = (value: string) => defaultPayloadConverter.toPayload(value);
  const readable = {
    upgradeId: stored("one"),
    upgradeName: stored(names.upgradeName),
    resourceName: stored(names.resourceName),
  };

  function client(fields: Record<string, Payload> = readable, parent?: { workflowId: string }): Client {
    return fakeClient({
      workflowService: {
        describeWorkflowExecution: () => {
          const status = isHeld ? running : completed;
          const info = { status, memo: { fields }, ...(parent && { parentExecution: parent }) };
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
    expect([...(await before)], "with the names of its memo").to.deep.equal([[lock, { upgradeId: "one", ...names }]]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers, "one for both").to.have.length(2);
    answers[1]?.();
    expect((await Promise.all(after)).map(({ size }) => size)).to.deep.equal([0, 0]);
  });

  it("names the holder whose payloads nobody here can read", async () => {
    const unreadable = { metadata: { encoding: Buffer.from("binary/encrypted") }, data: Buffer.from("?") };
    const fields = { upgradeId: unreadable, upgradeName: unreadable, resourceName: unreadable };
    const [memo, parentExecution] = [{ fields }, { workflowId: "one" }];
    const locks = Array.from({ length: 17 }, (_, n) => `cluster/${n}`);
    const listed = locks.map((workflowId) => ({ execution: { workflowId }, memo, parentExecution }));
    const visibility = { read: () => Promise.resolve(listed) } as unknown as VisibilityReader;
    const holders = new LockHolders(client(fields, parentExecution), visibility, 1000);
    const few = holders.of([lock]);
    answers[0]?.();
    expect([...(await few)]).to.deep.equal([[lock, { upgradeId: "one" }]]);
    expect([...(await holders.of(locks))]).to.deep.equal(locks.map((one) => [one, { upgradeId: "one" }]));
  });
});

describe("The holder of a lock", () => {
  const lock = "cluster/34";
  /** Each look gives the next status of its Workflow, or the last one. */
  const holderIn = (statuses: { readonly lock: number[]; readonly upgrade: number[] }) => {
    const fields = {
      upgradeId: defaultPayloadConverter.toPayload("one"),
      locks: defaultPayloadConverter.toPayload("CHECKING"),
    };
    const workflowService = {
      describeWorkflowExecution: ({ execution }: { execution: { workflowId: string } }) => {
        const left = execution.workflowId === lock ? statuses.lock : statuses.upgrade;
        const [status] = left.length > 1 ? left.splice(0, 1) : left;
        const info = { status, memo: { fields } };
        return Promise.resolve({ workflowExecutionInfo: info, pendingActivities: [], pendingChildren: [] });
      },
    };
    return readHolder(fakeClient({ workflowService }), lock);
  };

  it("is an upgrade that runs, and how far it is", async () => {
    const holder = await holderIn({ lock: [running], upgrade: [running] });
    expect(holder).to.deep.equal({ upgradeId: "one", state: "CHECKING" });
  });

  it("is nobody where the upgrade has released it and ended since the lock was looked at", async () => {
    expect(await holderIn({ lock: [running, completed], upgrade: [completed] })).to.deep.equal({});
  });

  it("is an upgrade that has ended and left its Workflow running", async () => {
    const holder = await holderIn({ lock: [running], upgrade: [completed] });
    expect(holder).to.deep.equal({ upgradeId: "one", state: "HELD" });
  });
});
