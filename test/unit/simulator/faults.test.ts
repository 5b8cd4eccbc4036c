import { expect } from "chai";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { images, startTestSimulator, testConfig, type SimulatorClient, type TestClock } from "./simulator-client";

describe("faults of the simulator (100 s a host)", () => {
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

  const applied = async (...hosts: string[]) => (await client.apply(...hosts)).body as string;
  const host = async (id: string) => (await client.clusterState()).hosts.find((h) => h.id === id)!;
  const typeOf = ({ body }: { body: unknown }) => (body as { error_type?: string }).error_type;
  const dropped = (call: Promise<unknown>) =>
    call.then(
      () => false,
      () => true,
    );

  it("MAINTENANCE_MODE_STUCK fails so many attempts, each after its stall", async () => {
    await client.fault({ kind: "MAINTENANCE_MODE_STUCK", host: "host-11", times: 2, seconds: 30 });
    for (const expected of ["FAILED", "FAILED", "SUCCEEDED"]) {
      const task = await applied("host-11");
      clock.advance(29);
      expect(await client.task(task)).to.include({ status: "RUNNING" });
      clock.advance(71);
      expect(await client.task(task)).to.include({ status: expected });
    }
    const failures = (await client.ledger()).filter(({ step }) => step === "APPLY_FAILED");
    expect(failures.map(({ attempt }) => attempt)).to.deep.equal([1, 2]);
  });

  it("MAINTENANCE_MODE_HANGS stands still until it is cancelled", async () => {
    await client.fault({ kind: "MAINTENANCE_MODE_HANGS", times: 1 });
    const task = await applied("host-11");
    clock.advance(50);
    const before = await client.task(task);
    clock.advance(100_000);
    expect(await client.task(task)).to.deep.include({ status: "RUNNING", progress: before.progress });
    await client.call("POST", `/api/cis/tasks/${task}?action=cancel`);
    expect(await client.task(task)).to.include({ status: "FAILED" });
    expect(await host("host-11")).to.include({ maintenance: "OUT" });
    expect((await client.apply("host-11")).status).to.equal(202);
  });

  it("HOST_NEVER_RECONNECTS times out and keeps the host away until the fault is removed", async () => {
    const fault = await client.fault({ kind: "HOST_NEVER_RECONNECTS", seconds: 200, times: 1 });
    const task = await applied("host-11");
    clock.advance(60 + 199);
    expect(await client.task(task)).to.include({ status: "RUNNING" });
    clock.advance(1);
    expect((await client.task(task)).result?.host_status["host-11"]?.status).to.equal("TIMED_OUT");
    expect(await host("host-11")).to.include({ connection: "NOT_RESPONDING" });
    const again = await applied("host-11");
    expect(await client.task(again)).to.include({ status: "FAILED" });
    expect((await client.call("DELETE", `/simulator/faults/${fault}`)).status).to.equal(204);
    expect(await host("host-11")).to.include({ connection: "CONNECTED", maintenance: "OUT", version: images[0] });
    const third = await applied("host-11");
    clock.advance(100);
    expect(await client.task(third)).to.include({ status: "SUCCEEDED" });
  });

  it("HOST_SLOW stretches one host", async () => {
    await client.fault({ kind: "HOST_SLOW", host: "host-11", factor: 10 });
    const task = await applied("host-11");
    clock.advance(999);
    expect(await client.task(task)).to.include({ status: "RUNNING" });
    clock.advance(1);
    expect(await client.task(task)).to.include({ status: "SUCCEEDED" });
  });

  it("CHECK_FAILS spoils the check of its host only", async () => {
    await client.fault({ kind: "CHECK_FAILS", host: "host-12", issue: "vSAN is resyncing" });
    await client.cluster("POST", "/software?action=check&vmw-task=true", { hosts: ["host-11", "host-12"] });
    clock.advance(10);
    const { body } = await client.cluster("GET", "/software/reports/last-check-result");
    const { status, entity_results: entities } = body as {
      status: string;
      entity_results: { host?: string; status: string; check_statuses: { issues: { default_message: string }[] }[] }[];
    };
    expect(status).to.equal("ERROR");
    expect(entities.map((e) => [e.host, e.status])).to.deep.equal([
      [undefined, "OK"],
      ["host-11", "OK"],
      ["host-12", "ERROR"],
    ]);
    expect(entities[2]?.check_statuses[0]?.issues[0]?.default_message).to.equal("vSAN is resyncing");
  });

  it("OPERATION_IN_PROGRESS refuses so many applies", async () => {
    await client.fault({ kind: "OPERATION_IN_PROGRESS", cluster: "prod-cl01", times: 2 });
    expect(typeOf(await client.apply("host-11"))).to.equal("NOT_ALLOWED_IN_CURRENT_STATE");
    expect(typeOf(await client.apply("host-11"))).to.equal("NOT_ALLOWED_IN_CURRENT_STATE");
    expect((await client.apply("host-11")).status).to.equal(202);
  });

  it("TASKS_FORGOTTEN hides the tasks of now, while the remediation goes on", async () => {
    const task = await applied("host-11");
    await client.fault({ kind: "TASKS_FORGOTTEN", cluster: "domain-c8" });
    const answer = await client.call("GET", `/api/cis/tasks/${task}`);
    expect([answer.status, typeOf(answer)]).to.deep.equal([404, "NOT_FOUND"]);
    expect(typeOf(await client.apply("host-11"))).to.equal("NOT_ALLOWED_IN_CURRENT_STATE");
    clock.advance(100);
    const { body } = await client.cluster("GET", "/software/reports/last-apply-result");
    expect(body).to.deep.include({ successful_hosts: ["host-11"] });
    const next = await applied("host-12");
    expect(await client.task(next)).to.include({ status: "PENDING" });
  });

  it("SESSIONS_EXPIRED ends every session, and a new login helps", async () => {
    await client.fault({ kind: "SESSIONS_EXPIRED" });
    expect(typeOf(await client.cluster("GET", "/software"))).to.equal("UNAUTHENTICATED");
    await client.login();
    expect((await client.cluster("GET", "/software")).status).to.equal(200);
  });

  it("LOGIN_REFUSED refuses logins", async () => {
    await client.fault({ kind: "LOGIN_REFUSED", times: 1 });
    expect((await client.login()).status).to.equal(401);
    expect((await client.login()).status).to.equal(200);
  });

  it("SERVICE_UNAVAILABLE lasts so many seconds, and lets remediations go on", async () => {
    const task = await applied("host-11");
    await client.fault({ kind: "SERVICE_UNAVAILABLE", seconds: 60 });
    clock.advance(59);
    const answer = await client.call("GET", `/api/cis/tasks/${task}`);
    expect([answer.status, typeOf(answer)]).to.deep.equal([503, "SERVICE_UNAVAILABLE"]);
    expect((await client.login()).status).to.equal(503);
    clock.advance(41);
    expect(await client.task(task)).to.include({ status: "SUCCEEDED" });
  });

  it("SERVICE_UNAVAILABLE meets so many calls, of those that match", async () => {
    await client.fault({ kind: "SERVICE_UNAVAILABLE", times: 1, method: "POST", path: "action=apply" });
    expect((await client.cluster("GET", "/software")).status).to.equal(200);
    expect((await client.apply("host-11")).status).to.equal(503);
    expect((await client.apply("host-11")).status).to.equal(202);
  });

  it("CONNECTION_DROPPED before the work does nothing, after it loses only the answer", async () => {
    const requests = async () => (await client.ledger()).filter(({ step }) => step === "APPLY_REQUESTED").length;
    await client.fault({ kind: "CONNECTION_DROPPED", times: 1, path: "action=apply" });
    expect(await dropped(client.apply("host-11"))).to.equal(true);
    expect(await requests()).to.equal(0);
    await client.fault({ kind: "CONNECTION_DROPPED", times: 1, path: "action=apply", after: true });
    expect(await dropped(client.apply("host-11"))).to.equal(true);
    expect(await requests()).to.equal(1);
    expect((await client.clusterState()).runningTasks).to.have.length(1);
  });

  it("SLOW delays the answer", async () => {
    await client.fault({ kind: "SLOW", milliseconds: 60, path: "/software" });
    const begun = performance.now();
    await client.cluster("GET", "/software");
    expect(performance.now() - begun).to.be.at.least(55);
  });

  it("sessions end by themselves when idle, and after their absolute time", async () => {
    await simulator.close();
    const config = testConfig({ sessions: { idleSeconds: 10, absoluteSeconds: 25 } });
    ({ simulator, client, clock } = await startTestSimulator({ config }));
    const status = async () => (await client.cluster("GET", "/software")).status;
    clock.advance(9);
    expect(await status()).to.equal(200);
    clock.advance(9);
    expect(await status()).to.equal(200);
    clock.advance(9);
    expect(await status()).to.equal(401);
    await client.login();
    clock.advance(10);
    expect(await status()).to.equal(401);
  });

  describe("the control API", () => {
    const errorsOf = async (method: string, path: string, body: unknown) => {
      const answer = await client.call(method, path, body);
      return [answer.status, (answer.body as { errors: string[] }).errors.join("; ")];
    };

    it("lists faults with what is left of them, and removes them", async () => {
      await client.fault({ kind: "LOGIN_REFUSED", times: 2 });
      const slow = await client.fault({ kind: "HOST_SLOW", host: "esx-01.example.com", factor: 2 });
      await client.login();
      const list = async () => (await client.call("GET", "/simulator/faults")).body as object[];
      const [refused, second] = await list();
      expect(refused).to.include({ kind: "LOGIN_REFUSED", remaining: 1, active: true });
      expect(second).to.include({ id: slow, cluster: "domain-c8", host: "host-11" });
      await client.login();
      expect((await list())[0]).to.include({ remaining: 0, active: false });
      await client.call("DELETE", `/simulator/faults/${slow}`);
      expect(await list()).to.have.length(1);
      await client.call("DELETE", "/simulator/faults");
      expect(await list()).to.deep.equal([]);
      expect((await client.call("DELETE", `/simulator/faults/${slow}`)).status).to.equal(404);
    });

    it("names the wrong field", async () => {
      const post = (body: unknown) => errorsOf("POST", "/simulator/faults", body);
      const [status, errors] = await post({ kind: "NOPE" });
      expect(status).to.equal(400);
      expect(errors).to.match(/^kind: must be one of MAINTENANCE_MODE_STUCK, /);
      expect(await post({ kind: "HOST_SLOW", factor: "2" })).to.deep.equal([
        400,
        'factor: must be a number of times from 0.001 to 100000, not "2"',
      ]);
      expect(await post({ kind: "SLOW", host: "host-11" })).to.deep.equal([400, "host: there is no such field"]);
      expect(await post({ kind: "CHECK_FAILS", host: "host-99" })).to.deep.equal([
        400,
        "host: no host has the id or name host-99",
      ]);
      expect(await post({ kind: "CHECK_FAILS", cluster: "edge-cl01", host: "host-11" })).to.deep.equal([
        400,
        "host: no host of edge-cl01 has the id or name host-11",
      ]);
      expect(await errorsOf("PATCH", "/simulator/settings", { hostSeconds: -1 })).to.deep.equal([
        400,
        "hostSeconds: must be a number of seconds from 0 to 86400, not -1",
      ]);
    });

    it("changes how long a host takes, also to nothing at all", async () => {
      const { body } = await client.call("PATCH", "/simulator/settings", { hostSeconds: 0 });
      expect(body).to.deep.equal({ hostSeconds: 0 });
      const task = await applied("host-11");
      expect(await client.task(task)).to.include({ status: "SUCCEEDED" });
    });

    it("resets everything", async () => {
      await client.fault({ kind: "SLOW", milliseconds: 1 });
      await applied("host-11");
      expect((await client.call("POST", "/simulator/reset")).status).to.equal(204);
      expect(await client.ledger()).to.deep.equal([]);
      expect((await client.call("GET", "/simulator/faults")).body).to.deep.equal([]);
      expect(await client.clusterState()).to.deep.include({ policy: {}, runningTasks: [] });
      expect((await client.cluster("GET", "/software")).status).to.equal(401);
    });

    it("filters the ledger", async () => {
      await applied("host-11", "host-12");
      clock.advance(200);
      const { body } = await client.call("GET", "/simulator/ledger?host=host-12&step=REBOOTED");
      expect(body).to.have.length(1);
    });
  });
});
