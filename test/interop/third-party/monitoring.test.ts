import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { askAlertmanager, askPrometheus } from "../../../activities/checks/ask-monitoring";
import type { CheckAnswer } from "../../../src/domain/checks/own-check";
import type { InventoryContent } from "../../../src/inventory/inventory-content";
import { ownChecks } from "../../../src/inventory/own-checks";
import { secretReader } from "../../../src/inventory/read-secret";
import { eventually } from "../../support/eventually";

type Check = NonNullable<InventoryContent["checks"]>[number];

/** Two series that stay, and an alert for each of two hosts. */
const rules = `groups:
- name: hosts
  interval: 1s
  rules:
  - { record: healthy, expr: vector(1), labels: { instance: esx-1 } }
  - { record: healthy, expr: vector(0), labels: { instance: esx-2 } }
  - { alert: HostDown, expr: healthy == 0, labels: { severity: critical } }
  - { alert: DiskFull, expr: healthy == 1, labels: { severity: warning } }
`;

describe("Own checks, asked of Prometheus and Alertmanager", function () {
  this.timeout(60_000);
  const running: ChildProcess[] = [];
  let folder: string;
  let prometheus: string;
  let alertmanager: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "ums-monitoring-"));
    const file = (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const route = "route: { receiver: nobody, group_wait: 1s }\nreceivers: [{ name: nobody }]\n";
    alertmanager = await start("ALERTMANAGER", [
      `--config.file=${file("alertmanager.yml", route)}`,
      `--storage.path=${join(folder, "alertmanager")}`,
      "--cluster.listen-address=",
    ]);
    const targets = JSON.stringify([new URL(alertmanager).host]);
    const config = `global: { evaluation_interval: 1s }
rule_files: [${JSON.stringify(file("rules.yml", rules))}]
alerting: { alertmanagers: [{ static_configs: [{ targets: ${targets} }] }] }
`;
    const address = await start("PROMETHEUS", [
      `--config.file=${file("prometheus.yml", config)}`,
      `--storage.tsdb.path=${join(folder, "prometheus")}`,
      // It has not found Alertmanager when it sends its alerts for the first time.
      "--rules.alert.resend-delay=1s",
      "--web.external-url=http://monitoring.example.com/prometheus/",
    ]);
    prometheus = `${address}/prometheus`;
    await eventually(
      () => query({ query: "count(healthy)", condition: { operator: "EQ", value: 2 } }),
      ({ verdict }) => verdict === "PASSED",
    );
    await eventually(
      () => alerts('alertname=~".+"'),
      ({ text }) => text.startsWith("2 alerts active"),
      45_000,
    );
  });
  after(async () => {
    for (const child of running) {
      const ended = new Promise((resolve) => child.once("close", resolve));
      if (child.kill()) await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a program that listens at a free port. Gives its address. */
  function start(variable: string, args: readonly string[]): Promise<string> {
    const program = process.env[variable];
    if (!program) throw new Error(`${variable} is not set: run these tests by npm test -- interop/third-party`);
    const child = spawn(program, [...args, "--web.listen-address=127.0.0.1:0"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    running.push(child);
    return new Promise((resolve, reject) => {
      let said = "";
      child.stderr.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        const [, address] = /"Listening on" address=(\S+)/.exec(said) ?? [];
        if (address !== undefined) resolve(`http://${address}`);
      });
      child.once("error", reject);
      child.once("close", (code) => reject(new Error(`${program} ended with ${code}: ${said}`)));
    });
  }

  /** The answer to a check as the inventory has it. */
  function ask(fields: Partial<Check> & Pick<Check, "kind">): Promise<CheckAnswer> {
    const problems: string[] = [];
    const check: Check = { id: "check", at: ["BEFORE_HOST"], onFailure: "WAIT", ...fields };
    const definition = ownChecks([check], secretReader(folder, {}), problems).get("check")?.definition;
    expect(problems).to.deep.equal([]);
    if (definition?.kind === "PROMETHEUS") return askPrometheus(definition);
    return definition?.kind === "ALERTMANAGER" ? askAlertmanager(definition) : expect.fail("has no definition");
  }

  const query = (fields: Pick<Check, "query" | "condition" | "emptyPasses">) =>
    ask({ kind: "PROMETHEUS", url: prometheus, ...fields });
  const alerts = (...filter: string[]) => ask({ kind: "ALERTMANAGER", url: alertmanager, filter });
  const isOne = { operator: "EQ", value: 1 } as const;

  it("a query passes where every sample meets the condition, also one of arithmetic", async () => {
    expect(await query({ query: 'healthy{instance="esx-1"}', condition: isOne })).to.deep.equal({
      verdict: "PASSED",
      text: "1 sample = 1.",
    });
    const ratio = "sum(healthy) / count(healthy)";
    expect((await query({ query: ratio, condition: { operator: "LT", value: 0.6 } })).verdict).to.equal("PASSED");
    expect((await query({ query: "scalar(sum(healthy))", condition: isOne })).verdict).to.equal("PASSED");
  });

  it("a query names the samples that do not meet it; NaN and nothing do not pass", async () => {
    expect(await query({ query: "healthy", condition: isOne })).to.deep.equal({
      verdict: "FAILED",
      text: '1 of 2 samples not = 1: healthy{instance="esx-2"} is 0.',
    });
    expect((await query({ query: "vector(0) / 0", condition: { operator: "NE", value: 1 } })).verdict).to.equal(
      "FAILED",
    );
    expect(await query({ query: "absent(healthy)", condition: isOne })).to.deep.equal({
      verdict: "FAILED",
      text: "The query has no samples.",
    });
    expect((await query({ query: "absent(healthy)", condition: isOne, emptyPasses: true })).verdict).to.equal("PASSED");
  });

  it("a query that is wrong, or gives ranges, has no verdict", async () => {
    expect(await query({ query: "sum(", condition: isOne })).to.deep.equal({
      verdict: "UNANSWERED",
      text: "It answered 400.",
    });
    expect((await query({ query: "healthy[1m]", condition: isOne })).verdict).to.equal("UNANSWERED");
  });

  it("alerts that meet all matchers keep from passing, until they are silenced", async () => {
    const critical = 'severity="critical"';
    expect(await alerts(critical)).to.deep.equal({ verdict: "FAILED", text: "1 alert active: HostDown (esx-2)." });
    expect(await alerts(critical, 'instance=~"esx-[13]"')).to.deep.equal({
      verdict: "PASSED",
      text: "No matching alert is active.",
    });
    expect((await alerts('severity!="info"')).text).to.match(/^2 alerts active: /);
    await silence("HostDown");
    const { verdict } = await eventually(
      () => alerts(critical),
      (answer) => answer.verdict === "PASSED",
    );
    expect(verdict).to.equal("PASSED");
    expect((await alerts('severity="warning"')).text).to.equal("1 alert active: DiskFull (esx-1).");
  });

  it("a matcher that is none has no verdict", async () => {
    expect(await alerts("severity")).to.deep.equal({ verdict: "UNANSWERED", text: "It answered 400." });
  });

  async function silence(alertname: string): Promise<void> {
    const now = Date.now();
    const response = await fetch(`${alertmanager}/api/v2/silences`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        matchers: [{ name: "alertname", value: alertname, isRegex: false, isEqual: true }],
        startsAt: new Date(now).toISOString(),
        endsAt: new Date(now + 3_600_000).toISOString(),
        createdBy: "a test",
        comment: "silenced",
      }),
    });
    expect(response.status).to.equal(200);
  }
});
