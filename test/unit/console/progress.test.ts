import { expect } from "chai";
import { hostProgressOfTask, remainingMilliseconds } from "../../../src/console/model/host-progress";
import type { TimeDisplay } from "../../../src/console/model/local-time";
import { axisTicks, timelineOf } from "../../../src/console/model/timeline";
import { at, begin, cluster, doneHost, part, runningHost, stage, task, waitingHost } from "./console-task";

describe("the console's progress", () => {
  it("counts hosts of all clusters, and clusters whose hosts are not known", () => {
    const failed = part("HOST_UPGRADE", "FAILED", { stages: [stage("FAILED", 1)], completionTimestamp: at(2) });
    const plural = hostProgressOfTask(
      task([
        cluster("IN_PROGRESS", [doneHost("a", 0, 10), runningHost("b", 10), waitingHost("c"), failed]),
        cluster("PENDING"),
      ]),
    );
    expect(plural).to.deep.equal({ total: 4, done: 1, running: 1, failed: 1, left: 1, leftOut: 0, unreadClusters: 1 });
  });

  it("estimates by the mean of finished hosts, the slowest cluster deciding", () => {
    const quick = cluster("IN_PROGRESS", [doneHost("a", 0, 60), runningHost("b", 60)], "quick");
    const slow = cluster("IN_PROGRESS", [runningHost("d", 60), waitingHost("e"), waitingHost("f")], "slow");
    const now = begin + 80_000;
    expect(remainingMilliseconds(task([quick, slow]), now)).to.equal(40_000 + 2 * 60_000);
    expect(remainingMilliseconds(task([quick]), now)).to.equal(40_000);
    expect(remainingMilliseconds(task([quick]), begin - 3_600_000), "behind the service").to.equal(60_000);
  });

  it("takes hosts that run side by side into account", () => {
    const hosts = [
      doneHost("a", 0, 60),
      runningHost("b", 60),
      runningHost("c", 60),
      waitingHost("d"),
      waitingHost("e"),
    ];
    expect(remainingMilliseconds(task([cluster("IN_PROGRESS", hosts)]), begin + 60_000)).to.equal(120_000);
  });

  it("estimates nothing before a first host is done, and nothing at the end", () => {
    expect(remainingMilliseconds(task([cluster("IN_PROGRESS", [runningHost("a", 0)])]), begin)).to.equal(undefined);
    expect(remainingMilliseconds(task([cluster("SUCCESSFUL", [doneHost("a", 0, 5)])]), begin)).to.equal(undefined);
  });

  it("draws hosts that overlap in rows of their own", () => {
    const hosts = [doneHost("a", 0, 50), doneHost("b", 25, 100), runningHost("c", 50), waitingHost("d")];
    const timeline = timelineOf(task([cluster("IN_PROGRESS", hosts)]), begin + 100_000);
    expect(timeline?.lanes[0]?.rows).to.equal(2);
    expect(timeline?.lanes[0]?.bars.map(({ host, from, to, row }) => [host, from, to, row])).to.deep.equal([
      ["a", 0, 0.5, 0],
      ["b", 0.25, 1, 1],
      ["c", 0.5, 1, 0],
    ]);
    expect(timelineOf(task([cluster("PENDING")]), begin)).to.equal(undefined);
  });

  it("marks round times on the axis: of the zone, of UTC, or since the begin", () => {
    const shown = timelineOf(task([cluster("IN_PROGRESS", [runningHost("a", 100)])]), begin + 50 * 60_000);
    if (!shown) throw new Error("There is no timeline");
    const labels = (display: TimeDisplay, zone = 0) => axisTicks(shown, display, zone).map(({ label }) => label);
    expect(labels("UTC")).to.deep.equal(["09:10", "09:20", "09:30", "09:40", "09:50"]);
    expect(labels("LOCAL", 5.5 * 3_600_000)).to.deep.equal(["14:40", "14:50", "15:00", "15:10", "15:20"]);
    expect(labels("RELATIVE")).to.deep.equal(["+0", "+10 min", "+20 min", "+30 min", "+40 min"]);
    for (const { place } of axisTicks(shown, "UTC", 0)) expect(place).to.be.within(0, 1);
  });

  it("has few marks, whatever time is shown", () => {
    for (const seconds of [1, 7, 59, 3600, 86_400, 30 * 86_400, 400 * 86_400]) {
      const span = { begin, end: begin + seconds * 1000, lanes: [] };
      expect(axisTicks(span, "RELATIVE", 0).length, `${seconds} s`).to.be.within(2, 8);
    }
  });
});
