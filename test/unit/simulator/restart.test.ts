import { expect } from "chai";
import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { images, startTestSimulator, testConfig, type SimulatorClient, type TestClock } from "./simulator-client";

describe("a restart of the simulator (100 s a host)", () => {
  let folder: string;
  let running: RunningSimulator[];
  let client: SimulatorClient;
  let clock: TestClock;

  const start = async (name: string, options: Parameters<typeof startTestSimulator>[0] = {}) => {
    const started = await startTestSimulator({ ...options, stateFile: join(folder, name, "state.json") });
    running.push(started.simulator);
    ({ client, clock } = started);
    return started;
  };

  /**
   * What a kill -9 leaves behind is what is in the files at that moment: a copy of them, while the first simulator
   * still runs, is the same thing.
   */
  const killAndStart = async (options: Parameters<typeof startTestSimulator>[0] = {}) => {
    const name = `after-${running.length}`;
    await cp(join(folder, running.length === 1 ? "first" : `after-${running.length - 1}`), join(folder, name), {
      recursive: true,
    });
    return start(name, { clock, ...options });
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "simulator-"));
    running = [];
    await start("first");
  });

  afterEach(async () => {
    await Promise.all(running.map((simulator) => simulator.close()));
    await rm(folder, { recursive: true });
  });

  it("keeps image, policy, drafts and the latest results, and loses the sessions", async () => {
    await client.commit(images[1]);
    clock.advance(10);
    await client.cluster("PUT", "/policies/apply", { disable_hac: true });
    await client.cluster("POST", "/software?action=check&vmw-task=true");
    const { body: draft } = await client.cluster("POST", "/software/drafts");
    await client.apply("host-11");
    clock.advance(100);
    const paths = [
      "/software",
      "/policies/apply",
      "/software/reports/last-apply-result",
      "/software/reports/last-check-result",
    ];
    const read = () => Promise.all([...paths, `/software/drafts/${draft}`].map((path) => client.cluster("GET", path)));
    await client.cluster("PUT", `/software/drafts/${draft}/software/base-image`, { version: images[2] });
    const before = await read();
    expect(before.map(({ status }) => status)).to.deep.equal(Array(5).fill(200));

    const lost = client;
    const { logged } = await killAndStart();
    expect(logged).to.include("simulator state restored");
    expect(await read()).to.deep.equal(before);
    expect((await lost.movedTo(client.url).cluster("GET", "/software")).status).to.equal(401);
  });

  it("loses no call that was answered", async () => {
    await client.commit(images[1]);
    clock.advance(10);
    const { body: task } = await client.apply("host-11");
    await killAndStart();
    expect(await client.task(task as string)).to.include({ status: "PENDING" });
    expect((await client.apply("host-12")).body).to.include({ error_type: "NOT_ALLOWED_IN_CURRENT_STATE" });
  });

  it("goes on with a remediation as if nothing had happened, at whatever moment it is killed", async () => {
    await client.commit(images[1]);
    clock.advance(10);
    const { body: task } = await client.apply("host-11", "host-12");
    for (let elapsed = 0; elapsed < 200; elapsed += 40) {
      clock.advance(40);
      const before = await client.task(task as string);
      await killAndStart();
      expect(await client.task(task as string)).to.deep.equal(before);
    }
    expect(await client.task(task as string)).to.include({ status: "SUCCEEDED" });
    const ledger = await client.ledger();
    for (const step of ["APPLY_STARTED", "MAINTENANCE_ENTERED", "REMEDIATED", "REBOOTED", "MAINTENANCE_EXITED"])
      expect(ledger.filter((entry) => entry.step === step).map(({ host }) => host)).to.deep.equal([
        "host-11",
        "host-12",
      ]);
    expect(ledger.map(({ seq }) => seq)).to.deep.equal(ledger.map((_, i) => i + 1));
  });

  it("keeps faults and what is left of them", async () => {
    await client.commit(images[1]);
    clock.advance(10);
    await client.cluster("PUT", "/policies/apply", { failure_action: { action: "FAIL" } });
    await client.fault({ kind: "MAINTENANCE_MODE_STUCK", times: 2, seconds: 1 });
    await client.apply("host-11");
    clock.advance(1);
    await killAndStart();
    const { body } = await client.call("GET", "/simulator/faults");
    expect((body as object[])[0]).to.include({ remaining: 1 });
  });

  it("saves many calls at once without losing one", async () => {
    const faults = Array.from({ length: 50 }, (_, i) => client.fault({ kind: "HOST_SLOW", factor: i + 1 }));
    await Promise.all(faults);
    await killAndStart();
    expect((await client.call("GET", "/simulator/faults")).body).to.have.length(50);
  });

  it("begins anew with another inventory, and keeps the old state for the curious", async () => {
    const config = testConfig({ clusters: [{ id: "domain-c1", name: "other", hosts: 1 }] });
    const { logged } = await killAndStart({ config });
    expect(logged).to.include("simulator state set aside");
    expect((await client.state()).clusters.map(({ id }) => id)).to.deep.equal(["domain-c1"]);
    expect((await readdir(join(folder, "after-1"))).filter((name) => name.endsWith(".old"))).to.have.length(1);
  });

  it("begins anew where the file is no state", async () => {
    await writeFile(join(folder, "first", "state.json"), "{");
    const { logged } = await killAndStart();
    expect(logged).to.include("simulator state set aside");
    expect((await client.cluster("GET", "/software")).status).to.equal(200);
  });
});
