import { expect } from "chai";
import fc from "fast-check";
import request from "supertest";
import { upgradeSpecExample } from "../../../src/api/openapi/examples";
import { Task } from "../../../src/domain/spec/task";
import { UpgradeSpec, UpgradeUpdateSpec } from "../../../src/domain/spec/upgrade-spec";
import { type ApiUnderTest, expectError, startApiUnderTest } from "./api-under-test";

/** Every place in a value: the values themselves with the keys that lead there. */
function places(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, item]) => places(item, [...path, key]))];
}

function replaceAt(value: unknown, [key, ...rest]: string[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[key] = replaceAt(copy[key], rest, by);
  return copy;
}

const fullSpec = {
  ...upgradeSpecExample,
  netvirtUpgradeUserInputSpecs: [
    {
      netvirtId: "n",
      netvirtHostClusterUpgradeSpecs: [{ hostClusterId: "h", liveUpgrade: true }],
      netvirtEdgeClusterUpgradeSpecs: [{ edgeClusterId: "e" }],
      netvirtUpgradeOptions: { isEdgeOnlyUpgrade: false },
    },
  ],
  mgmtUpgradeUserInputSpecs: [
    { resourceId: "m", upgradeMechanism: "InPlace", temporaryNetwork: { networkMode: "STATIC", gateway: "10.0.0.1" } },
  ],
};

describe("any request", () => {
  let api: ApiUnderTest;
  before(async () => (api = await startApiUnderTest()));
  beforeEach(() => (api.calls.started.length = 0));
  after(() => api.close());

  const post = async (body: string) => {
    api.calls.started.length = 0;
    const answer = await request(api.url)
      .post("/v1/upgrades")
      .set("authorization", "x")
      .type("application/json")
      .send(body);
    if (answer.status === 202) {
      expect(Task.is(answer.body)).to.equal(true);
      expect(UpgradeSpec.is(api.calls.started[0]?.spec)).to.equal(true);
    } else {
      const { errorCode = "" } = JSON.parse(answer.text) as { errorCode?: string };
      expectError(answer, 400, errorCode);
      expect(api.calls.started).to.deep.equal([]);
    }
    return answer.status;
  };

  it("with a body of any shape is a 202 or a 400, never a 500", () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.json({ maxDepth: 70 }), fc.json({ noUnicodeString: false }), fc.string({ unit: "binary" })),
        async (body) => {
          expect(await post(body)).to.equal(400);
        },
      ),
      { numRuns: 150 },
    )).timeout(30_000);

  it("with any value at any place of a valid body is a 202 or a 400, never a 500", () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places(fullSpec)),
        fc.oneof(fc.jsonValue(), fc.constantFrom(null, "", "x".repeat(2000), -1, 1e308, true, [], {}, [[]], [null])),
        async (place, value) => {
          await post(JSON.stringify(replaceAt(fullSpec, place, value)));
        },
      ),
      { numRuns: 300 },
    )).timeout(30_000);

  it("to steer an upgrade, with a body of any shape, is a 200 or a 400, and only a commit or a cancellation gets through", () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json({ maxDepth: 70 }),
          fc
            .record(
              {
                scheduledTimestamp: fc.oneof(fc.string(), fc.constant("2036-12-01T09:30:00Z"), fc.jsonValue()),
                upgradeNow: fc.oneof(fc.boolean(), fc.jsonValue()),
                markForCancellation: fc.oneof(fc.boolean(), fc.jsonValue()),
                anything: fc.jsonValue(),
              },
              { requiredKeys: [] },
            )
            .map((body) => JSON.stringify(body)),
        ),
        async (body) => {
          api.calls.asked.length = 0;
          const answer = await request(api.url)
            .patch("/v1/upgrades/6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11")
            .set("authorization", "x")
            .type("application/json")
            .send(body);
          if (answer.status === 200) expect(UpgradeUpdateSpec.is(api.calls.asked[0]?.[2])).to.equal(true);
          else {
            const { errorCode = "" } = JSON.parse(answer.text) as { errorCode?: string };
            expectError(answer, 400, errorCode);
            expect(api.calls.asked).to.deep.equal([]);
          }
        },
      ),
      { numRuns: 200 },
    )).timeout(30_000);

  it("with any path and query is answered by the interface, never by the framework", () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          "/v1/upgrades",
          "/v1/upgrades/",
          "/v1/tasks",
          "/v1/tasks/",
          "/v1/bundles/",
          "/v1/clusters/",
          "/",
          "/docs/",
          "/health/",
        ),
        fc.string({ unit: fc.constantFrom(..."abz09/.-_~%2e?&=[]+*:@$!;,") }),
        async (start, rest) => {
          const answer = await fetch(`${api.url}${start}${rest}`);
          const text = await answer.text();
          expect(answer.status).to.be.oneOf([200, 400, 404, 405]);
          if (answer.status !== 200) {
            const { errorCode = "" } = JSON.parse(text) as { errorCode?: string };
            expectError(
              { status: answer.status, headers: Object.fromEntries(answer.headers), text },
              answer.status,
              errorCode,
            );
          }
        },
      ),
      { numRuns: 200 },
    )).timeout(30_000);
});
