import { inspect } from "node:util";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import request from "supertest";
import { upgradeSpecExample } from "../../../src/api/openapi/examples";
import { oidcAuthentication } from "../../../src/authentication/oidc-authentication";
import { type ApiUnderTest, expectError, startApiUnderTest } from "../api/api-under-test";
import { audience, realIssuer, type RealIssuer } from "./real-issuer";
import { metadataPath, scriptedIssuer, type ScriptedIssuer } from "./scripted-issuer";

const options = { audience, roleClaim: "role", keysUrl: undefined, now: () => new Date() };

describe("AUTH_MODE=oidc with a real provider", function () {
  this.timeout(30_000);
  let issuer: RealIssuer;
  let api: ApiUnderTest;

  before(async () => {
    issuer = await realIssuer({ reader: "VIEWER", pipeline: ["unrelated", "OPERATOR"], stranger: "guest" });
    api = await startApiUnderTest({ authentication: oidcAuthentication({ ...options, issuer: issuer.url }) });
  });
  after(async () => {
    await api.close();
    await issuer.close();
  });

  const read = (token: string) => request(api.url).get("/v1/upgrades").set("authorization", `Bearer ${token}`);
  const start = (token: string) =>
    request(api.url).post("/v1/upgrades").set("authorization", `Bearer ${token}`).send(upgradeSpecExample);

  it("lets callers do what the role in their token allows, under the subject's name", async () => {
    const [reader, pipeline] = [await issuer.token("reader"), await issuer.token("pipeline")];
    expect((await read(reader)).status).to.equal(200);
    expect(expectError(await start(reader), 403, "ROLE_REQUIRED").message).to.contain("OPERATOR");
    expect((await start(pipeline)).status).to.equal(202);
    expect(api.calls.started.map(({ caller }) => caller)).to.deep.equal(["pipeline"]);
  });

  it("tells a caller without a role which one is needed", async () => {
    const { message } = expectError(await read(await issuer.token("stranger")), 403, "ROLE_REQUIRED");
    expect(message).to.contain("VIEWER").and.to.contain("no role");
  });

  it("takes no token that is for another audience or of another provider", async () => {
    expectError(await read(await issuer.token("reader", "urn:another-service")), 403, "Unauthorized");
    const other = await realIssuer({ reader: "ADMIN" });
    try {
      expectError(await read(await other.token("reader")), 403, "Unauthorized");
    } finally {
      await other.close();
    }
  });

  it("gives out no tokens itself, and says where they are to be had", async () => {
    const json = { "content-type": "application/json" };
    for (const answer of [
      await request(api.url).post("/v1/tokens").send({ username: "reader", password: "any" }),
      await request(api.url).patch("/v1/tokens/access-token/refresh").set(json).send('"any"'),
      await request(api.url).delete("/v1/tokens/refresh-token").set(json).send('"any"'),
    ])
      expect(expectError(answer, 403, "TOKENS_NOT_ISSUED").remediationMessage).to.contain(issuer.url);
  });

  it("writes no token to the log", async () => {
    const token = await issuer.token("reader");
    await read(token);
    await read(`${token}x`);
    await start(token);
    const written = JSON.stringify([api.logLines, api.calls]);
    for (const part of token.split(".").slice(1)) expect(written).to.not.contain(part);
  });
});

