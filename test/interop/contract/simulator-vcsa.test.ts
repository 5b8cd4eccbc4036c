import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { Document } from "openapi-backend";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { SimulatorContext } from "../../../src/simulator/state/context";
import { vcsaApi } from "../../../src/simulator/vcsa/vcsa-api";
import { SimulatorClient, startTestSimulator, type TestClock, testConfig } from "../../unit/simulator/simulator-client";
import { type ContractChecker, createContractChecker } from "./contract-checker";
import { startValidatingProxy, type ValidatingProxy } from "./validating-proxy";

const document = JSON.parse(readFileSync(join(__dirname, "vcsa-update.openapi.json"), "utf8")) as Document;

const update = "/api/appliance/update";
const pending = `${update}/pending/9.0.1.0`;
const migration = "/api/vcenter/lcm/deployment/migration-upgrade";
/** The same where the upgrade service answers for itself. */
const ofUpgradeService = `/lcm${migration}`;
const network = {
  mode: "STATIC",
  ip_family: "IPV4",
  ip: "10.0.0.9",
  prefix: 24,
  gateway: "10.0.0.1",
  dns_servers: ["10.0.0.2"],
};
const spec = (settings: object = network) => ({
  version: "9.0.2.0",
  deployment: { appliance: { root_password: "Temp0rary!", network_settings: settings } },
});

