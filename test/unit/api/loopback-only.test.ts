import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import type { PayloadTranslator } from "../../../src/api/routes/codec";
import { type ApiUnderTest, expectError, startApiUnderTest } from "./api-under-test";

const translator: PayloadTranslator = {
  encode: () => TE.right([]),
  decode: () => TE.right([]),
};
const webUi = "https://temporal.example";

describe("an API without authentication", () => {
  let api: ApiUnderTest;
  beforeEach(async () => (api = await startApiUnderTest({ codec: { translator, origins: [webUi] } })));
  afterEach(() => api.close());

  it("refuses a page whose name is bound to a loopback address, whatever it asks for", async () => {
    for (const [method, path] of [
      ["get", "/v1/upgrades"],
      ["post", "/v1/upgrades"],
      ["get", "/health/live"],
      ["get", "/nowhere"],
    ] as const) {
      const answer = await request(api.url)[method](path).set("Host", "rebound.example:8080").set("Authorization", "x");
      const { message, context } = expectError(answer, 403, "LOOPBACK_ONLY");
      expect(message).to.include('the header Host is "rebound.example:8080"');
      expect(context).to.deep.equal({ path: "Host" });
    }
    expect(api.calls.started).to.deep.equal([]);
  });

  it("refuses a page from elsewhere", async () => {
    for (const origin of ["https://evil.example", "null", webUi]) {
      const answer = await request(api.url).post("/v1/upgrades").set("Origin", origin).set("Authorization", "x");
      expect(expectError(answer, 403, "LOOPBACK_ONLY").context).to.deep.equal({ path: "Origin" });
    }
  });

  it("answers pages and programs of this machine", async () => {
    for (const host of ["localhost", "127.0.0.1:9", "[::1]:8080"])
      expect((await request(api.url).get("/v1/upgrades").set("Host", host)).status, host).to.equal(200);
    const answer = await request(api.url).get("/v1/upgrades").set("Origin", "http://localhost:3000");
    expect(answer.status).to.equal(200);
  });

  it("answers the Web UI that may ask for the codec", async () => {
    const ask = () => request(api.url).post("/codec/decode").set("Authorization", "x").send({ payloads: [] });
    expect((await ask().set("Origin", webUi)).status).to.equal(200);
    expectError(await ask().set("Origin", "https://evil.example"), 403, "LOOPBACK_ONLY");
  });
});

describe("an API with authentication", () => {
  it("answers by whatever name it is called", async () => {
    const api = await startApiUnderTest({ authentication: { mode: "local" } });
    try {
      const answer = await request(api.url).get("/v1/upgrades").set("Host", "upgrades.example").set("Origin", webUi);
      expect(answer.status).to.equal(200);
    } finally {
      await api.close();
    }
  });
});
