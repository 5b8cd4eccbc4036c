import { readFileSync, statSync } from "node:fs";
import { expect } from "chai";
import { pageOfBundleExample, upgradeExample } from "../../../src/api/openapi/examples";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

describe("upgradectl, its contexts", () => {
  let test: FakeApi;
  let prod: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    [test, prod, cli] = [await FakeApi.start(), await FakeApi.start(), new Upgradectl()];
    for (const [name, api] of [
      ["test", test],
      ["prod", prod],
    ] as const) {
      api.answer("POST /v1/tokens", 201, { accessToken: `access-${name}`, refreshToken: { id: `refresh-${name}` } });
      api.answer("GET /v1/bundles", 200, pageOfBundleExample);
      await run(["login", "--context", name, "--server", api.url, "-u", "alice", "--password-stdin"]);
    }
  });
  afterEach(async () => {
    await test.stop();
    await prod.stop();
    cli.discard();
  });

  async function run(args: readonly string[]) {
    cli.stdin = "password";
    const ended = await cli.run(args);
    expect(ended.code, ended.stderr).to.equal(0);
    return ended;
  }

  it("the last login is the current one; --context, the variable and `context NAME` choose another", async () => {
    await run(["bundles"]);
    expect(prod.last.headers.authorization).to.equal("Bearer access-prod");
    await run(["bundles", "--context", "test"]);
    expect(test.last.headers.authorization).to.equal("Bearer access-test");
    cli.env = { UPGRADECTL_CONTEXT: "test" };
    await run(["bundles"]);
    cli.env = {};
    await run(["bundles"]);
    await run(["context", "test"]);
    await run(["bundles"]);
    expect([test, prod].map(({ received }) => received.filter(({ method }) => method === "GET").length)).to.deep.equal([
      3, 2,
    ]);
  });

  it("are listed without tokens", async () => {
    const { stdout } = await run(["context"]);
    expect(stdout)
      .to.match(/^\* +prod /m)
      .and.to.contain(test.url);
    const { elements } = JSON.parse((await run(["context", "-o", "json"])).stdout) as { elements: unknown[] };
    expect(elements[0]).to.deep.equal({ name: "test", server: test.url, isLoggedIn: true, isCurrent: false });
    expect(stdout).to.not.match(/access-|refresh-/);
    expect(statSync(cli.config).mode & 0o777).to.equal(0o600);
  });

  it("have a time zone, which --zone goes before", async () => {
    const { id } = upgradeExample;
    prod.answer(`PATCH /v1/upgrades/${id}`, 200, upgradeExample);
    await run(["context", "prod", "--zone", "Asia/Tokyo"]);
    await run(["reschedule", id, "--at", "Sat 02:00"]);
    expect(prod.last.body).to.deep.equal({ scheduledTimestamp: "2036-01-04T17:00:00.000Z" });
    await run(["reschedule", id, "--at", "Sat 02:00", "--zone", "UTC"]);
    expect(prod.last.body).to.deep.equal({ scheduledTimestamp: "2036-01-05T02:00:00.000Z" });
    expect(prod.last.headers.authorization).to.equal("Bearer access-prod");
    expect((await cli.run(["context", "prod", "--zone", "Tokyo"])).stderr).to.contain('no time zone "Tokyo"');
  });

  it("with another address forget their tokens, and keep their zone", async () => {
    await run(["context", "prod", "--zone", "Asia/Tokyo"]);
    await run(["context", "prod", "--server", "http://127.0.0.1:9"]);
    expect(JSON.parse(readFileSync(cli.config, "utf8"))).to.have.deep.nested.property("contexts.prod", {
      server: "http://127.0.0.1:9",
      zone: "Asia/Tokyo",
    });
  });

  it("are forgotten with their tokens, one at a time", async () => {
    test.on("DELETE /v1/tokens/refresh-token", (_request, response) => response.writeHead(204).end());
    await run(["context", "prod", "--remove"]);
    const kept = readFileSync(cli.config, "utf8");
    expect(kept).to.contain("access-test").and.to.not.contain("prod");
    await run(["logout", "--context", "test"]);
    expect(test.last.body).to.equal("refresh-test");
    expect(readFileSync(cli.config, "utf8"))
      .to.contain(test.url)
      .and.to.not.match(/access-|refresh-/);
  });

  it("that there are not are named with those that there are", async () => {
    for (const args of [
      ["bundles", "--context", "stage"],
      ["context", "stage"],
      ["context", "stage", "--remove"],
    ]) {
      const { code, stderr } = await cli.run(args);
      expect(code, args.join(" ")).to.equal(2);
      expect(stderr).to.contain('no context "stage", only test, prod').and.to.contain("--server URL");
    }
  });

  it("--version prints that of the package", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect((await run(["--version"])).stdout).to.equal(`${version}\n`);
  });
});
