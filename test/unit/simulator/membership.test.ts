import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { images, type SimulatorClient, startTestSimulator, type TestClock } from "./simulator-client";
import { SoapClient } from "./soap-client";

describe("hosts that join and leave a simulated cluster (100 s a host)", () => {
  let simulator: RunningSimulator;
  let client: SimulatorClient;
  let clock: TestClock;

  beforeEach(async () => {
    ({ simulator, client, clock } = await startTestSimulator());
    await client.commit(images[1]);
    clock.advance(10);
    await client.cluster("PUT", "/policies/apply", { failure_action: { action: "FAIL" } });
  });
  afterEach(() => simulator.close());

  const add = (name: string, cluster = "domain-c8", over = {}) =>
    client.call("POST", `/simulator/clusters/${cluster}/hosts`, { name, ...over });
  const remove = (host: string) => client.call("DELETE", `/simulator/hosts/${host}`);
  const listed = async () =>
    ((await client.call("GET", "/api/vcenter/host?clusters=domain-c8")).body as { host: string }[]).map(
      ({ host }) => host,
    );
  const applied = async (...hosts: string[]) => (await client.apply(...hosts)).body as string;

  it("lists a host from then on, on the version that all had, without virtual machines", async () => {
    const { status, body } = await add("esx-99.example.com");
    expect(status).to.equal(201);
    expect(body).to.include({ id: "host-16", version: images[0], maintenance: "OUT", poweredOnVms: 0 });
    expect(await listed()).to.deep.equal(["host-11", "host-12", "host-13", "host-16"]);
    expect((await add("esx-98.example.com", "prod-cl01", { version: images[1] })).body).to.include({
      id: "host-17",
      version: images[1],
    });
  });

  it("remediates a host that has joined", async () => {
    await add("esx-99.example.com");
    const task = await applied("host-16");
    clock.advance(100);
    expect(await client.task(task)).to.include({ status: "SUCCEEDED" });
    expect((await client.clusterState()).hosts.find(({ id }) => id === "host-16")).to.include({ version: images[1] });
  });

  it("skips a host that has left before its turn, and ends the rest", async () => {
    const task = await applied("host-11", "host-12", "host-13");
    expect((await remove("host-12")).status).to.equal(204);
    clock.advance(200);
    const { result } = await client.task(task);
    expect(result).to.deep.include({ successful_hosts: ["host-11", "host-13"], skipped_hosts: ["host-12"] });
    expect(await listed()).to.deep.equal(["host-11", "host-13"]);
  });

  it("fails with a host that leaves while it is remediated, and lets the next remediation go on", async () => {
    const task = await applied("host-11");
    clock.advance(40);
    await remove("esx-01.example.com");
    const { status, result } = await client.task(task);
    expect(status).to.equal("FAILED");
    expect(result?.host_status["host-11"]?.notifications.errors?.[0]?.message.default_message).to.equal(
      "Host esx-01.example.com was removed from cluster prod-cl01.",
    );
    const next = await applied("host-12");
    clock.advance(100);
    expect(await client.task(next)).to.include({ status: "SUCCEEDED" });
    const { body } = await client.cluster("GET", "/software/compliance");
    expect(Object.keys((body as { hosts: object }).hosts)).to.deep.equal(["host-12", "host-13"]);
  });

  it("fails what the management interface does on a host that leaves, and forgets its virtual machines", async () => {
    const soap = new SoapClient(simulator.url);
    await soap.login();
    const { task } = await soap.host("EnterMaintenanceMode", "host-14", "<timeout>0</timeout>");
    await remove("host-14");
    expect(await soap.taskState(task)).to.include({ state: "error", error: "ManagedObjectNotFound" });
    expect((await soap.host("ExitMaintenanceMode", "host-14")).fault).to.equal("ManagedObjectNotFound");
    expect((await soap.read("ClusterComputeResource", "domain-c47", "host")).text)
      .to.include(">host-15<")
      .and.not.to.include(">host-14<");
    clock.advance(1000);
    expect((await client.ledger()).map(({ step }) => step)).not.to.include("MAINTENANCE_ENTERED");
  });

  it("gives a host that comes back another id, also after a restart", async () => {
    const folder = await mkdtemp(join(tmpdir(), "simulator-"));
    try {
      const first = await startTestSimulator({ stateFile: join(folder, "state.json") });
      await first.client.call("POST", "/simulator/clusters/domain-c8/hosts", { name: "esx-99.example.com" });
      await first.client.call("DELETE", "/simulator/hosts/esx-99.example.com");
      await first.simulator.close();
      const second = await startTestSimulator({ stateFile: join(folder, "state.json") });
      const { body } = await second.client.call("POST", "/simulator/clusters/domain-c8/hosts", {
        name: "esx-99.example.com",
      });
      expect(body).to.include({ id: "host-17" });
      await second.simulator.close();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("refuses a name that is taken, a cluster and a host that are not there, and wrong fields", async () => {
    expect(await add("esx-01.example.com")).to.deep.equal({
      status: 409,
      body: { errors: ["name: there is a host esx-01.example.com already"] },
    });
    expect((await add("esx-99.example.com", "domain-c99")).status).to.equal(404);
    expect((await remove("host-99")).status).to.equal(404);
    expect((await add("esx-99.example.com", "domain-c8", { versoin: "9" })).body).to.deep.equal({
      errors: ["versoin: there is no such field"],
    });
  });
});
