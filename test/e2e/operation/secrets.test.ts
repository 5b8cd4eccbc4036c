import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { hashPassword } from "../../../src/authentication/users";
import type { Task } from "../../../src/domain/spec/task";
import { ConfigWithReceiver } from "../../support/config-with-receiver";
import { allRuns, rawWorkflow, textIn } from "../../support/raw-history";
import { secretScan, type SecretScan } from "../../support/secret-scan";
import { startTraceReceiver, type TraceReceiver } from "../../support/trace-receiver";
import { WebhookReceiver } from "../../support/webhook-receiver";
import { WireTap } from "../../support/wire-tap";
import { freePorts, until } from "../../support/service/deployment";
import { exampleNow } from "../../support/service/examples";
import { ServiceUnderTest } from "../../support/service/service-under-test";

/** With characters that JSON, XML and URLs write in another way. */
const passwords = {
  manager: `"<&>Zebra-of-the-manager-4711%20`,
  root: `'Zebra-of-the-root-4711\\`,
  user: "Zebra-of-the-user-4711",
  wrong: "Zebra-that-is-wrong-4711",
};
const signingKey = randomBytes(48).toString("base64");
const webhookKey = randomBytes(32).toString("base64");
const foreignToken = "a-token-that-nobody-has-given-4711";
const firstHost = "fra1-esx-01.mgmt.example.com";
/** What a scan must find where it is: it is no secret, and goes wherever an id of a request goes. */
const planted = "planted-4711-by-the-test";