describe("AUTH_MODE=oidc", () => {
  let issuer: ScriptedIssuer;
  beforeEach(async () => (issuer = await scriptedIssuer()));
  afterEach(() => issuer.close());

  const seconds = () => Math.floor(Date.now() / 1000);
  const claims = (): JWTPayload => ({
    iss: issuer.url,
    aud: audience,
    sub: "alice",
    role: "OPERATOR",
    exp: seconds() + 600,
  });
  const authentication = (more: Partial<typeof options> = {}) =>
    oidcAuthentication({ ...options, ...more, issuer: issuer.url });

  /** The credentials of a token, or the code of the error. */
  async function outcomeOf(token: string, authenticated = authentication()): Promise<unknown> {
    const outcome = await authenticated.authenticate(`Bearer ${token}`, "WRITE")();
    if (E.isRight(outcome)) {
      const { milliseconds: _, ...who } = outcome.right;
      return who;
    }
    return outcome.left._tag === "NotAllowed" ? outcome.left.problems[0]?.code : outcome.left._tag;
  }
  const accepted = { caller: "alice", role: "OPERATOR" };

  it("asks for the keys once, and not at all before the first token", async () => {
    const authenticated = authentication();
    expect(issuer.asked).to.deep.equal([]);
    const token = await issuer.token(claims());
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(token, authenticated)));
    expect(outcomes).to.deep.equal(Array(20).fill(accepted));
    expect(issuer.asked).to.deep.equal([metadataPath, "/keys"]);
  });

  it("says how long a token is good, up to the end of the time that clocks may be apart", async () => {
    const now = () => new Date(1_900_000_000_000);
    const token = await issuer.token({ ...claims(), exp: now().getTime() / 1000 + 60 });
    const outcome = await authentication({ now }).authenticate(`Bearer ${token}`, "READ")();
    expect(outcome).to.deep.equal(E.right({ ...accepted, milliseconds: 90_000 }));
  });

  it("asks for the keys where it is told, without the metadata", async () => {
    expect(
      await outcomeOf(await issuer.token(claims()), authentication({ keysUrl: `${issuer.url}/keys` } as never)),
    ).to.deep.equal(accepted);
    expect(issuer.asked).to.deep.equal(["/keys"]);
  });

  it("allows clocks to be 30 s apart and no more", async () => {
    const authenticated = authentication();
    for (const [change, outcome] of [
      [{ exp: seconds() - 20 }, accepted],
      [{ exp: seconds() - 40 }, "Unauthorized"],
      [{ nbf: seconds() + 20 }, accepted],
      [{ nbf: seconds() + 40 }, "Unauthorized"],
    ] as const)
      expect(
        await outcomeOf(await issuer.token({ ...claims(), ...change }), authenticated),
        JSON.stringify(change),
      ).to.deep.equal(outcome);
  });

  it("refuses tokens whose claims are missing or wrong", async () => {
    const authenticated = authentication();
    for (const change of [
      { iss: "https://other.example.com" },
      { iss: undefined },
      { aud: "another" },
      { aud: undefined },
      { exp: undefined },
      { sub: undefined },
      { sub: "" },
      { sub: "two\nlines" },
      { sub: "x".repeat(256) },
    ])
      expect(
        await outcomeOf(await issuer.token({ ...claims(), ...change } as JWTPayload), authenticated),
        JSON.stringify(change),
      ).to.equal("Unauthorized");
    expect(await outcomeOf(await issuer.token({ ...claims(), aud: ["a", audience] }), authenticated)).to.deep.equal(
      accepted,
    );
  });

  it("refuses tokens without a signature, and those signed with the public key as a secret", async () => {
    const authenticated = authentication();
    const secret = Buffer.from(issuer.publicKeyPem);
    const byHmac = (header: object) =>
      new SignJWT(claims()).setProtectedHeader({ alg: "HS256", ...header }).sign(secret);
    const [, payload] = (await issuer.token(claims())).split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none", kid: "first" })).toString("base64url");
    for (const [what, token] of Object.entries({
      none: new UnsecuredJWT(claims()).encode(),
      "none with a key's name": `${none}.${payload}.`,
      "HMAC by the public key": await byHmac({}),
      "HMAC by the public key, with its name": await byHmac({ kid: "first" }),
      "another payload": (await issuer.token(claims())).replace(
        /\.[^.]+\./,
        `.${Buffer.from("{}").toString("base64url")}.`,
      ),
      "no JWT": "abc",
    }))
      expect(await outcomeOf(token, authenticated), what).to.equal("Unauthorized");
  });

  it("reads the role from the claim that is named: a text, a list, nested, with dots in its name", async () => {
    const roleAt = async (roleClaim: string, extra: JWTPayload) => {
      const outcome = await outcomeOf(
        await issuer.token({ ...claims(), role: undefined, ...extra }),
        authentication({ roleClaim }),
      );
      return (outcome as { role: unknown }).role;
    };
    expect(await roleAt("role", { role: "ADMIN" })).to.equal("ADMIN");
    expect(await roleAt("role", { role: ["VIEWER", "OPERATOR", "other"] })).to.equal("OPERATOR");
    expect(await roleAt("realm_access.roles", { realm_access: { roles: ["VIEWER"] } })).to.equal("VIEWER");
    expect(await roleAt("https://example.com/role", { "https://example.com/role": "ADMIN" })).to.equal("ADMIN");
    for (const role of ["admin", "", 3, null, {}, ["ROOT"], undefined])
      expect(await roleAt("role", { role }), JSON.stringify(role)).to.equal(undefined);
    expect(await roleAt("a.b", { a: null })).to.equal(undefined);
    expect(await roleAt("constructor.name", {})).to.equal(undefined);
  });

  it("does not ask again for every token that names an unknown key", async () => {
    const authenticated = authentication();
    await outcomeOf(await issuer.token(claims()), authenticated);
    for (const kid of ["a", "b", "c"])
      expect(await outcomeOf(await issuer.token(claims(), { kid }), authenticated)).to.equal("Unauthorized");
    expect(issuer.asked.filter((path) => path === "/keys")).to.have.length(1);
  });

  it("does not take a token for bad while the issuer is out of reach, and recovers by itself", async () => {
    const token = await issuer.token(claims());
    const [keys, metadata] = [issuer.answers.get("/keys")!, issuer.answers.get(metadataPath)!];
    const authenticated = authentication();
    for (const [path, answer] of [
      [metadataPath, "no answer"],
      [metadataPath, { status: 500, body: {} }],
      [metadataPath, { status: 200, body: { jwks_uri: "x" } }],
      [metadataPath, { status: 200, body: { issuer: "https://other.example.com", jwks_uri: `${issuer.url}/keys` } }],
      ["/keys", "no answer"],
      ["/keys", { status: 503, body: {} }],
      ["/keys", { status: 200, body: "not keys" }],
    ] as const) {
      issuer.answers.set("/keys", keys).set(metadataPath, metadata).set(path, answer);
      expect(await outcomeOf(token, authenticated), `${path} ${JSON.stringify(answer)}`).to.equal("IssuerUnreachable");
    }
    issuer.answers.set("/keys", keys).set(metadataPath, metadata);
    expect(await outcomeOf(token, authenticated)).to.deep.equal(accepted);
  });

  for (const path of [metadataPath, "/keys"])
    it(`reads no more of ${path} than it must, and says whose answer was too long`, async () => {
      issuer.answers.set(path, "no end");
      const outcome = await authentication().authenticate(`Bearer ${await issuer.token(claims())}`, "READ")();
      if (E.isRight(outcome) || outcome.left._tag !== "IssuerUnreachable") throw new Error("the token was checked");
      const causes = inspect(outcome.left.cause, { depth: 5 });
      expect(causes).to.contain(`The answer of ${issuer.url}${path} is longer than 1 MiB`);
    });

  it("goes on with the keys that it has while the issuer is away", async () => {
    const authenticated = authentication();
    const token = await issuer.token(claims());
    await outcomeOf(token, authenticated);
    issuer.answers.set("/keys", "no answer");
    expect(await outcomeOf(token, authenticated)).to.deep.equal(accepted);
  });

  it("takes the keys of an issuer that has changed them, half a minute after it has last looked", async () => {
    const authenticated = authentication();
    const old = await issuer.token(claims());
    expect(await outcomeOf(old, authenticated)).to.deep.equal(accepted);
    await issuer.rotate("second");
    const { now } = Date;
    try {
      // The library's clock; tokens are checked by that of the options.
      Date.now = () => now() + 31_000;
      expect(await outcomeOf(await issuer.token(claims()), authenticated)).to.deep.equal(accepted);
      expect(await outcomeOf(old, authenticated)).to.equal("Unauthorized");
    } finally {
      Date.now = now;
    }
  });

  it("answers 424 to writes and 500 to reads while the issuer is out of reach, and names it", async () => {
    const token = await issuer.token(claims());
    issuer.answers.set(metadataPath, "no answer");
    const api = await startApiUnderTest({ authentication: authentication() });
    try {
      const header = { authorization: `Bearer ${token}` };
      const write = await request(api.url).post("/v1/upgrades").set(header).send(upgradeSpecExample);
      expect(expectError(write, 424, "ISSUER_UNREACHABLE").message).to.contain(issuer.url);
      expectError(await request(api.url).get("/v1/upgrades").set(header), 500, "ISSUER_UNREACHABLE");
      expect(api.logLines.at(-1)).to.have.property("err");
      expect(JSON.stringify(api.logLines)).to.not.contain(token.split(".")[1]);
      expect((await request(api.url).get("/health/ready")).status).to.equal(200);
    } finally {
      await api.close();
    }
  });
});
