import { ActivityCancellationDetails, type ApplicationFailure, CancelledFailure } from "@temporalio/common";
import { ActivityCompletionError, ActivityNotFoundError, ActivityResetError } from "@temporalio/client";
import type { Client } from "@temporalio/client";
import { expect } from "chai";
import { ActivityLease, answeredHeartbeat, type HeartbeatAnswer } from "../../../activities/activity-lease";
import { activityRetryPolicy, runActivity } from "../../../activities/activity-run";
import { monotonicClock } from "../../../src/clock";
import { type Lease, LeaseEndedError, requireLease, NoLeaseError } from "../../../activities/drivers/lease";
import { activityEnvironment } from "../../support/activity-environment";
import { ManualClock } from "../../support/manual-clock";
import { rejectionOf } from "../../support/rejection-of";

const heartbeatTimeout = 15_000;

describe("the lease of an Activity", () => {
  let clock: ManualClock;
  let answers: (() => HeartbeatAnswer)[];
  let asked: number;
  let interruption: Error | undefined;

  beforeEach(() => {
    [clock, answers, asked, interruption] = [new ManualClock(), [], 0, undefined];
  });

  const lease = () =>
    new ActivityLease({
      heartbeatTimeout,
      clock,
      interruption: () => interruption,
      heartbeat: () => Promise.resolve((asked++, answers.shift() ?? (() => "ours" as const))()),
    });

  it("is not valid before a heartbeat was answered", async () => {
    const one = lease();
    expect(one.isValid()).to.equal(false);
    await one.renew();
    expect([one.isValid(), asked]).to.deep.equal([true, 1]);
  });

  it("ends well before Temporal may give the Activity to another worker", async () => {
    const one = lease();
    await one.renew();
    clock.pass(heartbeatTimeout * 0.79);
    expect(one.isValid()).to.equal(true);
    clock.pass(heartbeatTimeout * 0.02);
    expect(one.isValid()).to.equal(false);
  });

  it("counts from when the heartbeat was sent, not from when its answer came", async () => {
    answers = [() => (clock.pass(heartbeatTimeout * 0.7), "ours")];
    const one = lease();
    await one.renew();
    clock.pass(heartbeatTimeout * 0.2);
    expect(one.isValid()).to.equal(false);
  });

  it("asks again where the answer came too late to be worth anything", async () => {
    answers = [() => (clock.pass(60_000), "ours")];
    const one = lease();
    await one.renew();
    expect([one.isValid(), asked]).to.deep.equal([true, 2]);
  });

  it("is renewed from a third of the heartbeat timeout on, and not for each change", async () => {
    const one = lease();
    for (let change = 0; change < 10; change++) await one.renew();
    clock.pass(heartbeatTimeout / 3 - 1);
    await one.renew();
    expect(asked).to.equal(1);
    clock.pass(1);
    await Promise.all([one.renew(), one.renew()]);
    expect(asked).to.equal(2);
  });

  it("waits as long as Temporal does not answer", async () => {
    answers = [() => "unknown", () => "unknown"];
    const one = lease();
    await one.renew();
    expect([asked, clock.sleeps.length]).to.deep.equal([3, 2]);
  });

  it("has ended for good where Temporal has given the Activity up", async () => {
    const one = lease();
    await one.renew();
    clock.pass(60_000);
    answers = [() => "gone"];
    expect(await rejectionOf(one.renew())).to.be.instanceOf(LeaseEndedError);
    expect(await rejectionOf(one.renew())).to.be.instanceOf(LeaseEndedError);
    expect([one.isValid(), asked]).to.deep.equal([false, 2]);
  });

  it("is waited for no longer than the Activity may run", async () => {
    answers = [() => ((interruption = new CancelledFailure("TIMED_OUT")), "unknown")];
    expect(await rejectionOf(lease().renew())).to.equal(interruption);
  });

  describe("after a change without an answer", () => {
    it("may be overtaken for as long as that may arrive", async () => {
      const one = lease();
      one.lost(30_000, clock);
      one.lost(1_000, clock);
      expect(one.mayStillArrive).to.equal(true);
      const before = clock.now();
      await one.untilNothingArrives();
      expect([one.mayStillArrive, clock.now() - before]).to.deep.equal([false, 30_000]);
    });

    it("waits for nothing once that is over", async () => {
      const one = lease();
      one.lost(30_000, clock);
      clock.pass(30_000);
      expect(one.mayStillArrive).to.equal(false);
      await one.untilNothingArrives();
      expect(clock.sleeps).to.deep.equal([]);
    });

    it("does not keep a worker that is stopped", async () => {
      const one = lease();
      one.lost(30_000, clock);
      interruption = new CancelledFailure("WORKER_SHUTDOWN");
      await one.untilNothingArrives();
      expect(clock.sleeps).to.deep.equal([]);
    });
  });

  it("ends with the Activity", async () => {
    const one = lease();
    await one.renew();
    one.end();
    expect(one.isValid()).to.equal(false);
    expect(await rejectionOf(one.renew())).to.be.instanceOf(LeaseEndedError);
  });

  describe("runActivity", () => {
    it("gives it to what it runs, and ends it for what has been left behind", async () => {
      const held: Lease = await activityEnvironment({}).run(() =>
        runActivity({ context: {} }, async () => {
          const mine = requireLease("change something");
          await mine.renew();
          expect(mine.isValid()).to.equal(true);
          return mine;
        }),
      );
      expect(held.isValid()).to.equal(false);
      expect(() => requireLease("change something")).to.throw(NoLeaseError, "change something");
    });

    for (const ending of ["a result", "a failure"])
      it(`ends with ${ending} only when nothing that it has asked for can arrive any more`, async () => {
        const clock = new ManualClock();
        const began = clock.now();
        const run = activityEnvironment({}, { logger: silent }).run(() =>
          runActivity({ context: {} }, () => {
            requireLease("change something").lost(30_000, clock);
            return ending === "a failure" ? Promise.reject(new Error("failed")) : Promise.resolve("done");
          }),
        );
        await Promise.allSettled([run]);
        expect(clock.now() - began).to.equal(30_000);
      });

    it("ends a cancelled one only when a change that is under way has been answered, and lets it send no other", async () => {
      let answer: () => void = () => undefined;
      let held: Lease | undefined;
      const environment = activityEnvironment({}, { logger: silent });
      const run = environment.run(() =>
        runActivity({ context: {} }, async () => {
          held = requireLease("change something");
          await held.renew();
          held.follow(new Promise<void>((resolve) => (answer = resolve)));
          environment.cancel("CANCELLED", new ActivityCancellationDetails({ cancelRequested: true }));
          throw new CancelledFailure("CANCELLED");
        }),
      );
      let hasEnded = false;
      const ended = rejectionOf(run.finally(() => (hasEnded = true)));
      await new Promise((resolve) => setImmediate(resolve));
      expect([hasEnded, held?.isValid()]).to.deep.equal([false, false]);
      answer();
      expect(await ended).to.be.instanceOf(CancelledFailure);
    });

    it("hands over, where its worker is stopped, what may still take effect, and says so", async () => {
      const environment = activityEnvironment({}, { logger: silent });
      const run = environment.run(() =>
        runActivity({ context: {} }, () => {
          requireLease("change something").lost(30_000, monotonicClock);
          environment.cancel("WORKER_SHUTDOWN", new ActivityCancellationDetails({ workerShutdown: true }));
          return Promise.resolve("done");
        }),
      );
      const failure = await rejectionOf(run);
      expect(failure).to.include({ type: "WORKER_SHUTDOWN", nonRetryable: true });
      expect((failure as ApplicationFailure).details?.[0]).to.include({ mayStillArrive: true });
    });

    it("hands over what Temporal has given up, and uses up no attempt", async () => {
      const gone = clientThat(() => Promise.reject(new ActivityNotFoundError("gone")));
      const run = activityEnvironment({}, { client: gone, logger: silent }).run(() =>
        runActivity({ context: { host: "esx-01" } }, () => requireLease("change something").renew()),
      );
      expect(await rejectionOf(run)).to.include({ type: "WORKER_SHUTDOWN", nonRetryable: true });
    });

    it("hands over what an operator has reset", async () => {
      const environment = activityEnvironment({}, { logger: silent });
      const run = environment.run(() =>
        runActivity({ context: { host: "esx-01" } }, () =>
          activityRetryPolicy({
            outage: 60_000,
            operationBusy: 60_000,
            poll: { min: 60_000, max: 60_000 },
            clock: monotonicClock,
          }).pause(0),
        ),
      );
      environment.cancel("RESET", new ActivityCancellationDetails({ reset: true }));
      expect(await rejectionOf(run)).to.include({ type: "WORKER_SHUTDOWN", nonRetryable: true });
    });

    it("gives none to an Activity without heartbeats", async () => {
      const run = activityEnvironment({ heartbeatTimeoutMs: 0 }, { logger: silent }).run(() =>
        runActivity({ context: {} }, () => requireLease("change something").renew()),
      );
      expect(await rejectionOf(run))
        .to.have.property("message")
        .that.includes("Only an Activity with heartbeats");
    });
  });

  describe("answeredHeartbeat", () => {
    const answerTo = (heartbeat: () => Promise<void>) =>
      activityEnvironment({}, { client: clientThat(heartbeat), logger: silent }).run(() =>
        answeredHeartbeat(undefined),
      );

    it("tells what Temporal answers", async () => {
      expect(await answerTo(() => Promise.resolve())).to.equal("ours");
      expect(await answerTo(() => Promise.reject(new ActivityResetError("reset")))).to.equal("ours");
      expect(await answerTo(() => Promise.reject(new ActivityNotFoundError("gone")))).to.equal("gone");
      expect(await answerTo(() => Promise.reject(new ActivityCompletionError("away")))).to.equal("unknown");
    });

    it("throws what is no answer at all", async () => {
      const mistake = new Error("no client");
      expect(await rejectionOf(answerTo(() => Promise.reject(mistake)))).to.equal(mistake);
    });
  });
});

const silent = { log: () => {}, trace: () => {}, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function clientThat(heartbeat: () => Promise<void>): Client {
  return {
    withAbortSignal: <A>(_signal: AbortSignal, call: () => Promise<A>) => call(),
    withDeadline: <A>(_deadline: number, call: () => Promise<A>) => call(),
    activity: { heartbeat },
  } as unknown as Client;
}
