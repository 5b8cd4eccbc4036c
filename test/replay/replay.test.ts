import { DefaultLogger, Runtime } from "@temporalio/worker";
import { DeterminismViolationError } from "@temporalio/workflow";
import { expect } from "chai";
import { activityTypeOf, attributesOf } from "./history-json";
import { changedBundle, productionBundle, replayAll, replayAllEncrypted } from "./replay";
import { storedHistories, type StoredHistory } from "./stored-histories";

describe("Stored histories", function () {
  this.timeout(180_000);
  const histories = storedHistories();
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

    it("replay where an earlier build has begun an upgrade whose plan a newer API has given receivers", async () => {
      const begun = histories.filter(
        ({ workflowType, folder }) => workflowType === "upgradeWorkflow" && folder !== told,
      );
      expect(begun).to.have.length.greaterThan(10);
      const withThem = begun.map(withReceivers);
      expect(broken(withThem, await replayAll(await productionBundle(), withThem))).to.deep.equal([]);
    });

    it("break where they are tampered with, to their very end: the last Activity was another one", async () => {
      expect(withActivities).to.have.length.greaterThan(histories.length / 2);
      const tampered = withActivities.map(withAnotherLastActivity);
      expect(broken(tampered, await replayAll(await productionBundle(), tampered))).to.deep.equal(tampered.map(nameOf));
    });
  });

  it("replay all, plain as they are, on a worker that encrypts", async () => {
    expect(broken(histories, await replayAllEncrypted(histories))).to.deep.equal([]);
  });

  it("replay with tracing switched on, which an operator may do while upgrades run", async () => {
    expect(
      broken(histories, await replayAll(await productionBundle("workflow-bundle-traced.js"), histories)),
    ).to.deep.equal([]);
  });

  it("are of workers with and without tracing, so that both of them replay both", () => {
    const traced = histories.filter(({ history }) => JSON.stringify(history).includes('"_tracer-data"'));
    expect(new Set(traced.map(({ folder }) => folder))).to.deep.equal(new Set(["traced"]));
    expect(traced.map(({ workflowType }) => workflowType)).to.include.members([
      "upgradeWorkflow",
      "clusterUpgradeWorkflow",
    ]);
  });

  describe("with changed Workflows", () => {
    const brokenBy = async (change: string): Promise<string[]> =>
      broken(histories, await replayAll(await changedBundle(change), histories));

    it("all break where each Workflow begins with one more timer", async () => {
      expect(await brokenBy("timer-first")).to.deep.equal(histories.map(nameOf));
    });

    it("break where hosts are read once more before each is upgraded, if they have come that far", async () => {
      const reached = histories.filter(({ history }) =>
        history.events.some((event) => activityTypeOf(event) === "remediateHost"),
      );
      expect(reached).to.have.length.within(1, histories.length - 1);
      expect(await brokenBy("hosts-read-again")).to.deep.equal(reached.map(nameOf));
    });

    it("replay where the same change is made with patched()", async () => {
      expect(await brokenBy("hosts-read-again-patched")).to.deep.equal([]);
    });
  });
});

/** The recording of upgrades that have receivers of notifications. */
const told = "notifications";

/** The upgrade, had its plan named a receiver. */
function withReceivers(stored: StoredHistory): StoredHistory {
  const [started, ...events] = stored.history.events;
  if (!started) throw new Error(`${nameOf(stored)} has no events`);
  const attributes = attributesOf(started) as { input: { payloads: [{ data: string }] } };
  const [payload] = attributes.input.payloads;
  const plan = JSON.parse(Buffer.from(payload.data, "base64").toString()) as object;
  expect(plan).to.not.have.property("notifications");
  const changed = { ...plan, notifications: [{ id: "chat", retryHours: 24 }] };
  const data = Buffer.from(JSON.stringify(changed)).toString("base64");
  const input = { payloads: [{ ...payload, data }] };
  const first = { ...started, workflowExecutionStartedEventAttributes: { ...attributes, input } };
  return { ...stored, history: { events: [first, ...events] } };
}

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
