import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from "jose";
import request from "supertest";
import { upgradeSpecExample } from "../../../src/api/openapi/examples";
import { defaultLoginLimits } from "../../../src/authentication/local-authentication";
import { hashPassword } from "../../../src/authentication/users";
import { type ApiUnderTest, expectError, startApiUnderTest } from "../api/api-under-test";
import {
  accessTokenMinutes,
  localFiles,
  type LocalFiles,
  passwords,
  refreshTokenHours,
  signingKey,
  type UserName,
  usualUsers,
} from "./local-authentication-under-test";

interface Pair {
  readonly accessToken: string;
  readonly refreshToken: { readonly id: string };
}

describe("AUTH_MODE=local", () => {
  let files: LocalFiles;
  let apis: ApiUnderTest[];

  beforeEach(async () => {
    files = await localFiles();
    apis = [];
  });
  afterEach(async () => {
    await Promise.all(apis.map((api) => api.close()));
    files.remove();
  });

  async function start(options: Parameters<LocalFiles["authentication"]>[0] = {}): Promise<ApiUnderTest> {
    const api = await startApiUnderTest({ authentication: await files.authentication(options) });
    apis.push(api);
    return api;
  }

  const login = (api: ApiUnderTest, username: string, password: string) =>
    request(api.url).post("/v1/tokens").send({ username, password });

  async function tokensOf(api: ApiUnderTest, user: UserName): Promise<Pair> {
    const answer = await login(api, user, passwords[user]);
    expect(answer.status, answer.text).to.equal(201);
    return answer.body as Pair;
  }

  const read = (api: ApiUnderTest, token: string) =>
    request(api.url).get("/v1/upgrades").set("authorization", `Bearer ${token}`);

  const refresh = (api: ApiUnderTest, id: string) =>
    request(api.url)
      .patch("/v1/tokens/access-token/refresh")
      .set("content-type", "application/json")
      .send(JSON.stringify(id));

  const revoke = (api: ApiUnderTest, id: string) =>
    request(api.url)
      .delete("/v1/tokens/refresh-token")
      .set("content-type", "application/json")
      .send(JSON.stringify(id));

  it("gives a user a JWT with exp, sub and role, with which the API is used under the user's name", async () => {
    const api = await start();
    const { accessToken, refreshToken } = await tokensOf(api, "operator");
    const claims = decodeJwt(accessToken);
    expect(claims).to.include({ sub: "operator", role: "OPERATOR" });
    expect(claims.exp! - claims.iat!).to.equal(accessTokenMinutes * 60);
    expect(refreshToken).to.have.all.keys("id");
    const answer = await request(api.url)
      .post("/v1/upgrades")
      .set("authorization", `bearer ${accessToken}`)
      .send(upgradeSpecExample);
    expect(answer.status).to.equal(202);
    expect(api.calls.started[0]?.caller).to.equal("operator");
    expect(api.logLines.at(-1)).to.include({ caller: "operator" });
  });

  it("asks for a token on reads too, and for none on health and documents", async () => {
    const api = await start();
    for (const header of [undefined, "", "   ", "Basic b3BlcmF0b3I6cA==", "Bearer", "Bearer a b", "Bearer x"]) {
      const asked = request(api.url).get("/v1/upgrades");
      if (header !== undefined) void asked.set("authorization", header);
      expectError(await asked, 403, "Unauthorized");
    }
    for (const path of ["/health/live", "/health/ready", "/openapi.json", "/docs/api"])
      expect((await request(api.url).get(path)).status, path).to.equal(200);
    expect(api.calls.listed).to.deep.equal([]);
  });

  it("refuses a wrong password and an unknown user alike, after the same work", async () => {
    const api = await start();
    const wrong = expectError(await login(api, "operator", "not the password"), 403, "Unauthorized");
    const began = performance.now();
    const unknown = expectError(await login(api, "nobody", "not the password"), 403, "Unauthorized");
    // scrypt with 32 MiB takes longer than this on any machine; a look-up alone is far below it.
    expect(performance.now() - began).to.be.above(10);
    const { referenceToken: _, ...first } = wrong;
    expect(unknown).to.deep.include(first);
  });

  it("takes no access token after its time", async () => {
    const api = await start();
    const { accessToken } = await tokensOf(api, "viewer");
    files.clock.now += accessTokenMinutes * 60_000 - 2_000;
    expect((await read(api, accessToken)).status).to.equal(200);
    files.clock.now += 3_000;
    expectError(await read(api, accessToken), 403, "Unauthorized");
  });

  it("renews the access token with the role that the user has now", async () => {
    const api = await start();
    const { refreshToken } = await tokensOf(api, "viewer");
    files.clock.now += 2 * 3_600_000;
    const users = await usualUsers();
    files.writeUsers({ ...users, viewer: { ...users.viewer, role: "ADMIN" } });
    const answer = await refresh(api, refreshToken.id);
    expect(answer.status).to.equal(200);
    expect(answer.headers["content-type"]).to.equal("application/json");
    const token = answer.body as string;
    expect(decodeJwt(token)).to.include({ sub: "viewer", role: "ADMIN" });
    expect((await read(api, token)).status).to.equal(200);
  });

  it("takes the id of a refresh token also without quotation marks, as text, and without a Content-Type", async () => {
    const api = await start();
    const { id } = (await tokensOf(api, "viewer")).refreshToken;
    for (const type of ["application/json", "text/plain", "text/plain; charset=utf-8"]) {
      const answer = await request(api.url).patch("/v1/tokens/access-token/refresh").set("content-type", type).send(id);
      expect(answer.status, type).to.equal(200);
    }
    const untyped = await fetch(`${api.url}/v1/tokens/access-token/refresh`, {
      method: "PATCH",
      body: new TextEncoder().encode(id),
    });
    expect(untyped.status, "no Content-Type, as PowerShell sends it").to.equal(200);
    const bare = request(api.url).patch("/v1/tokens/access-token/refresh").set("content-type", "application/json");
    expectError(await bare.send("{not json"), 400, "MALFORMED_JSON");
    const other = request(api.url).post("/v1/tokens").set("content-type", "text/plain");
    expectError(await other.send("text"), 400, "UNSUPPORTED_CONTENT_TYPE");
  });

  it("takes no refresh token after its time", async () => {
    const api = await start();
    const { refreshToken } = await tokensOf(api, "viewer");
    files.clock.now += refreshTokenHours * 3_600_000 + 1_000;
    expectError(await refresh(api, refreshToken.id), 403, "Unauthorized");
  });

  it("takes each token for its own use only", async () => {
    const api = await start();
    const { accessToken, refreshToken } = await tokensOf(api, "admin");
    expectError(await read(api, refreshToken.id), 403, "Unauthorized");
    expectError(await refresh(api, accessToken), 403, "Unauthorized");
    expectError(await revoke(api, accessToken), 403, "Unauthorized");
  });

  it("revokes a refresh token for every process and over a restart, and again without an error", async () => {
    const [first, second] = [await start(), await start()];
    const { refreshToken } = await tokensOf(first, "viewer");
    const other = await tokensOf(first, "viewer");
    expect((await refresh(second, refreshToken.id)).status).to.equal(200);
    for (const api of [first, second]) {
      const answer = await revoke(api, refreshToken.id);
      expect({ status: answer.status, text: answer.text }).to.deep.equal({ status: 204, text: "" });
    }
    const restarted = await start();
    for (const api of [first, second, restarted]) {
      expectError(await refresh(api, refreshToken.id), 403, "Unauthorized");
      expect((await refresh(api, other.refreshToken.id)).status).to.equal(200);
    }
    expect(readdirSync(join(files.folder, "revoked"))).to.deep.equal([decodeJwt(refreshToken.id).jti]);
  });

  it("ends the refresh tokens of users who are taken out or get another password", async () => {
    const api = await start();
    const [viewer, operator, admin] = [
      await tokensOf(api, "viewer"),
      await tokensOf(api, "operator"),
      await tokensOf(api, "admin"),
    ];
    const { viewer: _, ...rest } = await usualUsers();
    files.writeUsers({ ...rest, operator: { role: "OPERATOR", password: await hashPassword("another password") } });
    expectError(await refresh(api, viewer.refreshToken.id), 403, "Unauthorized");
    expectError(await refresh(api, operator.refreshToken.id), 403, "Unauthorized");
    expect((await refresh(api, admin.refreshToken.id)).status).to.equal(200);
    expectError(await login(api, "viewer", passwords.viewer), 403, "Unauthorized");
    expect((await login(api, "operator", "another password")).status).to.equal(201);
  });

  it("keeps the users as they were where the file becomes unusable, and says so once without its content", async () => {
    const api = await start();
    writeFileSync(files.usersFile, "users:\n  - {username: viewer, role: VIEWER, password: $scrypt$typed-wrong}\n");
    expect((await login(api, "viewer", passwords.viewer)).status).to.equal(201);
    expect((await login(api, "admin", passwords.admin)).status).to.equal(201);
    expect(files.warnings).to.have.length(1);
    expect(files.warnings[0])
      .to.contain(files.usersFile)
      .and.to.contain("users[0].password")
      .and.not.contain("typed-wrong");
  });

  it("works across processes that share the key, and takes no token of another key", async () => {
    const [first, second, other] = [await start(), await start(), await start({ key: `${signingKey}, another` })];
    const { accessToken, refreshToken } = await tokensOf(first, "viewer");
    expect((await read(second, accessToken)).status).to.equal(200);
    expect((await refresh(second, refreshToken.id)).status).to.equal(200);
    expectError(await read(other, accessToken), 403, "Unauthorized");
    expectError(await refresh(other, refreshToken.id), 403, "Unauthorized");
  });

  it("refuses tokens that somebody else has made up", async () => {
    const api = await start();
    const { accessToken } = await tokensOf(api, "viewer");
    const claims = decodeJwt(accessToken);
    const header = decodeProtectedHeader(accessToken) as { alg: string; typ: string };
    const [head, , signature] = accessToken.split(".");
    const admin = Buffer.from(JSON.stringify({ ...claims, role: "ADMIN" })).toString("base64url");
    const none = Buffer.from(JSON.stringify({ ...header, alg: "none" })).toString("base64url");
    const key = Buffer.from(signingKey);
    const signed = (header: { alg: string; typ: string }, payload: Record<string, unknown>) =>
      new SignJWT(payload).setProtectedHeader(header).sign(key);
    const forged = {
      "a changed role": `${head}.${admin}.${signature}`,
      "no algorithm": `${none}.${admin}.`,
      "an unsecured token": new UnsecuredJWT({ ...claims, role: "ADMIN" }).encode(),
      "another algorithm": await signed({ ...header, alg: "HS512" }, claims),
      "no type": await signed({ alg: "HS256", typ: "JWT" }, claims),
      "a role that there is not": await signed(header, { ...claims, role: "ROOT" }),
      "no end": await signed(header, { ...claims, exp: undefined }),
      "no subject": await signed(header, { ...claims, sub: undefined }),
      "another audience": await signed(header, { ...claims, aud: "another service" }),
    };
    for (const [what, token] of Object.entries(forged)) {
      const answer = await read(api, token);
      expect(answer.status, what).to.equal(403);
      expectError(answer, 403, "Unauthorized");
    }
    expect((await read(api, await signed(header, claims))).status, "the same, made rightly").to.equal(200);
  });

  it("limits failed logins of an account, with a hint when to try again; successes do not count", async () => {
    const limits = { ...defaultLoginLimits, perAccount: 2 };
    const api = await start({ limits });
    for (let i = 0; i < 4; i++) await tokensOf(api, "viewer");
    const attempts = await Promise.all(Array.from({ length: 6 }, () => login(api, "viewer", "a guess at it")));
    const codes = attempts.map(({ body }) => (body as { errorCode: string }).errorCode).sort();
    expect(codes).to.deep.equal([...Array<string>(4).fill("TOO_MANY_LOGINS"), "Unauthorized", "Unauthorized"]);
    const refused = await login(api, "viewer", passwords.viewer);
    const { context, remediationMessage } = expectError(refused, 403, "TOO_MANY_LOGINS");
    expect(Number(refused.headers["retry-after"])).to.be.within(1, limits.seconds);
    expect(context).to.deep.equal({ retryAfterSeconds: refused.headers["retry-after"] });
    expect(remediationMessage).to.contain(refused.headers["retry-after"]!);
    await tokensOf(api, "operator");
  });

  it("limits failed logins from an address, whatever the account", async () => {
    const api = await start({ limits: { ...defaultLoginLimits, perAddress: 3 } });
    for (const name of ["a", "b", "c"]) expectError(await login(api, name, "a guess at it"), 403, "Unauthorized");
    expectError(await login(api, "viewer", passwords.viewer), 403, "TOO_MANY_LOGINS");
  });

  it("names wrong fields of a login without repeating a password or token", async () => {
    const api = await start();
    const post = (body: object) => request(api.url).post("/v1/tokens").send(body);
    expectError(await post({ username: "viewer" }), 400, "MISSING_FIELD");
    for (const password of [12345678, "", ["hunter2hunter2"], "x".repeat(1025)]) {
      const answer = await post({ username: "viewer", password });
      expectError(answer, 400, "INVALID_FIELD");
      expect(answer.text)
        .to.contain("password")
        .and.not.match(/1234|hunter2|xxx/);
    }
    for (const body of ["{}", "12345678", "null", '""', '["hunter2hunter2"]']) {
      const answer = await request(api.url)
        .delete("/v1/tokens/refresh-token")
        .set("content-type", "application/json")
        .send(body);
      expectError(answer, 400, "INVALID_FIELD");
      expect(answer.text).to.not.match(/1234|hunter2/);
    }
  });

  it("writes no password and no token to the log, and hands none to the use cases", async () => {
    const api = await start({ limits: { ...defaultLoginLimits, perAccount: 3 } });
    const { accessToken, refreshToken } = await tokensOf(api, "operator");
    const secrets = [passwords.operator, "a guess at it", accessToken, refreshToken.id];
    const renewed = (await refresh(api, refreshToken.id)).body as string;
    secrets.push(renewed);
    await read(api, accessToken);
    await read(api, `${accessToken}x`);
    await read(api, refreshToken.id);
    await request(api.url).get(`/v1/upgrades?access_token=${accessToken}`);
    await request(api.url)
      .post("/v1/upgrades")
      .set("authorization", `Bearer ${accessToken}`)
      .set("idempotency-key", "key-1")
      .send({ ...upgradeSpecExample, password: passwords.operator, token: accessToken });
    for (let i = 0; i < 5; i++) await login(api, "operator", "a guess at it");
    await request(api.url)
      .post("/v1/tokens")
      .send({ username: ["x"], password: [passwords.operator] });
    await revoke(api, refreshToken.id);
    await refresh(api, refreshToken.id);
    expect(api.logLines.length).to.be.at.least(14);
    expect(api.calls.started).to.have.length(1);
    const written = JSON.stringify([api.logLines, api.calls]);
    for (const secret of secrets) {
      expect(written).to.not.contain(secret);
      // Nor a part of a token: its payload or its signature.
      for (const part of secret.split(".").slice(1)) expect(written).to.not.contain(part);
    }
  });
});