describe("secrets", function () {
  this.timeout(240_000);
  let folder: string;
  let config: ConfigWithReceiver;
  let tap: WireTap;
  let traces: TraceReceiver;
  let service: ServiceUnderTest;
  let metricsUrls: readonly string[];
  /** Answers of the API with their headers, but for those whose purpose is to give a token. */
  const answers: string[] = [];
  const webhooks = new WebhookReceiver(`whsec_${webhookKey}`);
  const tokens: Record<string, string> = {};
  let tasks: Task[];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "ums-secrets-"));
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    [tap, traces] = await Promise.all([WireTap.start(), startTraceReceiver(), webhooks.start()]);
    config = new ConfigWithReceiver(`whsec_${webhookKey}`);
    config.addReceiver(webhooks.url);
    const inventory = readFileSync(config.inventory, "utf8");
    writeFileSync(
      config.inventory,
      inventory.replaceAll("http://${SIMULATOR_HOST:-127.0.0.1}:${SIMULATOR_PORT:-8090}", tap.url),
    );
    writeFileSync(join(dirname(config.inventory), "simulator-password.txt"), passwords.manager);
    writeFileSync(join(dirname(config.inventory), "temporary-root-password.txt"), passwords.root);
    const users = [{ username: "alice", role: "ADMIN", password: await hashPassword(passwords.user) }];
    const ports = await freePorts("api", "worker");
    metricsUrls = Object.values(ports).map((port) => `http://127.0.0.1:${port}/metrics`);
    service = await ServiceUnderTest.start({
      AUTH_MODE: "local",
      AUTH_USERS_FILE: file("users.yaml", JSON.stringify({ users })),
      AUTH_SIGNING_KEY_FILE: file("signing-key.txt", signingKey),
      INVENTORY_FILE: config.inventory,
      LOG_LEVEL: "trace",
      SIMULATOR_HOST_SECONDS: "0.2",
      POLL_MIN_MILLISECONDS: "50",
      API_METRICS_ADDRESS: `127.0.0.1:${ports.api}`,
      WORKER_METRICS_ADDRESS: `127.0.0.1:${ports.worker}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
      OTEL_BSP_SCHEDULE_DELAY: "200",
    });
    tap.target = service.simulatorUrl;
    tasks = await runStory();
  });
  after(async () => {
    await service.discard();
    await webhooks.stop();
    tap.close();
    traces.close();
    config.discard();
    rmSync(folder, { recursive: true });
  });

  /** Asks the API and keeps what it answers. */
  async function ask(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
    const init = { method, headers, ...(body !== undefined && { body }), signal: AbortSignal.timeout(30_000) };
    const response = await fetch(service.apiUrl + path, init);
    answers.push(`${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`);
    return response.status;
  }

  /** Logins, two upgrades with failures of hosts and of component managers, and requests that are refused. */
  async function runStory(): Promise<Task[]> {
    const json = { "content-type": "application/json" };
    const login = { username: "alice", password: passwords.user };
    const { body } = await service.post<{ accessToken: string; refreshToken: { id: string } }>("/v1/tokens", login);
    Object.assign(tokens, { access: body.accessToken, refresh: body.refreshToken.id });
    service.token = body.accessToken;
    const mine = { authorization: `Bearer ${body.accessToken}` };
    const wrong = JSON.stringify({ ...login, password: passwords.wrong });
    expect(await ask("POST", "/v1/tokens", json, wrong)).to.equal(403);
    expect(await ask("POST", "/v1/tokens", json, `${wrong}}`)).to.equal(400);
    for (const authorization of [`Bearer ${foreignToken}`, `Basic ${foreignToken}`])
      expect(await ask("GET", "/v1/upgrades", { authorization })).to.equal(403);
    expect(await ask("POST", "/v1/upgrades", { ...mine, ...json }, wrong)).to.equal(400);
    expect(await ask("GET", `/v1/nowhere?token=${foreignToken}`, mine)).to.equal(404);

    await service.fault({ kind: "REMEDIATION_FAILS", host: firstHost, times: 1, message: "bootbank is too small" });
    const ended: Task[] = [];
    for (const [spec, fault] of [
      [exampleNow("cluster-draft"), { kind: "LOGIN_REFUSED", times: 1 }],
      [exampleNow("platform"), { kind: "SESSIONS_EXPIRED" }],
    ] as const) {
      const started = await service.post<Task>("/v1/upgrades", spec, { "x-request-id": planted });
      expect(started.status).to.equal(202);
      await service.fault(fault);
      const { id } = started.body;
      ended.push(await service.taskWhen(id, "ended", ({ status }) => !/Pending|In Progress/.test(status), 120));
    }
    const paths = [
      "/v1/upgrades",
      "/v1/tasks",
      "/v1/clusters",
      "/v1/bundles",
      ...ended.map(({ id }) => `/v1/tasks/${id}`),
    ];
    for (const path of paths) expect(await ask("GET", path, mine)).to.equal(200);
    const resolve = `/v1/upgrades/${ended[0]?.id ?? ""}/resolve`;
    expect(await ask("POST", resolve, { ...mine, "x-request-id": planted })).to.equal(200);
    expect(await ask("GET", "/v1/tasks/unknown", { ...mine, "x-request-id": planted })).to.equal(404);
    await until("the receiver was told", () => webhooks.received.length > 0);
    return ended;
  }

  /** All that the service says or keeps, by where. */
  async function everything(): Promise<Record<string, string>> {
    const metrics = await Promise.all(metricsUrls.map(async (url) => (await fetch(url)).text()));
    const histories = await service.withTemporal(async (client) => {
      const runs = await allRuns(client);
      return Promise.all(
        runs.map(async ({ workflowId, runId }) => textIn(await rawWorkflow(client, workflowId, runId))),
      );
    });
    return {
      answers: answers.join("\n"),
      histories: histories.join("\n"),
      "log of the API": JSON.stringify(service.log("api")),
      "log of the worker": JSON.stringify(service.log("worker")),
      metrics: metrics.join("\n"),
      notifications: JSON.stringify(webhooks.received.map(({ event }) => event)),
      traces: traces.sent.join("\n"),
      "what is printed": service.printed,
    };
  }

  const foundBy = (scan: SecretScan, texts: Readonly<Record<string, string>>) =>
    Object.entries(texts).flatMap(([where, text]) => scan(text).map((name) => `${name} in ${where}`));

  it("are in no history, log, answer, metric, trace or notification, whatever product is upgraded, with failures", async () => {
    expect(tasks.map(({ status }) => status)).to.deep.equal(["Failed", "Successful"]);
    const products = tasks.flatMap(({ subTasks }) => subTasks?.map(({ type }) => type) ?? []);
    expect(products).to.include.members(["NETVIRT_UPGRADE", "MGMT_UPGRADE", "HOSTOS_UPGRADE"]);

    const kinds = [...tap.seen.keys()].map((name) => name.split(" ")[0]);
    expect(kinds).to.include.members(["authorization", "cookie", "session", "set-cookie", "vmware-api-session-id"]);
    const scan = secretScan({
      ...passwords,
      ...tokens,
      signingKey,
      webhookKey,
      foreignToken,
      "the receiver's address": "query-t0ken",
      ...Object.fromEntries(tap.seen),
    });
    expect(foundBy(scan, await everything())).to.deep.equal([]);
  });

  it("would be found: the scan finds what was planted with the id of a request", async () => {
    const texts = await everything();
    for (const where of ["answers", "histories", "log of the API", "log of the worker", "traces"])
      expect(foundBy(secretScan({ planted }), texts)).to.include(`planted in ${where}`);
    // Metrics and notifications take no text of a caller: that they are read is seen by words of their own.
    expect(texts["metrics"]).to.contain("ums_http_requests_total").and.contain("temporal_");
    expect(texts["notifications"]).to.contain("upgrade.failed");
    expect(texts["what is printed"]).to.contain("ready");
  });
});
