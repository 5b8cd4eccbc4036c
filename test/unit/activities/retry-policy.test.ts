import { expect } from "chai";
import { DriverError } from "../../../activities/drivers/driver-error";
import { createPatience, type PatienceBounds } from "../../../activities/patience";

const bounds: PatienceBounds = { outage: 5_000, operationBusy: 5_000, poll: { min: 1, max: 2 } };
const error = (kind: "transient" | "permanent", code = "COMPONENT_MANAGER_UNREACHABLE") =>
  new DriverError({ kind, code, message: "vc-01 does not answer.", remediation: "Look." });

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("should have thrown"),
    (thrown: unknown) => thrown,
  );
}

describe("patience", () => {
  it("repeats a request until it is answered, and tells what is waited for", async () => {
    const told: string[] = [];
    const patience = createPatience(bounds, {
      interruption: () => undefined,
      onTrouble: ({ code }) => told.push(code),
    });
    let calls = 0;
    const answer = await patience.persist(() =>
      ++calls < 4 ? Promise.reject(error("transient")) : Promise.resolve("yes"),
    );
    expect([answer, calls, told.length]).to.deep.equal(["yes", 4, 3]);
  });

  it("throws a permanent error at once", async () => {
    let calls = 0;
    const patience = createPatience(bounds, { interruption: () => undefined });
    const thrown = await rejection(
      patience.persist(() => {
        calls++;
        return Promise.reject(error("permanent", "AUTHENTICATION"));
      }),
    );
    expect([(thrown as DriverError).code, calls]).to.deep.equal(["AUTHENTICATION", 1]);
  });

  it("ends at the bound of the trouble that there is", async () => {
    const impatient = (part: Partial<PatienceBounds>, code: string) =>
      rejection(
        createPatience({ ...bounds, ...part }, { interruption: () => undefined }).persist(() =>
          Promise.reject(error("transient", code)),
        ),
      );
    const outage = (await impatient({ outage: 10 }, "COMPONENT_MANAGER_UNREACHABLE")) as DriverError;
    expect(outage).to.include({ code: "COMPONENT_MANAGER_UNREACHABLE", kind: "transient" });
    expect(outage.message).to.match(/Waited for/);
    expect(await impatient({ operationBusy: 10 }, "CLUSTER_BUSY")).to.include({ code: "CLUSTER_BUSY" });
  });

  it("is interrupted in the middle of a wait, without an answer", async () => {
    const stop = new AbortController();
    const interrupted = new Error("stop");
    const patience = createPatience(
      { ...bounds, poll: { min: 60_000, max: 60_000 } },
      { signal: stop.signal, interruption: () => (stop.signal.aborted ? interrupted : undefined) },
    );
    const waits = [patience.pause(0), patience.persist(() => new Promise(() => undefined))].map(rejection);
    stop.abort();
    expect(await Promise.all(waits)).to.deep.equal([interrupted, interrupted]);
  });

  for (const awaitsChange of [true, false])
    it(`${awaitsChange ? "lets a change come to its answer" : "does not wait for a change"} where the interruption says so`, async () => {
      const stop = new AbortController();
      const interrupted = new Error("stop");
      const patience = createPatience(bounds, {
        signal: stop.signal,
        interruption: () => (stop.signal.aborted ? interrupted : undefined),
        awaitsChange: () => awaitsChange,
      });
      let answer: (error: Error) => void = () => undefined;
      const order: string[] = [];
      const change = patience.change(() => new Promise((_, reject) => (answer = reject)));
      const ended = rejection(change).then((thrown) => (order.push("ended"), thrown));
      stop.abort();
      // Whoever does not wait has thrown by the next turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      order.push("answered");
      answer(error("transient"));
      expect(await ended).to.equal(interrupted);
      expect(order).to.deep.equal(awaitsChange ? ["answered", "ended"] : ["ended", "answered"]);
    });
});
