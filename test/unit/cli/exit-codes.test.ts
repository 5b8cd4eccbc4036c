import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { taskExample, upgradeExample } from "../../../src/api/openapi/examples";
import type { Task } from "../../../src/domain/spec/task";
import { FakeApi, sse } from "../../support/fake-api";
import { type CliRun, Upgradectl } from "../../support/run-upgradectl";

const { id } = upgradeExample;

describe("upgradectl, how it ends", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  const folder = mkdtempSync(join(tmpdir(), "upgradectl-files-"));
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url };
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  /** An error: its code, nothing in the result, and exactly one next step. */
  function expectError({ code, stdout, stderr }: CliRun, expected: number, ...words: string[]): void {
    expect(code, stderr).to.equal(expected);
    expect(stdout).to.equal("");
    expect(stderr.match(/^Next: /gm), stderr).to.have.length(1);
    for (const word of words) expect(stderr).to.contain(word);
  }

  /** Nobody listens there: the port of discard is none that programs get. */
  const away = "http://127.0.0.1:9";

  const file = (content: string) => {
    const path = join(folder, "request.yaml");
    writeFileSync(path, content);
    return path;
  };

  it("0: help, of the program and of each command, has examples", async () => {
    for (const args of [["--help"], ["start", "--help"], ["watch", "--help"], ["completion", "--help"]]) {
      const { code, stdout, stderr } = await cli.run(args);
      expect([code, stderr]).to.deep.equal([0, ""]);
      expect(stdout).to.match(/Usage: upgradectl/);
    }
    const { stdout } = await cli.run(["--help"]);
    expect(stdout).to.contain("Exit codes").and.to.contain("UPGRADECTL_TOKEN").and.to.contain("Examples:");
    expect((await cli.run(["reschedule", "--help"])).stdout).to.contain("upgradectl reschedule ID --now");
  });

  it("2: a command, argument, option or value that there is not", async () => {
    for (const args of [["strat"], ["get"], ["list", "--colour"], ["list", "-o", "xml"], ["start"], []])
      expect((await cli.run(args)).code, args.join(" ")).to.equal(2);
    expectError(await cli.run(["strat"]), 2, "unknown command 'strat'", "Did you mean start?");
    expectError(await cli.run(["reschedule", id]), 2, "needs a time");
    expect((await cli.run(["reschedule", id, "--now", "--at", "2036-01-06T02:00:00Z"])).code).to.equal(2);
    expect(api.received).to.deep.equal([]);
  });

  it("2: a file that is not there, or contains no request", async () => {
    expectError(await cli.run(["start", "-f", join(folder, "none.json")]), 2, "cannot be read");
    expectError(await cli.run(["start", "-f", file("{")]), 2, "neither JSON nor YAML");
    expectError(await cli.run(["plan", "-f", file("- 1")]), 2, "contains no request");
    expect(api.received).to.deep.equal([]);
  });

  it("2: an address that is no HTTP URL", async () => {
    expectError(await cli.run(["list", "--server", "ftp://example.com"]), 2, "not an HTTP URL");
    expectError(await cli.run(["list", "--server", "http://me:secret@example.com"]), 2);
  });

  it("3: nobody answers, and a start tells the key with which it can be sent again", async () => {
    const { url } = api;
    await api.stop();
    expectError(await cli.run(["list"]), 3, url, "ECONNREFUSED");
    expectError(await cli.run(["watch", id]), 3);
    const run = await cli.run(["start", "-f", file("{}"), "--idempotency-key", "my-key", "--yes"]);
    expectError(run, 3, "--idempotency-key my-key");
    api = await FakeApi.start();
  });

  it("3: something else answers", async () => {
    api.on("GET /v1/bundles", (_request, response) => response.writeHead(200).end("<html>"));
    expectError(await cli.run(["bundles"]), 3, "is not an upgrade management service");
    api.answer("GET /v1/bundles", 200, { elements: [{ nothing: "here" }] });
    expectError(await cli.run(["bundles"]), 3);
    api.answer("GET /v1/bundles", 503, { message: "Too many." });
    expectError(await cli.run(["bundles"]), 3, "Too many.");
  });

  it("4: the service refuses, with all that is wrong and its own remediation", async () => {
    api.answer("POST /v1/upgrades", 400, {
      message: "The request has 2 problems.",
      errorCode: "INVALID_REQUEST",
      remediationMessage: "Correct them.",
      referenceToken: "ref-1",
      nestedErrors: [{ message: "bundleId is required." }, { message: "x is wrong.", errorCode: "INVALID_FIELD" }],
    });
    const run = await cli.run(["start", "-f", file("{}"), "--yes", "-o", "json"]);
    expectError(run, 4, "bundleId is required.", "x is wrong. (INVALID_FIELD)", "ref-1", "Next: Correct them.");
    for (const status of [403, 404, 409, 424]) {
      api.answer(`POST /v1/upgrades/${id}/pause`, status, { message: "No.", remediationMessage: "Wait." });
      expectError(await cli.run(["pause", id]), 4, "Error: No.", "Next: Wait.");
    }
  });

  /** Each command that speaks to the service, with what it asks first. */
  const commands: readonly (readonly [route: string, args: () => readonly string[]])[] = [
    ["POST /v1/upgrades", () => ["start", "-f", file("{}"), "--yes"]],
    ["POST /v1/upgrades", () => ["start", "-f", file("{}"), "--yes", "--watch"]],
    ["POST /v1/upgrades/preview", () => ["plan", "-f", file("{}")]],
    ["GET /v1/upgrades", () => ["list"]],
    [`GET /v1/upgrades/${id}`, () => ["get", id]],
    [`GET /v1/tasks/${id}/events`, () => ["watch", id]],
    ["GET /v1/bundles", () => ["bundles"]],
    [`GET /v1/bundles/${id}`, () => ["bundles", id]],
    ["GET /v1/clusters", () => ["clusters"]],
    [`GET /v1/clusters/${id}`, () => ["clusters", id]],
    [`PATCH /v1/upgrades/${id}`, () => ["commit", id, "--yes"]],
    [`PATCH /v1/upgrades/${id}`, () => ["commit", id, "--yes", "--watch"]],
    [`PATCH /v1/upgrades/${id}`, () => ["reschedule", id, "--now", "--yes"]],
    [`POST /v1/upgrades/${id}/pause`, () => ["pause", id]],
    [`POST /v1/upgrades/${id}/resume`, () => ["resume", id]],
    [`POST /v1/upgrades/${id}/resolve`, () => ["resolve", id, "--yes"]],
    [`DELETE /v1/tasks/${id}`, () => ["cancel", id, "--yes"]],
    [`PATCH /v1/tasks/${id}`, () => ["retry", id, "--watch"]],
    [`POST /v1/upgrades/${id}/prechecks`, () => ["prechecks", id, "--watch"]],
    ["POST /v1/tokens", () => ["login", "-u", "alice", "--password-stdin"]],
  ];

  for (const [route, args] of commands) {
    const name = args()
      .slice(0, 1)
      .concat(args().filter((one) => one.startsWith("--")));
    it(`${name.join(" ")}: 1 where the service fails, 2 with an argument too many, 3 away, 4 refused, also as JSON`, async () => {
      for (const output of ["table", "json"]) {
        const run = () => {
          cli.stdin = "secret";
          return cli.run([...args(), "-o", output]);
        };
        api.answer(route, 500, { message: "Unforeseen.", errorCode: "UNEXPECTED" });
        expectError(await run(), 1, "Unforeseen.", "UNEXPECTED");
        api.answer(route, 409, { message: "Not now.", remediationMessage: "Wait." });
        expectError(await run(), 4, "Not now.", "Next: Wait.");
        api.answer(route, 502, { message: "Bad gateway." });
        expectError(await run(), 3);
        expectError(await cli.run([...args(), "-o", output, "--server", away]), 3, "not reachable");
        expect((await cli.run([...args(), "-o", output, "one", "too many"])).code).to.equal(2);
      }
    });
  }

  for (const [status, code] of [
    ["Successful", 0],
    ["COMPLETED_WITH_WARNING", 0],
    ["SKIPPED", 0],
    ["Failed", 1],
    ["Cancelled", 1],
  ] as const) {
    it(`${code}: an upgrade that is watched ends ${status}`, async () => {
      const errors = [{ message: "The bootbank is too small." }];
      const task: Task = { ...taskExample, status, isRetryable: status === "Failed", ...(code === 1 && { errors }) };
      api.on(`GET /v1/tasks/${id}/events`, (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(sse("snapshot", task, "x.1") + sse("end", { status }));
      });
      const run = await cli.run(["watch", id, "-o", "json"]);
      expect(run.code).to.equal(code);
      const lines = run.stdout.trimEnd().split("\n");
      expect(lines.map((line) => JSON.parse(line) as unknown)).to.deep.equal([
        { event: "snapshot", task },
        { event: "end", task },
      ]);
      if (code === 1) expect(run.stderr).to.contain(`${status}: The bootbank is too small.`).and.to.contain("Next: ");
      if (status === "Failed") expect(run.stderr).to.contain(`upgradectl retry ${id}`);
    });
  }

  it("130: Ctrl-C ends the watching only", async () => {
    api.on(`GET /v1/tasks/${id}/events`, (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse("snapshot", taskExample, "x.1"));
      cli.interruption.abort();
    });
    const { code, stderr } = await cli.run(["watch", id]);
    expect(code).to.equal(130);
    expect(stderr).to.contain("the upgrade continues").and.to.contain(`upgradectl watch ${id}`);
  });
});
