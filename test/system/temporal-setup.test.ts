import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Connection } from "@temporalio/client";
import { expect } from "chai";
import { either } from "fp-ts";
import { readConfig } from "../../src/config";
import { type DevServer, retentionSeconds, startDevServer } from "../../src/temporal/dev-server";
import { findTemporalCli } from "../../src/temporal/find-temporal-cli";

const keyword = 2;
const keywordList = 7;
const searchAttributes = {
  UpgradeStatus: keyword,
  TaskStatus: keyword,
  BundleId: keyword,
  BundleType: keyword,
  ResourceIds: keywordList,
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

async function cliPath(): Promise<string> {
  const config = readConfig();
  if (either.isLeft(config)) throw new Error(config.left.join("\n"));
  const { cacheDir, environment, temporal } = config.right;
  const root = resolve(__dirname, "../..");
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
    const [port, uiPort] = [await freePort(), await freePort()];
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

  it("embedded, has the search attributes and 90 days of retention, also when it is started again", async () => {
    const wanted = { retention: retentionSeconds, customAttributes: searchAttributes };
    expect(await settings("embedded")).to.deep.equal(wanted);
    await server.stop();
    server = await startEmbedded();
    expect(await settings("embedded")).to.deep.equal(wanted);
  });

  it("of docker-compose.yml gets the same from its job, however often that runs", async () => {
    const bin = join(dataDir, "bin-temporal");
    symlinkSync(cli, join(dataDir, "temporal"));
    const env = {
      PATH: `${dataDir}:/usr/bin:/bin`,
      HOME: bin,
      TEMPORAL_ADDRESS: server.address,
      TEMPORAL_NAMESPACE: "compose",
    };
    const script = resolve(__dirname, "../../config/temporal/setup-namespace.sh");
    for (let i = 0; i < 2; i++) {
      await promisify(execFile)("sh", [script], { env });
      expect(await settings("compose")).to.deep.equal({
        retention: retentionSeconds,
        customAttributes: searchAttributes,
      });
    }
  });
});
