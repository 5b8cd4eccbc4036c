import { DefaultLogger, Runtime } from "@temporalio/worker";
import { DeterminismViolationError } from "@temporalio/workflow";
import { expect } from "chai";
import { activityTypeOf, attributesOf, type HistoryEventJson } from "./history-json";
import { changedBundle, productionBundle, replayAll, replayAllEncrypted } from "./replay";
import { storedHistories, type StoredHistory } from "./stored-histories";

/** Whether an event is a command of a Workflow, which names the Workflow Task that it came with. */
const isCommanded = (event: HistoryEventJson) => "workflowTaskCompletedEventId" in attributesOf(event);

describe("Stored histories", function () {
  this.timeout(180_000);
  const histories = storedHistories();
  /** For what shows in any of them: one of four. */
  const some = histories.filter((_, i) => i % 4 === 0);
  const withActivities = histories.filter(({ history }) => history.events.some(activityTypeOf));

  before(() => {
    // What a replay makes of changed Workflows is asserted here: a log of it would look like failures.
    const logger = new DefaultLogger("ERROR", () => undefined);
    Runtime.install({ logger, telemetryOptions: { logging: { filter: "OFF" } } });
  });

  describe("with the Workflows of this build", () => {
    let results: ReadonlyMap<string, Error | undefined>;

    before(async () => {
      results = await replayAll(await productionBundle(), histories);
    });

    for (const history of histories)
      it(`replay: ${nameOf(history)}`, () => {
        expect(results.has(history.runId)).to.equal(true);
        const error = results.get(history.runId);
        if (error) throw error;
      });

    it("break where they are tampered with, to their very end: the last Activity was another one", async () => {
      expect(withActivities).to.have.length.greaterThan(histories.length / 2);
      const tampered = withActivities.map(withAnotherLastActivity);
      expect(broken(tampered, await replayAll(await productionBundle(), tampered))).to.deep.equal(tampered.map(nameOf));
    });
  });

  it("replay, plain as they are, on a worker that encrypts", async () => {
    expect(broken(some, await replayAllEncrypted(some))).to.deep.equal([]);
  });

  describe("with changed Workflows", () => {
    const brokenBy = async (change: string): Promise<string[]> =>
      broken(some, await replayAll(await changedBundle(change), some));

    it("all break where each Workflow begins with one more timer, unless that is how they begin", async () => {
      const begun = some.filter(({ history }) => {
        const first = history.events.find(isCommanded);
        return first !== undefined && first.eventType !== "EVENT_TYPE_TIMER_STARTED";
      });
      expect(begun).to.have.length.greaterThan(some.length - 5);
      expect(await brokenBy("timer-first")).to.deep.equal(begun.map(nameOf));
    });

    it("break where hosts are read once more before each is upgraded, if they have come that far", async () => {
      const reached = some.filter(({ history }) =>
        history.events.some((event) => activityTypeOf(event) === "remediateHosts"),
      );
      expect(reached).to.have.length.within(1, some.length - 1);
      expect(await brokenBy("hosts-read-again")).to.deep.equal(reached.map(nameOf));
    });

    it("replay where the same change is made with patched()", async () => {
      expect(await brokenBy("hosts-read-again-patched")).to.deep.equal([]);
    });
  });
});

function nameOf({ folder, story, part }: StoredHistory): string {
  return `${folder}/${story}.${part}`;
}

/** The names of the histories that do not replay, each because of a violation of determinism and nothing else. */
function broken(histories: readonly StoredHistory[], results: ReadonlyMap<string, Error | undefined>): string[] {
  expect(results.size).to.equal(histories.length);
  for (const error of results.values()) if (error) expect(error).to.be.instanceOf(DeterminismViolationError);
  return histories.filter(({ runId }) => results.get(runId) !== undefined).map(nameOf);
}

function withAnotherLastActivity(stored: StoredHistory): StoredHistory {
  const { events } = stored.history;
  const last = events.findLast(activityTypeOf);
  const tampered = { ...attributesOf(last), activityType: { name: "eraseHost" } };
  const changed = events.map((event) =>
    event === last ? { ...event, activityTaskScheduledEventAttributes: tampered } : event,
  );
  return { ...stored, history: { events: changed } };
}
