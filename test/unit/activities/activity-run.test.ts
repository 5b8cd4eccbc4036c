import { mock } from "node:test";
import { DefaultLogger, type LogEntry } from "@temporalio/worker";
import { MockActivityEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import { hasLastedAnOutage, runActivity, untilHeartbeat } from "../../../activities/activity-run";

describe("signs of life of the Activities of a worker", () => {
  it("come every two seconds as long as there are few", () => {
    for (const activities of [1, 50, 200]) expect(untilHeartbeat(activities, 15_000), `${activities}`).to.equal(2000);
  });

  it("are a hundred a second for all of them together where there are more", () => {
    expect(untilHeartbeat(300, 60_000)).to.equal(3000);
    expect(untilHeartbeat(1000, 60_000)).to.equal(10_000);
  });

  it("come at least twice before the timeout, and every two seconds where it is short", () => {
    expect(untilHeartbeat(2000, 15_000)).to.equal(6000);
    expect(untilHeartbeat(2000, 5000)).to.equal(2000);
    expect(untilHeartbeat(2000, undefined)).to.equal(2000);
  });
});

describe("A heartbeat", () => {
  let now: number;
  let warnings: LogEntry[];

  beforeEach(() => {
    now = 0;
    warnings = [];
    mock.timers.enable({ apis: ["setTimeout"] });
    mock.method(performance, "now", () => now);
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  /** So many Activities at once, for one planned wait; the timers come so many milliseconds after their time. */
  async function beating(activities: number, heartbeatTimeoutMs: number, late: number): Promise<number> {
    const logger = new DefaultLogger("WARN", (entry) => warnings.push(entry));
    let beats = 0;
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const runs = Array.from({ length: activities }, () => {
      const environment = new MockActivityEnvironment({ heartbeatTimeoutMs }, { logger });
      environment.on("heartbeat", () => (beats += 1));
      return environment.run(() => runActivity({ context: {} }, () => ended));
    });
    // Each has planned its first one among those that had begun before it; the second is planned among all.
    const wait = untilHeartbeat(activities, heartbeatTimeoutMs);
    now += wait;
    mock.timers.tick(wait);
    warnings.length = 0;
    now += wait + late;
    mock.timers.tick(wait);
    end();
    await Promise.all(runs);
    return beats / activities;
  }

  it("is not given by what ends before the first is due", async () => {
    const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 15_000 });
    let beats = 0;
    environment.on("heartbeat", () => (beats += 1));
    await environment.run(() => runActivity({ context: {} }, () => Promise.resolve()));
    expect(beats).to.equal(0);
  });

  it("that comes in its time is no sign of too much to do, however many Activities share them", async () => {
    expect(await beating(1, 15_000, 0)).to.equal(2);
    expect(await beating(800, 60_000, 0)).to.be.at.least(2);
    expect(await beating(1, 15_000, 5_000)).to.equal(2);
    expect(warnings).to.deep.equal([]);
  });

  it("that comes more than half of the usual timeout after the one before is told", async () => {
    expect(await beating(1, 15_000, 6_000)).to.equal(2);
    expect(warnings.map(({ message, meta }) => ({ message, milliseconds: meta?.["milliseconds"] }))).to.deep.equal([
      { message: "Late heartbeat: this worker is overloaded", milliseconds: 8_000 },
    ]);
  });
});

describe("an outage", () => {
  afterEach(() => mock.restoreAll());

  it("has not lasted longer because the time of day was set meanwhile, in this run or between two", async () => {
    const outage = 3_600_000;
    const real = Date.now.bind(Date);
    const scheduledTimestampMs = real() - 8_000;
    const run = (activityId: string, during: () => void) =>
      new MockActivityEnvironment({ activityId, scheduledTimestampMs }, { logger: new DefaultLogger("ERROR") }).run(
        () =>
          runActivity({ context: {} }, () => {
            during();
            throw new Error(hasLastedAnOutage({ outage }) ? "over" : "not yet");
          }).catch((error: unknown) => (error as Error).message),
      );
    const setTime = () => void mock.method(Date, "now", () => real() + 5 * outage);
    expect(await run("seen before", setTime)).to.equal("Error: not yet");
    expect(await run("seen before", () => undefined)).to.equal("Error: not yet");
    // What another process has tried is as old as the time of day says.
    expect(await run("seen first now", () => undefined)).to.equal("Error: over");
  });
});
