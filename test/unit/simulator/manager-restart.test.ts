import { expect } from "chai";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { images, type SimulatorClient, startTestSimulator, type TestClock } from "./simulator-client";
import { SoapClient } from "./soap-client";

const canceled = "com.vmware.vcIntegrity.lifecycle.TaskError.CanceledDueToServiceRestart";

describe("a simulated manager that restarts (100 s a host)", () => {
  let simulator: RunningSimulator;
  let client: SimulatorClient;
  let clock: TestClock;

  beforeEach(async () => {
    ({ simulator, client, clock } = await startTestSimulator());
    await client.commit(images[1]);
    clock.advance(10);
    await client.cluster("PUT", "/policies/apply", { disable_dpm: true });
  });
  afterEach(() => simulator.close());

  const restart = (seconds = 0) => client.fault({ kind: "MANAGER_RESTARTS", seconds });
  const applied = async (...hosts: string[]) => (await client.apply(...hosts)).body as string;
  const host = async (id: string) => (await client.clusterState()).hosts.find((known) => known.id === id)!;
  const statusOf = (path: string) =>
    fetch(`${simulator.url}${path}`, { method: path === "/sdk" ? "POST" : "GET" }).then(
      ({ status }) => status,
      () => "cut",
    );

  for (const [moment, seconds, expected] of [
    ["enters maintenance mode", 10, { maintenance: "OUT", connection: "CONNECTED", version: images[0] }],
    ["is installed", 40, { maintenance: "IN", connection: "CONNECTED", version: images[0], poweredOnVms: 0 }],
    ["restarts", 70, { maintenance: "IN", connection: "CONNECTED", version: images[1] }],
  ] as const)
    it(`cancels the remediation while its host ${moment}, and leaves the host as it is`, async () => {
      const task = await applied("host-11", "host-12");
      clock.advance(seconds);
      await restart();
      await client.login();
      const { status, error, result } = await client.task(task);
      expect(status).to.equal("FAILED");
      expect(error).to.deep.equal({
        error_type: "ERROR",
        messages: [{ id: canceled, default_message: "Task was canceled due to service restart.", args: [] }],
      });
      expect(result).to.deep.include({ failed_hosts: ["host-11"], skipped_hosts: ["host-12"] });
      clock.advance(1000);
      expect(await host("host-11")).to.include(expected);
      expect(await client.clusterState()).to.include({ dpm: true });
      expect((await client.apply("host-12")).status).to.equal(202);
    });

  it("cancels the other tasks of the lifecycle manager too", async () => {
    const { body: task } = await client.cluster("POST", "/software?action=check&vmw-task=true", {});
    await restart();
    await client.login();
    expect(await client.task(task as string)).to.deep.include({ status: "FAILED" });
    expect((await client.task(task as string)).error).to.deep.include({ error_type: "ERROR" });
  });

  it("cancels tasks of the management interface, but not a restart of a host", async () => {
    const soap = new SoapClient(simulator.url);
    await soap.login();
    const content = "<timeout>0</timeout>";
    const first = await soap.host("EnterMaintenanceMode", "host-14", content);
    clock.advance(30);
    const reboot = await soap.host("RebootHost", "host-14", "<force>false</force>");
    const second = await soap.host("EnterMaintenanceMode", "host-15", content);
    clock.advance(5);
    await restart();
    await soap.login();
    expect(await soap.taskState(first.task)).to.include({ state: "success" });
    expect(await soap.taskState(second.task)).to.include({ state: "error", error: "RequestCanceled" });
    clock.advance(100);
    expect((await soap.read("HostSystem", "host-15", "runtime.inMaintenanceMode")).text).to.include(">false<");
    expect((await client.ledger()).filter(({ step }) => step === "REBOOTED").map(({ host: id }) => id)).to.deep.equal([
      "host-14",
    ]);
    expect(await soap.taskState(reboot.task)).to.include({ state: "success" });
  });

  it("is away for so many seconds, for the lifecycle manager and the management interface, and forgets sessions", async () => {
    await restart(100);
    expect([await statusOf("/api/vcenter/cluster"), await statusOf("/sdk")]).to.deep.equal([503, 503]);
    clock.advance(50);
    expect([await statusOf("/api/vcenter/cluster"), await statusOf("/sdk")]).to.deep.equal(["cut", "cut"]);
    clock.advance(50);
    expect((await client.call("GET", "/api/vcenter/cluster")).status).to.equal(401);
    await client.login();
    expect((await client.call("GET", "/api/vcenter/cluster")).status).to.equal(200);
  });

  it("is back at once when the fault is taken back", async () => {
    const fault = await restart(100);
    await client.call("DELETE", `/simulator/faults/${fault}`);
    expect((await client.login()).status).to.equal(200);
  });

  describe("LIFECYCLE_STARTS_LATE", () => {
    const both = async () => [
      (await client.call("GET", "/api/appliance/system/version")).status,
      (await client.cluster("GET", "/software")).status,
    ];

    for (const status of [404, 503])
      it(`answers ${status} for the lifecycle service while the rest answers`, async () => {
        await client.fault({ kind: "LIFECYCLE_STARTS_LATE", seconds: 25, status, times: 1 });
        expect(await both()).to.deep.equal([200, 200]);
        await restart(20);
        clock.advance(20);
        await client.login();
        expect(await both()).to.deep.equal([200, status]);
        clock.advance(24);
        expect(await both()).to.deep.equal([200, status]);
        clock.advance(1);
        expect(await both()).to.deep.equal([200, 200]);
      });

    it("comes after the management server's own update too, for 30 s with 404 by default", async () => {
      const pending = "/api/appliance/update/pending/9.0.1.0";
      await client.fault({ kind: "LIFECYCLE_STARTS_LATE" });
      await client.call("POST", `${pending}?action=stage`, {});
      clock.advance(60);
      await client.call("POST", `${pending}?action=install`, { user_data: {} });
      clock.advance(120);
      await client.login();
      expect(await both()).to.deep.equal([200, 404]);
      clock.advance(30);
      expect(await both()).to.deep.equal([200, 200]);
    });

    it("ends when the fault is taken back", async () => {
      const fault = await client.fault({ kind: "LIFECYCLE_STARTS_LATE" });
      await restart();
      await client.login();
      expect(await both()).to.deep.equal([200, 404]);
      await client.call("DELETE", `/simulator/faults/${fault}`);
      expect(await both()).to.deep.equal([200, 200]);
    });

    it("is refused with a status that no missing service answers", async () => {
      const fault = { kind: "LIFECYCLE_STARTS_LATE", status: 500 };
      expect((await client.call("POST", "/simulator/faults", fault)).body).to.deep.equal({
        errors: ["status: must be 404 or 503, not 500"],
      });
    });
  });
});
