import { expect } from "chai";
import { DriverError } from "../../../activities/drivers/driver-error";
import { createRetryPolicy, GiveUpError, type RetryBounds } from "../../../activities/retry-policy";
import { monotonicClock } from "../../../src/clock";
import { ManualClock } from "../../support/manual-clock";

const bounds: RetryBounds = {
  outage: 5_000,
  operationBusy: 5_000,
  poll: { min: 1, max: 2 },
  clock: monotonicClock,
};
const error = (kind: "transient" | "permanent", code = "COMPONENT_MANAGER_UNREACHABLE") =>
  new DriverError({ kind, code, message: "vc-01 does not answer.", remediation: "Look." });

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("should have thrown"),
    (thrown: unknown) => thrown,
  );
}

describe("the retry policy", () => {
  it("repeats a request until it is answered, and tells what is waited for", async () => {
    const told: string[] = [];
    const retryPolicy = createRetryPolicy(bounds, {
      stage: "IN_WORK",
      interruption: () => undefined,
      onTrouble: ({ code }) => told.push(code),
    });
    let calls = 0;
    const answer = await retryPolicy.retry(() =>
      ++calls < 4 ? Promise.reject(error("transient")) : Promise.resolve("yes"),
    );
    expect([answer, calls, told.length]).to.deep.equal(["yes", 4, 3]);
  });

  it("throws a permanent error at once", async () => {
    let calls = 0;
    const retryPolicy = createRetryPolicy(bounds, { stage: "IN_WORK", interruption: () => undefined });
    const thrown = await rejection(
      retryPolicy.retry(() => {
        calls++;
        return Promise.reject(error("permanent", "AUTHENTICATION"));
      }),
    );
    expect([(thrown as DriverError).code, calls]).to.deep.equal(["AUTHENTICATION", 1]);
  });

  describe("on a clock of its own", () => {
    const minute = 60_000;
    const hours = { outage: 60 * minute, operationBusy: 30 * minute, poll: { min: 250, max: 5_000 } };
    let clock: ManualClock;
    beforeEach(() => (clock = new ManualClock()));

    const retries = () => createRetryPolicy({ ...hours, clock }, { stage: "IN_WORK", interruption: () => undefined });
    const givesUp = async (code: string) => {
      const began = clock.now();
      const thrown = await rejection(retries().retry(() => Promise.reject(error("transient", code))));
      return { thrown, minutes: Math.round((clock.now() - began) / minute) };
    };

    it("gives up at the bound of the trouble that there is", async () => {
      const outage = await givesUp("COMPONENT_MANAGER_UNREACHABLE");
      expect(outage.thrown).to.be.instanceOf(GiveUpError);
      expect(outage.thrown).to.include({ code: "COMPONENT_MANAGER_UNREACHABLE", kind: "transient" });
      expect(outage.thrown).to.have.property("message", "vc-01 does not answer. Waited for 60 minutes.");
      expect(outage.minutes).to.equal(60);
      expect((await givesUp("CLUSTER_BUSY")).minutes).to.equal(30);
    });

    it("counts each kind of trouble for itself, from when it began", async () => {
      let calls = 0;
      const busyThenAway = () => {
        clock.pass(20 * minute);
        return Promise.reject(error("transient", ++calls < 2 ? "CLUSTER_BUSY" : "COMPONENT_MANAGER_UNREACHABLE"));
      };
      const thrown = await rejection(retries().retry(busyThenAway));
      expect(thrown).to.include({ code: "COMPONENT_MANAGER_UNREACHABLE" });
      expect(calls).to.equal(5);
    });

    it("waits longer from look to look, up to the longest pause", async () => {
      await givesUp("CLUSTER_BUSY");
      expect(clock.sleeps.slice(0, 3)).to.deep.equal([250, 375, 562.5]);
      expect(Math.max(...clock.sleeps)).to.equal(5_000);
    });
  });

  it("is interrupted in the middle of a wait, without an answer", async () => {
    const stop = new AbortController();
    const interrupted = new Error("stop");
    const retryPolicy = createRetryPolicy(
      { ...bounds, poll: { min: 60_000, max: 60_000 } },
      { stage: "IN_WORK", signal: stop.signal, interruption: () => (stop.signal.aborted ? interrupted : undefined) },
    );
    const waits = [retryPolicy.pause(0), retryPolicy.retry(() => new Promise(() => undefined))].map(rejection);
    stop.abort();
    expect(await Promise.all(waits)).to.deep.equal([interrupted, interrupted]);
  });
});
