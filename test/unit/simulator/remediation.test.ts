import { expect } from "chai";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { images, startTestSimulator, testConfig, type SimulatorClient, type TestClock } from "./simulator-client";

describe("a simulated remediation (100 s a host)", () => {
  let simulator: RunningSimulator;
  let client: SimulatorClient;
  let clock: TestClock;

  beforeEach(async () => {
    ({ simulator, client, clock } = await startTestSimulator());
    await client.commit(images[1]);
    clock.advance(10);
  });
  afterEach(() => simulator.close());

  const applied = async (...hosts: string[]) => (await client.apply(...hosts)).body as string;
  const host = async (id: string) => (await client.clusterState()).hosts.find((h) => h.id === id)!;
  const steps = async (id?: string) =>
    (await client.ledger()).filter((e) => id === undefined || e.host === id).map(({ step }) => step);

  it("takes a host through maintenance, reboot and back", async () => {
    const task = await applied("host-11");
    expect(await client.task(task)).to.include({ status: "PENDING" });
    expect(await host("host-11")).to.include({ maintenance: "ENTERING", connection: "CONNECTED" });
    clock.advance(30);
    expect(await host("host-11")).to.include({ maintenance: "IN", version: images[0] });
    clock.advance(40);
    expect(await host("host-11")).to.include({ connection: "NOT_RESPONDING" });
    const { body } = await client.call("GET", "/api/vcenter/host?connection_states=NOT_RESPONDING");
    expect(body).to.deep.equal([{ host: "host-11", name: "esx-01.example.com", connection_state: "NOT_RESPONDING" }]);
    clock.advance(25);
    expect(await host("host-11")).to.include({ connection: "CONNECTED", maintenance: "IN", version: images[1] });
    expect((await client.task(task)).progress?.completed).to.be.within(90, 99);
    clock.advance(5);
    expect(await host("host-11")).to.include({ maintenance: "OUT", version: images[1] });
    expect((await client.task(task)).result?.successful_hosts).to.deep.equal(["host-11"]);
    expect(await steps("host-11")).to.deep.equal([
      "APPLY_STARTED",
      "MAINTENANCE_ENTERED",
      "REMEDIATED",
      "REBOOTED",
      "MAINTENANCE_EXITED",
    ]);
  });

  it("does all of that at its own times even if nobody looks meanwhile", async () => {
    const begun = clock.now();
    await applied("host-11", "host-12");
    clock.advance(100_000);
    const times = (await client.ledger())
      .filter(({ step }) => step === "APPLY_STARTED" || step === "MAINTENANCE_EXITED")
      .map(({ at, host: id }) => [id, (Date.parse(at) - begun) / 1000]);
    expect(times).to.deep.equal([
      ["host-11", 0],
      ["host-11", 100],
      ["host-12", 100],
      ["host-12", 200],
    ]);
  });

  it("moves running VMs away and back", async () => {
    await applied("host-11");
    clock.advance(30);
    const away = (await client.clusterState()).hosts.map((h) => [h.poweredOnVms, h.poweredOffVms]);
    expect(away).to.deep.equal([
      [0, 2],
      [18, 2],
      [18, 2],
    ]);
    clock.advance(100);
    const back = (await client.clusterState()).hosts.map((h) => [h.poweredOnVms, h.poweredOffVms]);
    expect(back).to.deep.equal([
      [12, 2],
      [12, 2],
      [12, 2],
    ]);
  });

  it("powers VMs off and on, and moves the offline ones, where the policy says so", async () => {
    const policy = { pre_remediation_power_action: "POWER_OFF_VMS", evacuate_offline_vms: true };
    await client.cluster("PUT", "/policies/apply", policy);
    await applied("host-11");
    clock.advance(30);
    expect(await host("host-11")).to.include({ poweredOnVms: 0, poweredOffVms: 12 });
    expect(await host("host-12")).to.include({ poweredOnVms: 12, poweredOffVms: 3 });
    clock.advance(100);
    expect(await host("host-11")).to.include({ poweredOnVms: 12, poweredOffVms: 2 });
    expect(await host("host-12")).to.include({ poweredOnVms: 12, poweredOffVms: 2 });
  });

  it("switches HA admission control and DPM off by policy, and on again also after a failure and a cancel", async () => {
    const settings = async () => {
      const { admissionControl, dpm } = await client.clusterState();
      return [admissionControl, dpm];
    };
    const policy = { disable_hac: true, disable_dpm: true, failure_action: { action: "FAIL" } };
    await client.cluster("PUT", "/policies/apply", policy);
    await client.fault({ kind: "REMEDIATION_FAILS", times: 1 });
    await applied("host-11");
    expect(await settings()).to.deep.equal([false, false]);
    clock.advance(100);
    expect(await settings()).to.deep.equal([true, true]);
    const task = await applied("host-11");
    expect(await settings()).to.deep.equal([false, false]);
    await client.call("POST", `/api/cis/tasks/${task}?action=cancel`);
    expect(await settings()).to.deep.equal([true, true]);
  });

  it("leaves HA admission control alone where the policy does not name it", async () => {
    await applied("host-11");
    expect(await client.clusterState()).to.include({ admissionControl: true, dpm: true });
  });

  it("goes host by host and stops at the first that fails", async () => {
    await client.fault({ kind: "REMEDIATION_FAILS", host: "esx-02.example.com", message: "bootbank too small" });
    const task = await applied("host-11", "host-12", "host-13");
    clock.advance(1000);
    const { status, error, result } = await client.task(task);
    expect({ status, error }).to.deep.equal({ status: "FAILED", error: undefined });
    expect(result).to.deep.include({
      successful_hosts: ["host-11"],
      failed_hosts: ["host-12"],
      skipped_hosts: ["host-13"],
    });
    const { status: hostStatus, notifications } = result!.host_status["host-12"]!;
    expect(hostStatus).to.equal("ERROR");
    expect(notifications.errors?.[0]?.message.default_message).to.equal("bootbank too small");
    expect(await host("host-12")).to.include({ maintenance: "OUT", version: images[0] });
    expect(await steps("host-13")).to.deep.equal([]);
    const { body } = await client.cluster("GET", "/software/reports/last-apply-result");
    expect(body).to.deep.include({ failed_hosts: ["host-12"], skipped_hosts: ["host-13"] });
  });

  it("allows one remediation of a cluster at a time, and none of what is done", async () => {
    const types = async (...hosts: string[]) => {
      const { status, body } = await client.apply(...hosts);
      return [status, (body as { error_type: string }).error_type];
    };
    await applied("host-11");
    expect(await types("host-12")).to.deep.equal([400, "NOT_ALLOWED_IN_CURRENT_STATE"]);
    clock.advance(100);
    expect(await types("host-11")).to.deep.equal([400, "ALREADY_IN_DESIRED_STATE"]);
    const { status } = await client.apply("host-11", "host-12");
    expect(status).to.equal(202);
    clock.advance(100);
    expect((await client.cluster("GET", "/software/reports/last-apply-result")).body).to.deep.include({
      successful_hosts: ["host-12"],
      skipped_hosts: ["host-11"],
    });
  });

  it("stops at once when it is cancelled before the host is in maintenance mode", async () => {
    const task = await applied("host-11", "host-12");
    clock.advance(20);
    await client.call("POST", `/api/cis/tasks/${task}?action=cancel`);
    expect(await client.task(task)).to.deep.include({ status: "FAILED", cancelable: false });
    expect((await client.task(task)).error?.error_type).to.equal("CANCELED");
    expect(await host("host-11")).to.include({ maintenance: "OUT", version: images[0] });
    clock.advance(1000);
    expect(await steps("host-12")).to.deep.equal([]);
  });

  it("finishes the host that is being installed when it is cancelled, and begins no other", async () => {
    const task = await applied("host-11", "host-12");
    clock.advance(40);
    await client.call("POST", `/api/cis/tasks/${task}?action=cancel`);
    expect(await client.task(task)).to.include({ status: "RUNNING" });
    clock.advance(60);
    expect(await client.task(task)).to.include({ status: "FAILED" });
    expect(await host("host-11")).to.include({ maintenance: "OUT", version: images[1] });
    expect(await steps("host-12")).to.deep.equal([]);
  });

  it("tries maintenance mode again by itself where the product's own failure action is RETRY", async () => {
    const failure_action = { action: "RETRY", retry_delay: 300, retry_count: 2 };
    await client.cluster("PUT", "/policies/apply", { failure_action });
    await client.fault({ kind: "MAINTENANCE_MODE_STUCK", seconds: 10, times: 2 });
    const task = await applied("host-11");
    clock.advance(10);
    expect((await client.task(task)).result?.host_status["host-11"]?.status).to.equal("RETRY_PENDING");
    clock.advance(300 + 10 + 300 + 100);
    expect(await client.task(task)).to.include({ status: "SUCCEEDED" });
    expect((await client.ledger()).filter(({ step }) => step === "RETRY_PENDING")).to.have.length(2);
    expect((await client.ledger()).filter(({ step }) => step === "APPLY_STARTED")).to.have.length(1);
  });

  it("cannot empty a host whose VMs have nowhere to go, unless they are powered off", async () => {
    await simulator.close();
    const config = testConfig({ clusters: [{ id: "domain-c8", name: "lonely", hosts: 1 }] });
    ({ simulator, client, clock } = await startTestSimulator({ config }));
    await client.commit(images[1]);
    clock.advance(10);
    await client.cluster("PUT", "/policies/apply", { failure_action: { action: "FAIL" } });
    const task = await applied("host-11");
    clock.advance(100);
    expect(await client.task(task)).to.include({ status: "FAILED" });
    const policy = { failure_action: { action: "FAIL" }, pre_remediation_power_action: "POWER_OFF_VMS" };
    await client.cluster("PUT", "/policies/apply", policy);
    const second = await applied("host-11");
    clock.advance(100);
    expect(await client.task(second)).to.include({ status: "SUCCEEDED" });
    const attempts = (await client.ledger())
      .filter(({ step }) => step === "APPLY_STARTED")
      .map(({ attempt }) => attempt);
    expect(attempts).to.deep.equal([1, 2]);
  });

  it("forgets the compliance of before only when it is scanned again", async () => {
    const compliance = async () =>
      (await client.cluster("GET", "/software/compliance")).body as { status: string; commit: string };
    expect(await compliance()).to.include({ status: "COMPLIANT", commit: "1" });
    await client.cluster("POST", "/software?action=scan&vmw-task=true");
    clock.advance(5);
    expect(await compliance()).to.include({ status: "NON_COMPLIANT", commit: "2" });
    await applied("host-11");
    clock.advance(100);
    expect(await compliance()).to.deep.include({
      compliant_hosts: ["host-11"],
      non_compliant_hosts: ["host-12", "host-13"],
    });
  });
});
