import type { Client } from "@temporalio/client";
import { expect } from "chai";
import { TakeUp } from "../../../src/temporal/take-up";
import { ManualTimers, settled } from "../../support/manual-timers";

describe("the wait until a worker has come to an upgrade", () => {
  /** Queries in the order in which they were asked, each with the way to end it. */
  let asked: { readonly id: string; readonly answer: () => void; readonly fail: () => void }[];
  const client = (): Client => {
    asked = [];
    const part: Pick<Client, "withDeadline"> & { workflow: { getHandle(id: string): unknown } } = {
      withDeadline: (_deadline, call) => call(),
      workflow: {
        getHandle: (id) => ({
          query: () =>
            new Promise<void>((resolve, reject) =>
              asked.push({ id, answer: resolve, fail: () => reject(new Error("no worker")) }),
            ),
        }),
      },
    };
    return Object.assign(Object.create(null) as Client, part);
  };

  const told: string[] = [];
  let timers: ManualTimers;
  let takeUp: TakeUp;
  const start = (...ids: string[]) => {
    for (const id of ids) void takeUp.of(id).then(() => told.push(id));
  };
  const idsAsked = () => asked.map(({ id }) => id);

  beforeEach(() => {
    told.splice(0);
    timers = new ManualTimers();
    takeUp = new TakeUp(client(), timers, 60_000);
  });

  it("asks the newest for all that were started before it, one at a time", async () => {
    start("a", "b", "c");
    await settled();
    expect(idsAsked()).to.deep.equal(["a"]);
    asked[0]?.answer();
    await settled();
    expect(told).to.deep.equal(["a"]);
    expect(idsAsked()).to.deep.equal(["a", "c"]);
    asked[1]?.answer();
    await settled();
    expect(told).to.deep.equal(["a", "b", "c"]);
    start("d");
    await settled();
    expect(idsAsked()).to.deep.equal(["a", "c", "d"]);
  });

  it("is over where it cannot be asked", async () => {
    start("a", "b");
    await settled();
    asked[0]?.fail();
    await settled();
    asked[1]?.fail();
    await settled();
    expect(told).to.deep.equal(["a", "b"]);
  });

  it("is over after a time, also for those whose turn to be asked has not come", async () => {
    start("a", "b");
    await timers.pass(60_000);
    expect(told).to.deep.equal(["a", "b"]);
    expect(asked).to.have.length(1);
  });
});
