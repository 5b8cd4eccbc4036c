import { temporal } from "@temporalio/proto";
import { expect } from "chai";
import fc from "fast-check";
import { cachedCounts, type UpgradeCounts } from "../../../src/temporal/upgrade-counter";
import type { Execution, Visibility } from "../../../src/temporal/visibility";
import { memoryLog } from "../api/api-under-test";

const now = Date.parse("2026-11-21T12:00:00.000Z");

/** Visibility of drafts that were started these seconds ago, and nothing else. */
function withDrafts(ages: readonly number[]): Visibility & { calls: number } {
  const times = ages.map((age) => now - age * 1000);
  const matching = (query: string) => {
    if (!query.includes("'DRAFT'")) return [];
    const before = /StartTime <= '([^']+)'/.exec(query)?.[1];
    return times.filter((time) => before === undefined || time <= Date.parse(before));
  };
  return {
    calls: 0,
    count(query) {
      this.calls++;
      return Promise.resolve(matching(query).length);
    },
    list(query, size) {
      this.calls++;
      const executions = matching(query).slice(0, size);
      return Promise.resolve({ executions: executions.map(startedAt), nextToken: undefined });
    },
  };
}

function startedAt(time: number): Execution {
  return temporal.api.workflow.v1.WorkflowExecutionInfo.fromObject({ startTime: { seconds: time / 1000 } });
}

const read = (visibility: Visibility, at = () => now) =>
  cachedCounts(visibility, memoryLog().log, { keep: 10_000, limit: 4_000, now: at });

describe("upgradeCounter", () => {
  it("finds the age of the oldest draft, to the second, however many there are", () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 300 * 24 * 3600 }), { maxLength: 60 }), async (ages) => {
        const counts = await read(withDrafts(ages))();
        expect(counts?.byStatus["DRAFT"]).to.equal(ages.length);
        expect(counts?.oldestDraftSeconds).to.be.closeTo(Math.max(0, ...ages), 1);
      }),
    ));

  it("names every status, also those of which there is no upgrade", async () => {
    const counts = await read(withDrafts([5]))();
    expect(counts?.byStatus).to.include({ DRAFT: 1, INPROGRESS: 0, COMPLETED_WITH_FAILURE: 0 });
  });

  it("asks once for all that scrape at one time, and again when the answer is old", async () => {
    let time = now;
    const visibility = withDrafts([5]);
    const counts = read(visibility, () => time);
    await Promise.all([counts(), counts()]);
    const { calls } = visibility;
    time += 9_999;
    await counts();
    expect(visibility.calls).to.equal(calls);
    time += 1;
    await counts();
    expect(visibility.calls).to.equal(2 * calls);
  });

  it("knows nothing where Temporal does not answer, and says why in the log", async () => {
    const { log, lines } = memoryLog();
    const broken: Visibility = { ...withDrafts([]), count: () => Promise.reject(new Error("no connection")) };
    const counts: UpgradeCounts | undefined = await cachedCounts(broken, log, { keep: 1, limit: 1, now: () => now })();
    expect(counts).to.equal(undefined);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ level: 40, reason: "no connection" });
  });
});
