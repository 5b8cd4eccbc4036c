import { expect } from "chai";
import { taskExample } from "../../../src/api/openapi/examples";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

describe("upgradectl where the service has too many requests", () => {
  let api: FakeApi;
  let upgradectl: Upgradectl;

  beforeEach(async () => {
    api = await FakeApi.start();
    upgradectl = new Upgradectl();
    upgradectl.env = { UPGRADECTL_SERVER: api.url };
  });

  afterEach(async () => {
    upgradectl.discard();
    await api.stop();
  });

  const statuses = { OVERLOADED: 503, RATE_LIMITED: 429, TEMPORAL_UNREACHABLE: 424 };

  /** Refuses a start so many times, then accepts it. */
  function refuse(times: number, errorCode: keyof typeof statuses, headers: Record<string, string>): void {
    let left = times;
    api.on("POST /v1/upgrades", (_request, response) => {
      const isRefused = left-- > 0;
      response.writeHead(isRefused ? statuses[errorCode] : 202, {
        "content-type": "application/json",
        ...(isRefused && headers),
      });
      response.end(JSON.stringify(isRefused ? { errorCode, message: "Too many." } : taskExample));
    });
  }

  const start = () => upgradectl.run(["start", "-f", "examples/cluster-draft.json"]);

  it("waits as long as it is told to and sends the same request with the same key again", async () => {
    refuse(2, "OVERLOADED", { "retry-after": "4" });
    const { code, stderr } = await start();
    expect(code).to.equal(0);
    expect(upgradectl.waits).to.deep.equal([4000, 4000]);
    expect(stderr).to.contain("Retrying in 4 s");
    expect(api.received).to.have.length(3);
    expect(new Set(api.received.map(({ headers }) => headers["idempotency-key"])).size).to.equal(1);
  });

  it("gives up after a minute, and at once where it would take longer", async () => {
    refuse(Infinity, "RATE_LIMITED", { "retry-after": "25" });
    const { code, stderr } = await start();
    expect(code).to.equal(4);
    expect(upgradectl.waits).to.deep.equal([25_000, 25_000]);
    expect(stderr).to.contain("RATE_LIMITED");
    refuse(Infinity, "RATE_LIMITED", { "retry-after": "61" });
    expect((await start()).code).to.equal(4);
    expect(upgradectl.waits).to.have.length(2);
  });

  it("sends nothing again that may have been done", async () => {
    refuse(1, "TEMPORAL_UNREACHABLE", { "retry-after": "1" });
    expect((await start()).code).to.equal(4);
    refuse(1, "OVERLOADED", {});
    expect((await start()).code).to.equal(4);
    expect(upgradectl.waits).to.deep.equal([]);
    expect(api.received).to.have.length(2);
  });
});
