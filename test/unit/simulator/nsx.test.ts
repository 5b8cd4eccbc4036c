import { expect } from "chai";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { nsxConfig, NsxTestClient, nsxVersions } from "./nsx-client";
import { startTestSimulator, type TestClock } from "./simulator-client";

describe("the simulated NETVIRT manager (100 s a host)", () => {
  let running: RunningSimulator[];
  let client: NsxTestClient;
  let clock: TestClock;

  const start = async (options: Parameters<typeof startTestSimulator>[0] = {}) => {
    const { simulator, clock: itsClock } = await startTestSimulator({ config: nsxConfig(), ...options });
    running.push(simulator);
    client = new NsxTestClient(simulator.url);
    clock = itsClock;
  };
  beforeEach(() => {
    running = [];
  });
  afterEach(() => Promise.all(running.map((simulator) => simulator.close())));

  /** The most nodes in work at the same moment, by the ledger. */
  async function mostAtOnce(inWork: (node: string) => string): Promise<Record<string, number>> {
    const now: Record<string, number> = {};
    const most: Record<string, number> = {};
    for (const { step, host } of await client.ledger()) {
      if (host === undefined) continue;
      const key = inWork(host);
      if (step === "NSX_NODE_STARTED") now[key] = (now[key] ?? 0) + 1;
      if (step === "NSX_NODE_UPGRADED" || step === "NSX_NODE_FAILED") now[key] = (now[key] ?? 0) - 1;
      most[key] = Math.max(most[key] ?? 0, now[key] ?? 0);
    }
    return most;
  }

  it("upgrades one host of a group after another, groups at the same time, and shows how far each is", async () => {
    await start();
    expect((await client.start("HOST")).status).to.equal(204);
    clock.advance(50);
    expect(await client.status("HOST")).to.include({ overall: "IN_PROGRESS", status: "IN_PROGRESS" });
    const units = await client.units("hosts-cl01");
    expect(units.map(({ status }) => status).slice(0, 2)).to.deep.equal(["IN_PROGRESS", "NOT_STARTED"]);
    clock.advance(12 * 100);
    expect(await client.status("HOST")).to.include({ status: "SUCCESS", percent: 100 });
    expect(await mostAtOnce((node) => node.slice(0, 4))).to.deep.equal({ cl01: 1, cl02: 1 });
    const { groups } = await client.manager();
    const hosts = groups.filter(({ type }) => type === "HOST").flatMap(({ units: all }) => all);
    expect(new Set(hosts.map(({ version }) => version))).to.deep.equal(new Set([nsxVersions.target]));
  });

  it("has at most 5 groups and 10 hosts of a group in work", async () => {
    await start({ config: nsxConfig({ clusters: 7 }) });
    await client.setGroup("hosts-cl01", { parallel: true });
    await client.start("HOST");
    clock.advance(12 * 2 * 100);
    expect(await mostAtOnce((node) => (node.startsWith("cl01") ? "cl01" : "others"))).to.deep.equal({
      cl01: 10,
      others: 5,
    });
    const settings = { parallel: false, pause_on_error: true };
    await client.send("POST", "/simulator/reset");
    expect((await client.call("PUT", "/plan/HOST/settings", settings)).status).to.equal(200);
    await client.start("HOST");
    clock.advance(12 * 7 * 100);
    expect(await mostAtOnce(() => "all")).to.deep.equal({ all: 1 });
  });

  it("upgrades hosts in place in less than half of the time", async () => {
    await start({ config: nsxConfig({ hosts: 1, clusters: 1 }) });
    const extended_configuration = [{ key: "upgrade_mode", value: "in_place" }];
    expect((await client.setGroup("hosts-cl01", { extended_configuration })).status).to.equal(200);
    await client.start("HOST");
    clock.advance(41);
    expect((await client.status("HOST")).status).to.equal("SUCCESS");
  });

  it("never has hosts and edges in work at once, nor starts the next component before the overall status says so", async () => {
    await start();
    await client.start("EDGE");
    clock.advance(10);
    expect((await client.start("HOST")).status).to.equal(400);
    expect((await client.start("EDGE")).status).to.equal(400);
    clock.advance(51);
    expect(await client.status("EDGE")).to.include({ status: "SUCCESS", overall: "IN_PROGRESS" });
    expect((await client.start("HOST")).status).to.equal(400);
    clock.advance(10);
    expect((await client.status("EDGE")).overall).to.equal("PAUSED");
    expect((await client.start("HOST")).status).to.equal(204);
  });

  it("is away while its own services restart, and comes back with the new version", async () => {
    await start();
    await client.start("MP");
    clock.advance(60 * 2 + 35);
    expect((await client.call("GET", "/summary")).status).to.equal(503);
    clock.advance(15);
    expect((await client.call("GET", "/summary")).status).to.equal(500);
    clock.advance(20);
    expect((await client.call("GET", "/summary")).body).to.include({ system_version: nsxVersions.target });
  });

  it("ends PAUSED where a group is disabled, goes on when it is enabled, and only then finalizes", async () => {
    await start({ config: nsxConfig({ hosts: 1 }) });
    for (const component of ["MP", "EDGE"]) {
      await client.start(component);
      clock.advance(200);
    }
    await client.setGroup("hosts-cl02", { enabled: false });
    await client.start("HOST");
    clock.advance(110);
    expect(await client.status("HOST")).to.include({ status: "PAUSED", overall: "PAUSED" });
    expect((await client.start("FINALIZE_UPGRADE")).status).to.equal(400);
    await client.setGroup("hosts-cl02", { enabled: true });
    expect((await client.call("POST", "/plan?action=continue&component_type=HOST")).status).to.equal(204);
    clock.advance(110);
    await client.start("FINALIZE_UPGRADE");
    clock.advance(30);
    expect(await client.status("FINALIZE_UPGRADE")).to.include({ status: "SUCCESS", overall: "SUCCESS" });
  });

  it("pauses after the nodes in work, and after each node where a group wants it", async () => {
    await start();
    await client.start("HOST");
    clock.advance(10);
    expect((await client.call("POST", "/plan?action=pause")).status).to.equal(204);
    expect((await client.status("HOST")).status).to.equal("PAUSING");
    clock.advance(90);
    expect((await client.status("HOST")).status).to.equal("PAUSED");
    expect(await client.ledger("NSX_NODE_STARTED")).to.have.length(2);
    await client.setGroup("hosts-cl01", { pause_after_each_upgrade_unit: true });
    clock.advance(10);
    await client.start("HOST");
    clock.advance(500);
    expect((await client.status("HOST")).status).to.equal("PAUSED");
  });

  it("leaves a host that failed in maintenance mode, and passes it over until the fault is deleted", async () => {
    await start({ config: nsxConfig({ hosts: 2, clusters: 1 }) });
    const fault = await client.fault({ kind: "NSX_NODE_FAILS", node: "cl01-esx-01", times: 1, message: "no space" });
    await client.start("HOST");
    clock.advance(300);
    expect((await client.status("HOST")).status).to.equal("FAILED");
    expect((await client.units("hosts-cl01"))[0]).to.deep.include({ status: "FAILED", errors: ["no space"] });
    await client.start("HOST");
    clock.advance(300);
    expect((await client.status("HOST")).status).to.equal("SUCCESS");
    expect((await client.units("hosts-cl01")).map(({ status }) => status)).to.deep.equal(["NOT_STARTED", "SUCCESS"]);
    expect((await client.send("DELETE", `/simulator/faults/${fault}`)).status).to.equal(204);
    await client.start("HOST");
    clock.advance(300);
    expect((await client.units("hosts-cl01")).map(({ status }) => status)).to.deep.equal(["SUCCESS", "SUCCESS"]);
    expect((await client.ledger("NSX_MAINTENANCE_EXITED")).map(({ host }) => host)).to.deep.equal(["cl01-esx-01"]);
  });

  it("stops at the first failure where it is to pause on errors", async () => {
    await start({ config: nsxConfig({ hosts: 3, clusters: 1 }) });
    await client.call("PUT", "/plan/HOST/settings", { pause_on_error: true });
    await client.fault({ kind: "NSX_NODE_FAILS", node: "cl01-esx-01", times: 1 });
    await client.start("HOST");
    clock.advance(1000);
    const statuses = (await client.units("hosts-cl01")).map(({ status }) => status);
    expect(statuses).to.deep.equal(["FAILED", "NOT_STARTED", "NOT_STARTED"]);
  });

  it("lets a node hang until the fault is deleted, lags as long as it is told, and can be paused by others", async () => {
    await start({ config: nsxConfig({ hosts: 1, clusters: 1 }) });
    const fault = await client.fault({ kind: "NSX_NODE_HANGS", node: "edge-01", times: 1 });
    await client.fault({ kind: "NSX_STATUS_LAGS", seconds: 300, times: 1 });
    await client.start("EDGE");
    clock.advance(1000);
    expect(await client.status("EDGE")).to.include({ status: "IN_PROGRESS" });
    await client.send("DELETE", `/simulator/faults/${fault}`);
    expect(await client.status("EDGE")).to.include({ status: "SUCCESS", overall: "IN_PROGRESS" });
    clock.advance(299);
    expect((await client.status("EDGE")).overall).to.equal("IN_PROGRESS");
    clock.advance(1);
    expect((await client.status("EDGE")).overall).to.equal("PAUSED");
    await client.fault({ kind: "NSX_PAUSED", times: 1 });
    await client.start("MP");
    clock.advance(1000);
    expect((await client.status("MP")).status).to.equal("PAUSED");
  });

  it("refuses what the product does not let anybody change, and a revision that is not the current one", async () => {
    await start();
    expect((await client.setGroup("edge-1", { parallel: false })).status).to.equal(400);
    expect((await client.setGroup("edge-1", { type: "HOST" })).status).to.equal(400);
    const odd = [{ key: "upgrade_mode", value: "by_magic" }];
    expect((await client.setGroup("hosts-cl01", { extended_configuration: odd })).status).to.equal(400);
    expect((await client.setGroup("hosts-cl01", { _revision: 7 })).status).to.equal(412);
    expect((await client.call("PUT", "/upgrade-unit-groups/hosts-cl01", { enabled: true })).status).to.equal(400);
    expect((await client.call("PUT", "/plan/EDGE/settings", { pause_on_error: false })).status).to.equal(400);
    await client.start("HOST");
    expect((await client.setGroup("hosts-cl01", { enabled: false })).status).to.equal(400);
    expect((await client.call("PUT", "/plan/HOST/settings", { parallel: false })).status).to.equal(400);
  });

  it("gives lists in pages", async () => {
    await start();
    const { body } = await client.call("GET", "/upgrade-unit-groups/hosts-cl01/status?page_size=5");
    expect(body).to.include({ result_count: 12, cursor: "5" });
    const last = await client.call("GET", "/upgrade-unit-groups/hosts-cl01/status?page_size=5&cursor=10");
    expect((last.body as { results: unknown[] }).results).to.have.length(2);
    expect(last.body).to.not.have.property("cursor");
  });

  it("wants credentials, answers at its own root and the first manager at the root of all, beside the other APIs", async () => {
    await start();
    const { url } = client;
    expect((await new NsxTestClient(url, "/nsx/nsx-01", undefined).call("GET", "/summary")).status).to.equal(200);
    const anonymous = await fetch(`${url}/nsx/nsx-01/api/v1/upgrade/summary`);
    expect(anonymous.status).to.equal(401);
    expect((await new NsxTestClient(url, "").call("GET", "/summary")).status).to.equal(200);
    expect((await new NsxTestClient(url, "/nsx/other").call("GET", "/summary")).status).to.equal(404);
    expect((await new NsxTestClient(url, "").send("GET", "/api/vcenter/cluster")).status).to.equal(401);
    await client.fault({ kind: "NSX_ACCOUNT_REFUSED", times: 1 });
    expect((await client.call("GET", "/summary")).status).to.equal(403);
  });

  it("refuses a fault for a node that is not there", async () => {
    await start();
    const { status, body } = await client.send("POST", "/simulator/faults", { kind: "NSX_NODE_FAILS", node: "esx-99" });
    expect(status).to.equal(400);
    expect(JSON.stringify(body)).to.include("esx-99");
  });

  describe("with a state file", () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "nsx-"));
    });
    afterEach(() => rm(folder, { recursive: true }));

    it("goes on after a kill where it was, and begins anew only where other managers are configured", async () => {
      const file = (name: string) => join(folder, name, "state.json");
      await start({ stateFile: file("first") });
      await client.start("HOST");
      clock.advance(150);
      await client.setGroup("edge-1", { enabled: false });
      await cp(join(folder, "first"), join(folder, "second"), { recursive: true });
      clock.advance(12 * 100);
      const unkilled = await client.manager();
      await start({ stateFile: file("second"), clock });
      const { groups, components } = await client.manager();
      expect(components).to.deep.equal(unkilled.components);
      expect(groups).to.deep.equal(unkilled.groups);

      await cp(join(folder, "first"), join(folder, "third"), { recursive: true });
      const config = nsxConfig({ manager: { targetVersion: "9.1.0.0.1" } });
      await start({ stateFile: file("third"), clock, config });
      expect(await client.manager()).to.include({ targetVersion: "9.1.0.0.1", version: nsxVersions.old });
    });
  });
});
