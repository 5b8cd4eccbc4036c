import { expect } from "chai";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SimulatorClient, startTestSimulator, TestClock } from "./simulator-client";

const pending = "/api/appliance/update/pending/9.0.1.0";

describe("the simulated management server", () => {
  let folder: string;
  let stateFile: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "simulator-"));
    stateFile = join(folder, "state.json");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const state = async (client: SimulatorClient) =>
    ((await client.call("GET", "/simulator/state")).body as { managementServer: Record<string, unknown> })
      .managementServer;

  it("goes on with an installation over a restart, as if nothing had been", async () => {
    const clock = new TestClock();
    const first = await startTestSimulator({ stateFile, clock });
    await first.client.call("POST", `${pending}?action=stage`, {});
    clock.advance(60);
    expect((await first.client.call("POST", `${pending}?action=install`, { user_data: {} })).status).to.equal(204);
    await first.simulator.close();

    clock.advance(1000);
    const second = await startTestSimulator({ stateFile, clock });
    expect(await state(second.client)).to.include({ version: "9.0.1.0" });
    const steps = (await second.client.ledger()).map(({ step, at }) => `${step} ${at.slice(11, 19)}`);
    expect(steps).to.deep.equal([
      "MGMT_STAGE_REQUESTED 09:00:00",
      "MGMT_STAGED 09:01:00",
      "MGMT_INSTALL_REQUESTED 09:01:00",
      "MGMT_INSTALLED 09:03:30",
    ]);
    await second.simulator.close();
  });

  it("is added to a state file that knows nothing of it", async () => {
    const first = await startTestSimulator({ stateFile });
    await first.simulator.close();
    const saved = JSON.parse(await readFile(stateFile, "utf8")) as { global: { vcsa?: unknown } };
    delete saved.global.vcsa;
    await writeFile(stateFile, JSON.stringify(saved));
    const second = await startTestSimulator({ stateFile });
    expect(second.logged).to.include("simulator state restored");
    expect(await state(second.client)).to.deep.equal({ version: "9.0.0.0" });
    await second.simulator.close();
  });

  it("takes every call of its API away while it restarts, and the sessions with it", async () => {
    const { simulator, client, clock } = await startTestSimulator();
    await client.call("POST", `${pending}?action=stage`, {});
    clock.advance(60);
    await client.call("POST", `${pending}?action=install`, { user_data: {} });
    clock.advance(46);
    expect((await client.cluster("GET", "/software")).status).to.equal(503);
    expect((await client.call("GET", "/simulator/state")).status).to.equal(200);
    clock.advance(74.5);
    expect((await client.cluster("GET", "/software")).status).to.equal(401);
    await client.login();
    expect((await client.cluster("GET", "/software")).status).to.equal(200);
    await simulator.close();
  });

  it("allows one of an update and a migration at a time", async () => {
    const { simulator, client, clock } = await startTestSimulator();
    const migration = "/api/vcenter/lcm/deployment/migration-upgrade";
    const spec = { version: "9.0.2.0", deployment: { appliance: { root_password: "any" } } };
    await client.call("POST", `${pending}?action=stage`, {});
    expect((await client.call("PUT", migration, spec)).status).to.equal(400);
    clock.advance(60);
    expect((await client.call("PUT", migration, spec)).status).to.equal(204);
    expect((await client.call("POST", `${pending}?action=install`, { user_data: {} })).status).to.equal(400);
    await simulator.close();
  });
});
