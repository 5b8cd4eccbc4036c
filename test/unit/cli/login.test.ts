import { readFileSync, statSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { pageOfBundleExample } from "../../../src/api/openapi/examples";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

describe("upgradectl login", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    api.answer("POST /v1/tokens", 201, { accessToken: "access-1", refreshToken: { id: "refresh-1" } });
    api.answer("GET /v1/bundles", 200, pageOfBundleExample);
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  async function login(): Promise<string> {
    cli.stdin = "correct horse\n";
    const run = await cli.run(["login", "--server", api.url, "--username", "alice", "--password-stdin"]);
    expect(run.code, run.stderr).to.equal(0);
    return run.stdout + run.stderr;
  }

  it("keeps address and tokens where only the user can read them, and prints none", async () => {
    const printed = await login();
    expect(api.last.body).to.deep.equal({ username: "alice", password: "correct horse" });
    expect(statSync(cli.config).mode & 0o777).to.equal(0o600);
    expect(printed).to.not.match(/access-1|refresh-1|correct horse/);
    expect(printed).to.contain(`Logged in to ${api.url} as context default;`);
    await cli.run(["bundles"]);
    expect(api.last.headers.authorization).to.equal("Bearer access-1");
  });

  it("renews the access token by the refresh token, and keeps the new one", async () => {
    await login();
    api.on("GET /v1/bundles", ({ headers }, response) => {
      const good = headers.authorization === "Bearer access-2";
      const body = good ? pageOfBundleExample : { message: "The token has expired.", errorCode: "Unauthorized" };
      response.writeHead(good ? 200 : 403).end(JSON.stringify(body));
    });
    api.answer("PATCH /v1/tokens/access-token/refresh", 200, "access-2");
    const { code } = await cli.run(["bundles"]);
    expect(code).to.equal(0);
    expect(api.received.find(({ method }) => method === "PATCH")?.body).to.equal("refresh-1");
    expect(JSON.parse(readFileSync(cli.config, "utf8"))).to.deep.equal({
      current: "default",
      contexts: { default: { server: api.url, accessToken: "access-2", refreshToken: "refresh-1" } },
    });
    expect(statSync(cli.config).mode & 0o777).to.equal(0o600);
  });

  it("renews it again where the renewal is shed", async () => {
    await login();
    api.on("GET /v1/bundles", ({ headers }, response) => {
      const good = headers.authorization === "Bearer access-2";
      const body = good ? pageOfBundleExample : { message: "The token has expired.", errorCode: "Unauthorized" };
      response.writeHead(good ? 200 : 403).end(JSON.stringify(body));
    });
    let isShed = true;
    api.on("PATCH /v1/tokens/access-token/refresh", (_request, response) => {
      const body = isShed ? { message: "Too many logins.", errorCode: "OVERLOADED" } : "access-2";
      response.writeHead(isShed ? 503 : 200, { ...(isShed && { "retry-after": "2" }) }).end(JSON.stringify(body));
      isShed = false;
    });
    expect((await cli.run(["bundles"])).code).to.equal(0);
    expect(cli.waits).to.deep.equal([2000]);
  });

  it("says to log in again where the refresh token is no longer good", async () => {
    await login();
    const refused = { message: "The refresh token is not accepted.", errorCode: "Unauthorized" };
    api.answer("GET /v1/bundles", 403, refused).answer("PATCH /v1/tokens/access-token/refresh", 403, refused);
    const { code, stderr } = await cli.run(["bundles"]);
    expect(code).to.equal(4);
    expect(stderr).to.contain("upgradectl login").and.not.to.contain("refresh-1");
  });

  it("sends the tokens of one server to no other", async () => {
    await login();
    const other = await FakeApi.start();
    other.answer("GET /v1/bundles", 200, pageOfBundleExample);
    await cli.run(["bundles", "--server", other.url]);
    expect(other.last.headers.authorization).to.equal(undefined);
    await other.stop();
  });

  it("UPGRADECTL_TOKEN goes before the login, and is not renewed", async () => {
    await login();
    cli.env = { UPGRADECTL_TOKEN: "from-env" };
    api.answer("GET /v1/bundles", 403, { message: "No.", errorCode: "Unauthorized" });
    expect((await cli.run(["bundles"])).code).to.equal(4);
    expect(api.last.headers.authorization).to.equal("Bearer from-env");
  });

  it("keeps a token of an identity provider", async () => {
    cli.stdin = "eyJ.token\n";
    const { code } = await cli.run(["login", "--server", api.url, "--token-stdin"]);
    expect(code).to.equal(0);
    await cli.run(["bundles"]);
    expect(api.last.headers.authorization).to.equal("Bearer eyJ.token");
  });

  it("asks for nothing where there is no terminal", async () => {
    const { code, stderr } = await cli.run(["login", "--server", api.url]);
    expect(code).to.equal(2);
    expect(stderr).to.contain("--username");
  });

  it("leaves the earlier login where the new one is refused", async () => {
    await login();
    api.answer("POST /v1/tokens", 403, { message: "Not accepted.", errorCode: "Unauthorized" });
    cli.stdin = "wrong";
    expect((await cli.run(["login", "--username", "alice", "--password-stdin"])).code).to.equal(4);
    expect(readFileSync(cli.config, "utf8")).to.contain("access-1");
  });

  it("a file that is no login is named, with the way out", async () => {
    await login();
    writeFileSync(cli.config, "{}");
    const { code, stderr } = await cli.run(["bundles"]);
    expect(code).to.equal(2);
    expect(stderr).to.contain(cli.config).and.to.contain("log in again");
  });

  it("logout revokes the refresh token and forgets the tokens", async () => {
    await login();
    api.on("DELETE /v1/tokens/refresh-token", (_request, response) => response.writeHead(204).end());
    expect((await cli.run(["logout"])).code).to.equal(0);
    expect(api.last.body).to.equal("refresh-1");
    expect(readFileSync(cli.config, "utf8"))
      .to.contain(api.url)
      .and.not.to.match(/access-1|refresh-1/);
    expect((await cli.run(["logout"])).code).to.equal(0);
  });
});