describe("the simulator against the appliance's contract", () => {
  let checker: ContractChecker;
  let simulator: RunningSimulator;
  let control: SimulatorClient;
  let clock: TestClock;
  let proxy: ValidatingProxy;
  let client: SimulatorClient;
  const walked = new Set<string>();

  before(async () => {
    checker = await createContractChecker(document);
  });

  beforeEach(async () => {
    ({ simulator, client: control, clock } = await startTestSimulator());
    proxy = await startValidatingProxy({ target: simulator.url, document });
    client = new SimulatorClient(proxy.url);
    expect((await client.login()).status).to.equal(200);
  });

  afterEach(async () => {
    for (const call of proxy.calls) walked.add(call);
    await proxy.close();
    await simulator.close();
    // The contract has no 503, see docs/simulator.md.
    expect(proxy.violations.filter(({ status }) => status !== 503)).to.deep.equal([]);
  });

  const status = async (method: string, path: string, body?: unknown) => (await client.call(method, path, body)).status;
  const stateOf = async () => ((await client.call("GET", update)).body as { state: string }).state;
  const migrationState = async () => {
    const { body } = await client.call("GET", `${migration}/status`);
    const told = body as Record<string, unknown>;
    // A rule between fields, which the contract cannot say and the vendor's own client insists on.
    const hasEnded = ["SUCCEEDED", "FAILED", "CANCELED"].includes(String(told["status"]));
    expect("end_time" in told, `end_time of ${String(told["status"])}`).to.equal(hasEnded);
    return told;
  };

  it("answers its time, disks, backups and certificate, well and with each fault", async () => {
    const readAll = async () => {
      for (const path of [
        "/api/appliance/system/time",
        "/api/appliance/health/storage",
        "/api/appliance/recovery/backup/job/details",
        "/api/vcenter/certificate-management/vcenter/tls",
      ])
        expect(await status("GET", path), path).to.equal(200);
    };
    await readAll();
    for (const kind of ["MGMT_BACKUP_OLD", "MGMT_CERTIFICATE_EXPIRES", "MGMT_CLOCK_WRONG", "MGMT_DISK_FULL"])
      await control.fault({ kind });
    await readAll();
    await control.fault({ kind: "MGMT_PRECHECK_FAILS", warning: true });
    expect(await status("POST", `${pending}?action=precheck`, {})).to.equal(200);
  });

  it("answers an update in place, from the check to the new version", async () => {
    expect((await client.call("GET", "/api/appliance/system/version")).body).to.include({ version: "9.0.0.0" });
    expect(await stateOf()).to.equal("UPDATES_PENDING");
    expect((await client.call("GET", `${update}/pending?source_type=LOCAL_AND_ONLINE`)).body).to.have.length(2);
    const precheck = await client.call("POST", `${pending}?action=precheck`, {});
    expect(checker.checkSchema("Appliance.Update.Pending.PrecheckResult", precheck.body)).to.deep.equal([]);
    expect(await status("GET", `${update}/staged`)).to.equal(400);
    expect(await status("POST", `${pending}?action=install`, { user_data: {} })).to.equal(400);

    expect(await status("POST", `${pending}?action=stage`, {})).to.equal(204);
    clock.advance(10);
    expect(await stateOf()).to.equal("STAGE_IN_PROGRESS");
    expect((await client.call("GET", `${update}/staged`)).body).to.include({ staging_complete: false });
    clock.advance(60);
    expect((await client.call("GET", `${update}/staged`)).body).to.include({ staging_complete: true });
    expect(await status("POST", `${pending}?action=validate`, { user_data: {} })).to.equal(200);

    expect(await status("POST", `${pending}?action=install`, { user_data: {} })).to.equal(204);
    clock.advance(20);
    expect(await stateOf()).to.equal("INSTALL_IN_PROGRESS");
    clock.advance(26);
    expect(await status("GET", update)).to.equal(503);
    clock.advance(20);
    const dropped = await client.call("GET", update).then(
      () => "answered",
      () => "dropped",
    );
    expect(dropped).to.equal("dropped");
    clock.advance(100);
    expect(await status("GET", update)).to.equal(401);
    await client.login();
    expect(await stateOf()).to.equal("UPDATES_PENDING");
    expect((await client.call("GET", "/api/appliance/system/version")).body).to.include({ version: "9.0.1.0" });
  });

  it("answers a cancelled staging, a failed installation and a rollback", async () => {
    await client.call("POST", `${pending}?action=stage`, {});
    expect(await status("POST", `${update}?action=cancel`)).to.equal(204);
    expect(await status("POST", `${update}?action=cancel`)).to.equal(400);
    for (const [kind, during, after] of [
      ["MGMT_INSTALL_ROLLS_BACK", "ROLLBACK_IN_PROGRESS", "UPDATES_PENDING"],
      ["MGMT_INSTALL_FAILS", "INSTALL_FAILED", "INSTALL_FAILED"],
    ] as const) {
      await control.fault({ kind, times: 1 });
      await client.call("POST", `${pending}?action=stage`, {});
      clock.advance(60);
      expect(await status("POST", `${pending}?action=install`, { user_data: {} })).to.equal(204);
      clock.advance(151);
      await client.login();
      expect(await stateOf()).to.equal(during);
      clock.advance(100);
      expect(await stateOf()).to.equal(after);
    }
    expect(await status("POST", `${pending}?action=stage`, {})).to.equal(400);
    await control.call("DELETE", "/simulator/faults");
    expect(await stateOf()).to.equal("UPDATES_PENDING");
  });

  it("answers a migration, from the check to the switchover", async () => {
    expect(await status("GET", migration)).to.equal(404);
    expect(await migrationState()).to.include({ status: "PENDING" });
    const { body: task } = await client.call("POST", `${migration}?action=check&vmw-task=true`, spec());
    await client.call("GET", `/api/cis/tasks/${String(task)}`);
    clock.advance(20);
    const { result } = (await client.call("GET", `/api/cis/tasks/${String(task)}`)).body as { result: unknown };
    expect(checker.checkSchema("Vcenter.Lcm.Deployment.MigrationUpgrade.ValidationResult", result)).to.deep.equal([]);

    expect(await status("PUT", migration, spec())).to.equal(204);
    clock.advance(10);
    expect(await migrationState()).to.include({ current_state: "INITIALIZED", status: "SUCCEEDED" });
    expect((await client.call("GET", migration)).body).to.not.have.nested.property(
      "deployment.appliance.root_password",
      "Temp0rary!",
    );
    expect(await status("POST", `${pending}?action=stage`, {})).to.equal(400);
    expect(await status("POST", `${migration}?action=apply`, { pause: "BEFORE_SWITCHOVER" })).to.equal(204);
    expect(await migrationState()).to.include({ current_state: "STAGING", status: "RUNNING" });
    clock.advance(150);
    expect(await migrationState()).to.include({ current_state: "PREPARED", status: "SUCCEEDED" });
    clock.advance(86_400);
    expect(await migrationState()).to.include({ current_state: "PREPARED" });
    expect(await status("POST", `${migration}?action=apply`, {})).to.equal(204);
    expect(await migrationState()).to.include({ current_state: "SWITCHOVER" });
    clock.advance(15);
    expect((await control.call("GET", "/api/vcenter/cluster")).status, "also the lifecycle manager").to.equal(503);
    clock.advance(90);
    await client.login();
    expect(await migrationState()).to.include({ current_state: "UPGRADED" });
    expect((await client.call("GET", "/api/appliance/system/version")).body).to.include({ version: "9.0.2.0" });
    expect(await status("GET", `${update}/pending?source_type=LOCAL`)).to.equal(404);
    expect(JSON.stringify(await control.ledger())).to.not.include("Temp0rary!");
  });

  it("has the upgrade service answer for itself, by user and password, and during the switchover", async () => {
    const basic = { authorization: `Basic ${Buffer.from("operator:any").toString("base64")}` };
    const ask = async (method: string, path: string, body?: unknown, headers: object = basic) => {
      const answer = await fetch(`${proxy.url}${path}`, {
        method,
        headers: { ...headers, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === "" ? undefined : (JSON.parse(text) as Record<string, unknown>) };
    };
    const state = async () => (await ask("GET", `${ofUpgradeService}/status`)).body;
    expect((await fetch(`${simulator.url}${ofUpgradeService}/status`)).status).to.equal(401);
    const session = await fetch(`${simulator.url}/api/session`, { method: "POST", headers: basic });
    const headers = { "vmware-api-session-id": (await session.json()) as string };
    expect((await fetch(`${simulator.url}${ofUpgradeService}/status`, { headers })).status).to.equal(401);

    const checked = await ask("POST", `${ofUpgradeService}?action=check&vmw-task=true`, spec());
    expect((await ask("GET", `/lcm/api/cis/tasks/${String(checked.body)}`)).status).to.equal(200);
    expect((await ask("PUT", ofUpgradeService, spec())).status).to.equal(204);
    expect((await ask("GET", ofUpgradeService)).body).to.include({ version: "9.0.2.0" });
    clock.advance(10);
    await ask("POST", `${ofUpgradeService}?action=apply`, { pause: "BEFORE_SWITCHOVER" });
    clock.advance(150);
    expect(await state()).to.include({ current_state: "PREPARED" });
    expect((await ask("POST", `${ofUpgradeService}?action=apply`, {})).status).to.equal(204);
    expect(await state()).to.include({ current_state: "SWITCHOVER" });
    clock.advance(25);
    const dropped = (path: string) =>
      fetch(`${simulator.url}${path}`, { headers: basic }).then(
        () => false,
        () => true,
      );
    expect(await dropped(`${migration}/status`), "the machine's API is away").to.equal(true);
    expect(await state()).to.include({ current_state: "SWITCHOVER", status: "RUNNING" });
    clock.advance(25);
    expect(await dropped(`${ofUpgradeService}/status`), "the machines change places").to.equal(true);
    clock.advance(20);
    expect(await state()).to.include({ current_state: "SWITCHOVER" });
    clock.advance(40);
    expect(await state()).to.include({ current_state: "UPGRADED" });
  });

  it("has the migration of an older source at the upgrade service only", async () => {
    await simulator.close();
    ({ simulator } = await startTestSimulator({ config: testConfig({ managementServer: { version: "8.0.3.0" } }) }));
    const basic = { authorization: `Basic ${Buffer.from("operator:any").toString("base64")}` };
    const session = await fetch(`${simulator.url}/api/session`, { method: "POST", headers: basic });
    const headers = { "vmware-api-session-id": (await session.json()) as string };
    expect((await fetch(`${simulator.url}${migration}/status`, { headers })).status).to.equal(404);
    expect((await fetch(`${simulator.url}${ofUpgradeService}/status`, { headers: basic })).status).to.equal(200);
  });

  it("answers a migration that is refused, fails, is blocked and is cancelled", async () => {
    const { dns_servers: _, ...withoutDns } = network;
    expect(await status("PUT", migration, spec(withoutDns))).to.equal(400);
    const both = { pause: "BEFORE_SWITCHOVER", start_switchover: "2026-12-24T00:00:00.000Z" };
    expect(await status("POST", `${migration}?action=apply`, both)).to.equal(400);
    expect(await status("POST", `${migration}?action=cancel`)).to.equal(400);

    await control.fault({ kind: "MGMT_ADDRESS_CLASH", times: 1 });
    const { body: task } = await client.call("POST", `${migration}?action=check&vmw-task=true`, spec());
    clock.advance(20);
    const { result } = (await client.call("GET", `/api/cis/tasks/${String(task)}`)).body as { result: unknown };
    expect(JSON.stringify(result)).to.include("10.0.0.9 is in use");

    await control.fault({ kind: "MGMT_MIGRATION_FAILS", times: 1 });
    await control.fault({ kind: "MGMT_BLOCKED", state: "STAGING", times: 1, seconds: 50 });
    expect(await status("PUT", migration, spec())).to.equal(204);
    expect(await status("PUT", migration, spec())).to.equal(400);
    clock.advance(10);
    await client.call("POST", `${migration}?action=apply`, { pause: "BEFORE_SWITCHOVER" });
    clock.advance(20);
    expect(await migrationState()).to.include({ current_state: "STAGING", status: "BLOCKED" });
    clock.advance(300);
    expect(await migrationState()).to.include({ current_state: "PREPARING", status: "FAILED" });
    expect(await status("POST", `${migration}?action=cancel`)).to.equal(204);
    expect(await migrationState()).to.include({ current_state: "CANCELING" });
    clock.advance(30);
    expect(await migrationState()).to.include({ current_state: "CANCELED", status: "CANCELED" });
  });

  after(async function () {
    // Says something only after a full run, not where a part was selected.
    if (!this.test?.parent?.tests.every(({ state }) => state === "passed")) return;
    const context = await SimulatorContext.open({
      config: testConfig(),
      hostSeconds: 0,
      now: Date.now,
      log: () => undefined,
    });
    const paths = [...walked].map((call) => call.replace(/\?.*$/, "").split(" "));
    const missed = vcsaApi(context)
      .stack.filter(({ methods }) => methods.length > 0)
      .flatMap(({ methods, path, regexp }) =>
        methods
          .filter((method) => method !== "HEAD" && !paths.some(([m, p]) => m === method && regexp.test(p ?? "")))
          .map((method) => `${method} ${String(path)}`),
      );
    expect(missed, "routes that no test called").to.deep.equal([]);
  });
});
