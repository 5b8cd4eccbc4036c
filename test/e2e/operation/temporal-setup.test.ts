import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Client, Connection } from "@temporalio/client";
import { expect } from "chai";
import { either } from "fp-ts";
import pino from "pino";
import { readConfig } from "../../../src/config";
import { type DevServer, retentionSeconds, startDevServer } from "../../../src/temporal/dev-server";
import { findTemporalCli } from "../../../src/temporal/find-temporal-cli";
import { startWarning, temporalReadiness } from "../../../src/temporal/readiness";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import type { ServiceError } from "../../../src/upgrades/service-error";
import { samplePlan } from "../../support/sample-plan";
import { freePorts, until } from "../../support/service/deployment";

const root = resolve(__dirname, "../../..");

const text = 1;
const keyword = 2;
const datetime = 6;
const keywordList = 7;
const searchAttributes = {
  UpgradeStatus: keyword,
  TaskStatus: keyword,
  BundleId: keyword,
  BundleType: keyword,
  ResourceIds: keywordList,
  UpgradePhase: keyword,
  SearchTerms: keywordList,
  ChangeId: keyword,
  Labels: keywordList,
  CreatedAt: datetime,
  ClusterNames: text,
  TargetVersion: keyword,
  RequestedBy: keyword,
  StartsAt: datetime,
};

async function cliPath(): Promise<string> {
  const config = readConfig();
  if (either.isLeft(config)) throw new Error(config.left.join("\n"));
  const { cacheDir, environment, temporal } = config.right;
  const downloadScript = join(root, "scripts/download-temporal-cli.mjs");
  return findTemporalCli({ cliPath: temporal.cliPath, cacheDir, environment, downloadScript, say: () => undefined });
}

