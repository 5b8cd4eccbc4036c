import { once } from "node:events";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { DriverError } from "../../../activities/drivers/driver-error";
import { createNsxClient, type NsxClient } from "../../../activities/drivers/nsx/nsx-client";
import { errorOfAnswer } from "../../../activities/drivers/nsx/nsx-http";
import { leased } from "../../support/activity-environment";

const asked = { managerId: "nsx-01", what: "start the upgrade of HOST" };

describe("errors of a NETVIRT manager", () => {
  const answers: readonly [number, number | undefined, string, string][] = [
    [400, 30011, "permanent", "COMPONENT_MANAGER_REFUSED"],
    [401, 403, "permanent", "AUTHENTICATION"],
    [403, 403, "permanent", "AUTHORIZATION"],
    [404, 600, "permanent", "RESOURCE_NOT_FOUND"],
    [409, 604, "transient", "NETVIRT_REVISION_STALE"],
    [412, 604, "transient", "NETVIRT_REVISION_STALE"],
    [429, undefined, "transient", "COMPONENT_MANAGER_UNREACHABLE"],
    [500, 30023, "transient", "NETVIRT_STILL_IN_PROGRESS"],
    [500, 30953, "alreadyDone", "NETVIRT_PRECHECKS_RUNNING"],
    [500, 99, "permanent", "COMPONENT_MANAGER_ERROR"],
    [500, undefined, "transient", "COMPONENT_MANAGER_UNREACHABLE"],
    [502, undefined, "transient", "COMPONENT_MANAGER_UNREACHABLE"],
    [503, 98, "transient", "COMPONENT_MANAGER_UNREACHABLE"],
    [504, undefined, "transient", "COMPONENT_MANAGER_UNREACHABLE"],
  ];
  for (const [status, error_code, kind, code] of answers) {
    it(`takes ${status} with code ${error_code ?? "none"} as ${kind} ${code}`, () => {
      const error = errorOfAnswer(asked, status, error_code && { error_code, error_message: "What happened." });
      expect(error).to.include({ kind, code, status });
      expect(error.remediation).to.not.equal("");
    });
  }

  it("says what was asked of whom, and what the product said, with what is related to it", () => {
    const body = { error_code: 7, error_message: "No.", related_errors: [{ error_message: "Because." }] };
    const error = errorOfAnswer(asked, 400, body);
    expect(error.message).to.equal("Could not start the upgrade of HOST: nsx-01 answered 400 (error 7): No.");
    expect(error.causes).to.deep.equal(["No.", "Because."]);
  });
});

describe("the client of the upgrade coordinator", () => {
  let server: http.Server;
  let client: NsxClient;
  let calls: string[];
  let answer: (call: string, body: string) => { status: number; body?: unknown } | "drop";

  beforeEach(async () => {
    calls = [];
    server = http.createServer((request, response) => {
      const call = `${request.method} ${request.url}`;
      calls.push(call);
      let sent = "";
      request.on("data", (chunk: Buffer) => (sent += chunk.toString()));
      request.on("end", () => {
        const answered = answer(call, sent);
        if (answered === "drop") return void request.socket.destroy();
        response.writeHead(answered.status, { "content-type": "application/json" });
        response.end(answered.body === undefined ? undefined : JSON.stringify(answered.body));
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/nsx/nsx-01`;
    client = leased(
      createNsxClient({ id: "nsx-01", url, username: "svc", password: "s3cret" }, { callTimeout: 2_000, pageSize: 2 }),
    );
  });
  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });

  const thrownBy = (call: Promise<unknown>) =>
    call.then(
      () => expect.fail("should have thrown"),
      (error: unknown) => error as DriverError,
    );

  it("reads lists to their last page, below the path of the manager's address", async () => {
    answer = (call) => {
      const cursor = new URL(call.split(" ")[1]!, "http://x").searchParams.get("cursor");
      const results = cursor === null ? [{ id: "a" }, { id: "b" }] : [{ id: "c" }];
      return { status: 200, body: { results, result_count: 3, ...(cursor === null && { cursor: "0036b" }) } };
    };
    expect((await client.listGroups("HOST")).map(({ id }) => id)).to.deep.equal(["a", "b", "c"]);
    const path = "/nsx/nsx-01/api/v1/upgrade/upgrade-unit-groups?component_type=HOST&sync=true&page_size=2";
    expect(calls).to.deep.equal([`GET ${path}`, `GET ${path}&cursor=0036b`]);
  });

  it("ends a list whose cursor leads nowhere", async () => {
    answer = () => ({ status: 200, body: { results: [], cursor: "again" } });
    expect(await client.listUnitStatuses("g/1")).to.deep.equal([]);
    expect(calls).to.deep.equal(["GET /nsx/nsx-01/api/v1/upgrade/upgrade-unit-groups/g%2F1/status?page_size=2"]);
  });

  it("puts a group back with all that was read of it", async () => {
    let put: unknown;
    answer = (call, body) => {
      if (call.startsWith("PUT")) put = JSON.parse(body);
      return { status: 200, body: { id: "g", enabled: true, _revision: 3, tags: [{ tag: "keep" }] } };
    };
    await client.putGroup({ ...(await client.readGroup("g")), enabled: false });
    expect(put).to.deep.equal({ id: "g", enabled: false, _revision: 3, tags: [{ tag: "keep" }] });
  });

  it("repeats a read whose connection was cut, and never what changes something", async () => {
    answer = () => (calls.length === 1 ? "drop" : { status: 200, body: { system_version: "9" } });
    expect(await client.readSummary()).to.deep.equal({ system_version: "9" });
    calls.length = 0;
    answer = () => "drop";
    expect(await thrownBy(client.startUpgrade("HOST", "upgrade"))).to.include({ kind: "transient" });
    expect(calls).to.deep.equal(["POST /nsx/nsx-01/api/v1/upgrade/plan?action=upgrade&component_type=HOST"]);
  });

  it("asks once where it is refused", async () => {
    answer = () => ({ status: 403, body: { error_code: 403, error_message: "locked" } });
    expect(await thrownBy(client.readSummary())).to.include({ kind: "permanent", code: "AUTHORIZATION" });
    expect(calls).to.have.length(1);
  });

  it("names the fields of an answer that it does not understand, and never the password", async () => {
    answer = () => ({ status: 200, body: { component_status: [{ status: 1 }] } });
    const error = await thrownBy(client.readStatus());
    expect(error.code).to.equal("COMPONENT_MANAGER_ANSWER_INVALID");
    expect(error.message).to.include("overall_upgrade_status").and.not.include("s3cret");
  });
});
