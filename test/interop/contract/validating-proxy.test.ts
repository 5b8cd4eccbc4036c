import { expect } from "chai";
import { readFileSync } from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Document } from "openapi-backend";
import { startValidatingProxy, type ValidatingProxy } from "./validating-proxy";

const document = JSON.parse(readFileSync(join(__dirname, "vlcm.openapi.json"), "utf8")) as Document;
const json = { "content-type": "application/json" };

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

/** The controls of every contract test: without these, "no violations" would prove nothing. */
describe("the validating proxy", () => {
  let answer: Answer | "DROP";
  let target: http.Server;
  let proxy: ValidatingProxy;

  beforeEach(async () => {
    target = http.createServer((request, response) => {
      request.resume();
      if (answer === "DROP") return void request.socket.destroy();
      const body = answer.body === undefined ? undefined : JSON.stringify(answer.body);
      response.writeHead(answer.status, body === undefined ? {} : json);
      response.end(body);
    });
    await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
    const { port } = target.address() as AddressInfo;
    proxy = await startValidatingProxy({ target: `http://127.0.0.1:${port}`, document });
  });

  afterEach(async () => {
    await proxy.close();
    target.closeAllConnections();
    await new Promise((resolve) => target.close(resolve));
  });

  const call = (method: string, path: string, body?: unknown) =>
    fetch(`${proxy.url}${path}`, { method, ...(body !== undefined && { headers: json, body: JSON.stringify(body) }) });
  const problems = () => proxy.violations.map((v) => `${v.side}: ${v.problem}`);

  const software = "/api/esx/settings/clusters/domain-c8/software";
  const policy = "/api/esx/settings/clusters/domain-c8/policies/apply";

  it("lets a good exchange pass unchanged and reports nothing", async () => {
    answer = { status: 202, body: "task-1" };
    const response = await call("POST", `${software}?action=apply&vmw-task=true`, {
      hosts: ["host-12"],
      accept_eula: true,
    });
    expect(response.status).to.equal(202);
    expect(await response.json()).to.equal("task-1");
    expect(problems()).to.deep.equal([]);
  });

  it("accepts the repeated query parameters of a filter", async () => {
    answer = {
      status: 200,
      body: [{ host: "host-1", name: "esx-1", connection_state: "CONNECTED", power_state: "POWERED_ON" }],
    };
    await call("GET", "/api/vcenter/host?clusters=domain-c8&clusters=domain-c21&connection_states=CONNECTED");
    expect(problems()).to.deep.equal([]);
  });

  it("catches a misspelt action", async () => {
    answer = { status: 202, body: "task-1" };
    await call("POST", `${software}?action=aply&vmw-task=true`, {});
    expect(problems()).to.include("request: /query/action: must be equal to one of the allowed values");
  });

  it("catches an action without the task flag that it needs", async () => {
    answer = { status: 202, body: "task-1" };
    await call("POST", `${software}?action=apply`, {});
    expect(problems()).to.deep.equal(["request: query: no operation has action=apply with vmw-task="]);
  });

  it("catches a misspelt name of a query parameter", async () => {
    answer = { status: 200, body: [] };
    await call("GET", "/api/vcenter/host?cluster=domain-c8");
    expect(problems()).to.deep.equal(["request: query: cluster is no filter here"]);
  });

  it("catches a wrong enumeration value in a filter", async () => {
    answer = { status: 200, body: {} };
    await call("GET", "/api/cis/tasks?services=x&status=RUNING");
    expect(problems()).to.have.length(1);
  });

  it("catches a string where a number belongs, in a request", async () => {
    answer = { status: 204 };
    await call("PUT", policy, { failure_action: { action: "RETRY", retry_delay: "300", retry_count: 3 } });
    expect(problems()).to.deep.equal(["request: /requestBody/failure_action/retry_delay: must be integer"]);
  });

  it("catches a misspelt field of a request, although every field is optional", async () => {
    answer = { status: 204 };
    await call("PUT", policy, { disable_dmp: true });
    expect(problems()).to.deep.equal(["request: /requestBody: must NOT have additional properties"]);
  });

  it("catches a string where a number belongs, in an answer", async () => {
    const effective = {
      failure_action: { action: "RETRY", retry_delay: "300", retry_count: 3 },
      pre_remediation_power_action: "DO_NOT_CHANGE_VMS_POWER_STATE",
      enable_quick_boot: false,
      disable_dpm: false,
      disable_hac: false,
      evacuate_offline_vms: false,
    };
    answer = { status: 200, body: effective };
    await call("GET", `${policy}/effective`);
    expect(problems()).to.have.length(1);
    expect(problems()[0]).to.match(/^answer: \/failure_action\/retry_delay: must be integer/);
  });

  it("catches a status that the operation does not declare", async () => {
    answer = { status: 201, body: "token" };
    await call("POST", "/api/session");
    expect(proxy.violations).to.deep.equal([
      { side: "answer", call: "POST /api/session", status: 201, problem: "status 201 is not declared" },
    ]);
  });

  it("catches an error type that the status does not have", async () => {
    answer = { status: 404, body: { error_type: "UNAUTHENTICATED", messages: [] } };
    await call("GET", software);
    expect(problems()).to.have.length(1);
  });

  it("catches a path that the contract does not have", async () => {
    answer = { status: 200, body: {} };
    await call("GET", "/api/esx/settings/cluster/domain-c8/software");
    expect(problems()).to.deep.equal(["request: the contract has no GET /api/esx/settings/cluster/domain-c8/software"]);
  });

  it("catches 200 where only 204 is declared", async () => {
    answer = { status: 200, body: {} };
    await call("PUT", policy, {});
    expect(problems()).to.deep.equal(["answer: status 200 is not declared"]);
  });

  it("drops the caller's connection where the target drops it", async () => {
    answer = "DROP";
    const failure = await call("GET", software).then(
      () => "answered",
      () => "dropped",
    );
    expect(failure).to.equal("dropped");
  });
});