describe("a Temporal server for the service", function () {
  this.timeout(120_000);
  let dataDir: string;
  let server: DevServer;
  let cli: string;

  before(async () => {
    cli = await cliPath();
    dataDir = mkdtempSync(join(tmpdir(), "temporal-setup-"));
    server = await startEmbedded();
  });
  after(async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function startEmbedded(): Promise<DevServer> {
    const { port, uiPort } = await freePorts("port", "uiPort");
    return startDevServer({ cliPath: cli, dataDir, port, uiPort, namespace: "embedded", onLine: () => undefined });
  }

  async function settings(namespace: string) {
    const connection = await Connection.connect({ address: server.address });
    try {
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      return { retention: Number(config?.workflowExecutionRetentionTtl?.seconds), customAttributes };
    } finally {
      await connection.close();
    }
  }

  it("embedded, is ended where its database interrupts every call", async () => {
    const program = join(dataDir, "interrupted.mjs");
    const line = JSON.stringify({ level: "ERROR", error: "GetNamespace operation failed. Error interrupted (9)" });
    writeFileSync(program, `#!${process.execPath}\nsetInterval(() => console.log(${JSON.stringify(line)}), 50);\n`);
    chmodSync(program, 0o700);
    const { port, uiPort } = await freePorts("port", "uiPort");
    const options = { cliPath: program, dataDir, port, uiPort, namespace: "embedded", onLine: () => undefined };
    const thrown = await startDevServer(options).catch((error: unknown) => error);
    expect(String(thrown)).to.contain("its database had interrupted calls for five seconds, so it was killed");
  });

  it("embedded, has the search attributes and 90 days of retention, also when it is started again", async () => {
    const wanted = { retention: retentionSeconds, customAttributes: searchAttributes };
    expect(await settings("embedded")).to.deep.equal(wanted);
    await server.stop();
    server = await startEmbedded();
    expect(await settings("embedded")).to.deep.equal(wanted);
  });

  /** Runs the set-up job on a namespace, as docker-compose.yml or an operator does. */
  function setUp(namespace: string, environment: NodeJS.ProcessEnv) {
    const script = resolve(root, "config/temporal/setup-namespace.sh");
    const env = { HOME: dataDir, TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: namespace, ...environment };
    return promisify(execFile)("sh", [script], { env });
  }

  it("of docker-compose.yml gets the same from its job, however often that runs", async () => {
    symlinkSync(cli, join(dataDir, "temporal"));
    for (let i = 0; i < 2; i++) {
      await setUp("compose", { PATH: `${dataDir}:/usr/bin:/bin` });
      expect(await settings("compose")).to.deep.equal({
        retention: retentionSeconds,
        customAttributes: searchAttributes,
      });
    }
  });

  it("that nobody has set up is told by the start, by readiness and by a POST, until the job has run", async () => {
    const connection = Connection.lazy({ address: server.address });
    const client = new Client({ connection, namespace: "plain" });
    const place = { address: server.address, namespace: "plain" };
    const ready = temporalReadiness(client, place);
    const executions = temporalUpgradeExecutions(client, pino({ level: "silent" }));
    const start = executions.start(samplePlan(), { requestedBy: "a test" });
    try {
      const missing = { _tag: "TemporalNotSetUp", lacking: "namespace plain is missing" };
      expect(await ready()).to.deep.equal(either.left(missing));
      expect(await start()).to.deep.equal(either.left(missing));

      await promisify(execFile)(cli, ["operator", "namespace", "create", "-n", "plain", "--address", server.address]);
      await until("the new namespace is known", async () => !isMissing(await ready()));
      const names = "UpgradeStatus (Keyword), TaskStatus (Keyword), BundleId (Keyword), BundleType (Keyword)";
      const more = "ResourceIds (KeywordList), UpgradePhase (Keyword), SearchTerms (KeywordList)";
      const last = "ChangeId (Keyword), Labels (KeywordList), CreatedAt (Datetime)";
      const readable = "ClusterNames (Text), TargetVersion (Keyword), RequestedBy (Keyword), StartsAt (Datetime)";
      const lacking = `namespace plain lacks the search attributes ${names}, ${more}, ${last}, ${readable}`;
      expect(await ready()).to.deep.equal(either.left({ _tag: "TemporalNotSetUp", lacking }));
      expect(await startWarning(client, place)).to.equal(
        `Temporal at ${server.address} is not set up for upgrades: ${lacking}. Set it up with: ` +
          `TEMPORAL_ADDRESS=${server.address} TEMPORAL_NAMESPACE=plain sh config/temporal/setup-namespace.sh`,
      );
      expect(await start())
        .to.have.nested.property("left.lacking")
        .that.matches(/^search attribute \w+ is missing$/);
      expect(await executions.list({ status: ["DRAFT"] })()).to.have.nested.property(
        "left.lacking",
        "search attribute UpgradeStatus is missing",
      );

      await setUp("plain", { PATH: "/usr/bin:/bin", TEMPORAL_CLI_PATH: cli });
      expect(await ready()).to.deep.equal(either.right(undefined));
      await until("upgrades start", async () => either.isRight(await start()));
    } finally {
      await connection.close();
    }
  });

  it("that takes connections and does not answer is told within 3 s", async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket));
    await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    // Without the library's attempts to call again, which would outlive the connection.
    const connection = Connection.lazy({ address, interceptors: [] });
    const began = Date.now();
    const answer = await temporalReadiness(new Client({ connection }), { address, namespace: "default" })();
    expect(Date.now() - began).to.be.below(3_000);
    expect(answer).to.have.nested.property("left.problems[0].code", "TEMPORAL_UNREACHABLE");
    expect(answer).to.have.nested.property("left.problems[0].message", `Temporal at ${address} does not answer.`);
    await connection.close();
    // A client that has been told nothing leaves its side open.
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

const isMissing = (answer: either.Either<ServiceError, void>) =>
  either.isLeft(answer) && answer.left._tag === "TemporalNotSetUp" && answer.left.lacking.endsWith("missing");
