import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { Document } from "openapi-backend";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { SimulatorContext } from "../../../src/simulator/state/context";
import { vlcmApi } from "../../../src/simulator/vlcm/vlcm-api";
import {
  images,
  SimulatorClient,
  startTestSimulator,
  type TestClock,
  testConfig,
} from "../../unit/simulator/simulator-client";
import { type ContractChecker, createContractChecker } from "./contract-checker";
import { startValidatingProxy, type ValidatingProxy } from "./validating-proxy";

const document = JSON.parse(readFileSync(join(__dirname, "vlcm.openapi.json"), "utf8")) as Document;
const software = "Esx.Settings.Clusters.Software";

describe("the simulator against the lifecycle manager's contract", () => {
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
    expect(proxy.violations).to.deep.equal([]);
  });

  /** Runs a task to its end and checks its result against the schema that the contract has for it. */
  async function finish(task: unknown, resultSchema?: string) {
    const url = `/api/cis/tasks/${String(task)}`;
    await client.call("GET", url);
    clock.advance(50);
    await client.call("GET", url);
    clock.advance(1000);
    const { body } = await client.call("GET", url);
    const info = body as { status: string; result?: unknown };
    if (resultSchema !== undefined) expect(checker.checkSchema(resultSchema, info.result)).to.deep.equal([]);
    return info;
  }

  const start = async (path: string, body?: object) => {
    const answer = await client.cluster("POST", path, body);
    expect(answer.status).to.equal(202);
    return answer.body;
  };

  it("answers sessions, clusters and hosts", async () => {
    expect((await client.call("GET", "/api/session")).status).to.equal(200);
    expect((await client.call("GET", "/api/vcenter/cluster")).status).to.equal(200);
    expect((await client.call("GET", "/api/vcenter/cluster?names=prod-cl01")).body).to.have.length(1);
    expect((await client.call("GET", "/api/vcenter/host?clusters=domain-c8&clusters=domain-c47")).body).to.have.length(
      5,
    );
    expect((await client.cluster("GET", "/enablement/software")).body).to.deep.equal({ enabled: true });
    expect((await client.call("DELETE", "/api/session")).status).to.equal(204);
    expect((await client.call("GET", "/api/session")).status).to.equal(401);
  });

  it("answers the way from a draft to a remediated cluster", async () => {
    const base = "/software/drafts";
    const { body: draft } = await client.cluster("POST", base);
    expect((await client.cluster("POST", base)).status).to.equal(400);
    await client.cluster("GET", base);
    await client.cluster("GET", `${base}?owners=nobody`);
    await client.cluster("PUT", `${base}/${draft}/software/base-image`, { version: images[2] });
    await client.cluster("GET", `${base}/${draft}/software/base-image`);
    expect((await client.cluster("GET", `${base}/${draft}`)).status).to.equal(200);
    await finish(await start(`${base}/${draft}?action=validate&vmw-task=true`), "Esx.Settings.Notifications");
    expect((await client.cluster("POST", `${base}/${draft}?action=commit&vmw-task=true`)).status).to.equal(400);
    await finish(await start(`${base}/${draft}?action=commit&vmw-task=true`, { message: "to 9.0.2" }));
    expect((await client.cluster("GET", `${base}/${draft}`)).status).to.equal(404);

    await client.cluster("GET", "/software");
    await client.cluster("GET", "/software/base-image");
    expect((await client.cluster("GET", "/software/commits/2")).status).to.equal(200);
    const scan = await start("/software?action=scan&vmw-task=true");
    await finish(scan, "Esx.Settings.ClusterCompliance");
    expect((await client.cluster("GET", "/software/compliance")).body).to.include({
      status: "NON_COMPLIANT",
      commit: "2",
    });
    await finish(
      await start("/software?action=check&vmw-task=true", { hosts: ["host-11"] }),
      `${software}.CheckResult`,
    );
    await finish(await start("/software?action=stage&vmw-task=true", {}), `${software}.StageResult`);
    for (const report of ["last-check-result", "apply-impact", "apply-impact?hosts=host-11", "hardware-compatibility"])
      expect((await client.cluster("GET", `/software/reports/${report}`)).status).to.equal(200);
    expect((await client.cluster("GET", "/software/reports/last-apply-result")).status).to.equal(404);

    const apply = await start("/software?action=apply&vmw-task=true", { commit: "1", accept_eula: true });
    const { status } = await finish(apply, `${software}.ApplyResult`);
    expect(status).to.equal("SUCCEEDED");
    expect((await client.cluster("GET", "/software/reports/last-apply-result")).status).to.equal(200);
    expect((await client.cluster("GET", "/software/compliance")).body).to.include({ status: "COMPLIANT" });
  });

  it("answers an import of a software specification, and the removal of a draft", async () => {
    const software_spec = JSON.stringify({ base_image: { version: images[1] } });
    const path = "/software/drafts?action=import-software-spec";
    const { status, body } = await client.cluster("POST", path, { source_type: "JSON_STRING", software_spec });
    expect(status).to.equal(200);
    expect((await client.cluster("DELETE", `/software/drafts/${body}`)).status).to.equal(204);
  });

  it("answers policies, configured and effective", async () => {
    const policy = {
      failure_action: { action: "RETRY", retry_delay: 300, retry_count: 3 },
      pre_remediation_power_action: "POWER_OFF_VMS",
      disable_dpm: true,
      disable_hac: true,
      enforce_hcl_validation: true,
    };
    const defaults = "/api/esx/settings/defaults/clusters/policies/apply";
    expect((await client.cluster("PUT", "/policies/apply", policy)).status).to.equal(204);
    expect((await client.cluster("GET", "/policies/apply")).body).to.deep.equal(policy);
    expect((await client.cluster("GET", "/policies/apply/effective")).body).to.deep.include(policy);
    await client.cluster("PUT", "/policies/apply", {});
    expect((await client.cluster("GET", "/policies/apply")).body).to.deep.equal({});
    expect((await client.call("PUT", defaults, { enable_quick_boot: true })).status).to.equal(204);
    expect((await client.call("GET", defaults)).body).to.deep.equal({ enable_quick_boot: true });
    expect((await client.call("GET", `${defaults}/effective`)).body).to.include({ enable_quick_boot: true });
    const refused = await client.cluster("PUT", "/policies/apply", { failure_action: { action: "RETRY" } });
    expect(refused.status).to.equal(400);
  });

  it("answers a failed and a cancelled remediation", async () => {
    await finish(await client.commit(images[1]));
    await control.fault({ kind: "REMEDIATION_FAILS", times: 1 });
    const failed = await finish((await client.apply("host-11", "host-12")).body, `${software}.ApplyResult`);
    expect(failed.status).to.equal("FAILED");
    await client.cluster("GET", "/software/reports/last-apply-result");

    const { body: task } = await client.apply("host-11", "host-12");
    clock.advance(10);
    expect((await client.call("POST", `/api/cis/tasks/${task}?action=cancel`)).status).to.equal(204);
    expect((await client.call("POST", `/api/cis/tasks/${task}?action=cancel`)).status).to.equal(400);
    await finish(task, `${software}.ApplyResult`);

    await control.fault({ kind: "MAINTENANCE_MODE_HANGS", times: 1 });
    const { body: hanging } = await client.apply("host-11");
    clock.advance(500);
    const services = "services=com.vmware.esx.settings.clusters.software";
    const { body: running } = await client.call("GET", `/api/cis/tasks?${services}&status=RUNNING&targets=domain-c8`);
    expect(Object.keys(running as object)).to.deep.equal([hanging]);
    expect((await client.call("GET", "/api/cis/tasks")).status).to.equal(400);
  });

  it("answers errors in the declared shapes", async () => {
    const status = async (answer: Promise<{ status: number }>) => (await answer).status;
    expect(
      await status(client.cluster("POST", "/software?action=apply&vmw-task=true", { hosts: ["host-99"] })),
    ).to.equal(400);
    expect(await status(client.cluster("POST", "/software?action=apply&vmw-task=true", {}))).to.equal(500);
    expect(await status(client.apply("host-11"))).to.equal(400);
    const baseline = "/api/esx/settings/clusters/domain-c47";
    expect(await status(client.call("GET", `${baseline}/software`))).to.equal(404);
    expect(await status(client.call("POST", `${baseline}/software?action=scan&vmw-task=true`))).to.equal(400);
    expect(await status(client.call("GET", "/api/esx/settings/clusters/domain-c99/software"))).to.equal(404);
    expect(await status(client.call("GET", "/api/cis/tasks/unknown"))).to.equal(404);
    await control.fault({ kind: "SERVICE_UNAVAILABLE", times: 1 });
    expect(await status(client.cluster("GET", "/software"))).to.equal(503);
    client.logout();
    expect(await status(client.cluster("GET", "/software"))).to.equal(401);
    await control.fault({ kind: "LOGIN_REFUSED", times: 1 });
    expect(await status(client.login())).to.equal(401);
  });

  after(async function () {
    // Says something only after a full run, not where a part was selected.
    if (!this.test?.parent?.tests.every(({ state }) => state === "passed")) return;
    const config = testConfig();
    const context = await SimulatorContext.open({ config, hostSeconds: 0, now: Date.now, log: () => undefined });
    const routes = vlcmApi(context).stack.filter(
      ({ methods, path }) => methods.length > 0 && !String(path).includes("*"),
    );
    const paths = [...walked].map((call) => call.replace(/\?.*$/, "").split(" "));
    const missed = routes.flatMap(({ methods, path, regexp }) =>
      methods
        .filter((method) => method !== "HEAD" && !paths.some(([m, p]) => m === method && regexp.test(p ?? "")))
        .map((method) => `${method} ${String(path)}`),
    );
    expect(missed, "routes that no test called").to.deep.equal([]);
  });
});
