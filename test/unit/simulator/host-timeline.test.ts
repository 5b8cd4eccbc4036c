import { expect } from "chai";
import * as fc from "fast-check";
import { planHost, progressAt, type HostStart } from "../../../src/simulator/timeline/host-timeline";

const start: HostStart = { host: "host-11", name: "esx-01", start: 1_000_000, duration: 100_000 };
const secondsOf = (at: number) => (at - start.start) / 1000;

describe("the timeline of a host", () => {
  it("goes from entering maintenance mode over the reboot to leaving it, in exactly the host's time", () => {
    const events = planHost(start).events.map(({ at, kind }) => [secondsOf(at), kind]);
    expect(events).to.deep.equal([
      [25, "MAINTENANCE_ENTERED"],
      [55, "REMEDIATED"],
      [60, "HOST_DOWN"],
      [90, "HOST_UP"],
      [100, "MAINTENANCE_EXITED"],
    ]);
  });

  it("has all of it at once where a host takes no time", () => {
    const events = planHost({ ...start, duration: 0 }).events;
    expect(events.map(({ at }) => at)).to.deep.equal(Array(5).fill(start.start));
  });

  it("shows a progress that never goes back and ends at 100", () => {
    const { marks } = planHost(start);
    const moments = fc.integer({ min: 0, max: 120_000 }).map((offset) => start.start + offset);
    fc.assert(
      fc.property(moments, moments, (a, b) => {
        const [earlier, later] = [progressAt(marks, Math.min(a, b)), progressAt(marks, Math.max(a, b))];
        expect(earlier.percent).to.be.at.most(later.percent);
      }),
    );
    expect(progressAt(marks, start.start + 100_000).percent).to.equal(100);
  });

  it("says what the host does now", () => {
    const { marks } = planHost(start);
    const messageAt = (seconds: number) => progressAt(marks, start.start + seconds * 1000).message;
    expect(messageAt(10)).to.match(/entering maintenance mode/);
    expect(messageAt(40)).to.match(/being remediated/);
    expect(messageAt(70)).to.match(/reconnect/);
    expect(messageAt(95)).to.match(/exiting maintenance mode/);
  });

  it("hangs for ever at the same progress", () => {
    const fault = { id: "fault-1", kind: "MAINTENANCE_MODE_HANGS", createdAt: 0 } as const;
    const { events, marks } = planHost({ ...start, fault });
    expect(events).to.deep.equal([]);
    expect(progressAt(marks, start.start + 10_000)).to.deep.equal(progressAt(marks, start.start + 10_000_000));
  });

  it("is stuck for the asked time, then fails", () => {
    const fault = { id: "fault-1", kind: "MAINTENANCE_MODE_STUCK", createdAt: 0, seconds: 7.5 } as const;
    const { events } = planHost({ ...start, fault });
    expect(events.map(({ at, kind }) => [secondsOf(at), kind])).to.deep.equal([[7.5, "HOST_FAILED"]]);
  });
});
