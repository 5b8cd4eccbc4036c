import { createSecretKey, randomBytes } from "node:crypto";
import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import type { Role } from "../../../src/authentication/authentication";
import { payloadTranslator } from "../../../src/commands/api";
import { PayloadEncryption } from "../../../src/temporal/payload-encryption";
import { type ApiUnderTest, expectError, startApiUnderTest } from "./api-under-test";

const webUi = "https://temporal.example.com";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const plain = { payloads: [{ metadata: { encoding: base64("json/plain") }, data: base64('"esx-07"') }] };

/** Of whom the token is the name of the role. */
const authentication = {
  authenticate: (token: string | undefined) => TE.right({ caller: "somebody", role: token as Role | undefined }),
};

describe("the codec for Temporal's Web UI and CLI", () => {
  let api: ApiUnderTest;

  before(async () => {
    const keys = [{ id: "now", key: createSecretKey(randomBytes(32)) }];
    const codec = { translator: payloadTranslator(new PayloadEncryption(keys)), origins: [webUi] };
    api = await startApiUnderTest({ authentication, codec });
  });
  after(() => api.close());

  const ask = (name: "encode" | "decode", body: object, role = "OPERATOR") =>
    request(api.url).post(`/codec/${name}`).set("Authorization", role).set("Origin", webUi).send(body);

  it("encrypts, and decrypts to the same", async () => {
    const encrypted = await ask("encode", plain);
    expect([encrypted.status, encrypted.headers["content-type"]]).to.deep.equal([200, "application/json"]);
    expect(encrypted.text).to.contain(base64("binary/encrypted")).and.not.contain(base64('"esx-07"'));
    const decrypted = await ask("decode", encrypted.body as object);
    expect(decrypted.body).to.deep.equal(plain);
  });

  it("passes on what is not encrypted, and what is empty", async () => {
    for (const body of [plain, { payloads: [] }, { payloads: [{}] }])
      expect((await ask("decode", body)).body).to.deep.equal(body);
  });

  it("takes payloads as large as Temporal's", async () => {
    const data = Buffer.alloc(2 * 1024 * 1024, "a").toString("base64");
    const answer = await ask("encode", { payloads: [{ data }] });
    expect(answer.status).to.equal(200);
  });

  it("refuses a text as long as a body may be that is no base64", async () => {
    const long = "A".repeat(7_900_000);
    expect((await ask("encode", { payloads: [{ data: long }] })).status).to.equal(200);
    const { status, headers, text } = await ask("encode", { payloads: [{ data: `${long}?` }] });
    expectError({ status, headers, text }, 400, "INVALID_FIELD");
  });

  it("is for those who may steer upgrades", async () => {
    for (const name of ["encode", "decode"] as const) {
      for (const role of ["OPERATOR", "ADMIN"]) expect((await ask(name, plain, role)).status, role).to.equal(200);
      const { status, headers, text } = await ask(name, plain, "VIEWER");
      expectError({ status, headers, text }, 403, "ROLE_REQUIRED");
    }
  });

  it("names the key that is missing", async () => {
    const metadata = { encoding: base64("binary/encrypted"), "encryption-key-id": base64("before") };
    const { status, headers, text } = await ask("decode", { payloads: [{ metadata, data: base64("secret bytes") }] });
    const { message } = expectError({ status, headers, text }, 400, "PAYLOAD_KEY_MISSING");
    expect(message).to.contain('"before"');
  });

  it("refuses what is no payload", async () => {
    for (const body of [{}, { payloads: [{ data: "no base64!" }] }, { payloads: "all" }]) {
      const { status, headers, text } = await ask("decode", body);
      expect(status, text).to.equal(400);
      expect(headers["content-type"]).to.equal("application/json");
    }
  });

  it("lets pages of the Web UI read the answers, errors too, and no other page", async () => {
    const preflight = await request(api.url)
      .options("/codec/decode")
      .set("Origin", webUi)
      .set("Access-Control-Request-Method", "POST")
      .set("Access-Control-Request-Headers", "authorization,content-type,x-namespace");
    expect(preflight.status).to.equal(204);
    expect(preflight.headers).to.include({
      "access-control-allow-origin": webUi,
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": "authorization, content-type, x-namespace",
      vary: "Origin",
    });
    expect((await ask("decode", {})).headers["access-control-allow-origin"]).to.equal(webUi);
    for (const origin of ["https://other.example.com", "null", `${webUi}.example.org`]) {
      const other = await ask("decode", plain).set("Origin", origin);
      expect(other.headers, origin).to.not.have.property("access-control-allow-origin");
    }
    const elsewhere = await request(api.url).get("/health/live").set("Origin", webUi);
    expect(elsewhere.headers).to.not.have.property("access-control-allow-origin");
  });

  it("is not there where nothing is encrypted", async () => {
    const without = await startApiUnderTest({ authentication });
    const { status, headers, text } = await request(without.url).post("/codec/decode").send(plain);
    expectError({ status, headers, text }, 404, "PATH_NOT_FOUND");
    await without.close();
  });
});
