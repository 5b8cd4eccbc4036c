import { once } from "node:events";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import * as t from "io-ts";
import type { DriverError } from "../../../activities/drivers/driver-error";
import { maximumConcurrentCalls } from "../../../activities/drivers/http-connection";
import { VapiHttp } from "../../../activities/drivers/vapi/vapi-http";
import { leased } from "../../support/activity-environment";

type Handler = (call: string, session: string | undefined) => { status: number; body?: unknown } | "drop";

describe("the HTTP side of the driver", () => {
  let server: http.Server;
  let client: VapiHttp;
  let calls: string[];
  let answer: Handler;

  beforeEach(async () => {
    calls = [];
    server = http.createServer((request, response) => {
      const call = `${request.method} ${request.url}`;
      calls.push(call);
      const answered = answer(call, request.headers["vmware-api-session-id"] as string | undefined);
      request.resume().on("end", () => {
        if (answered === "drop") return void request.socket.destroy();
        response.writeHead(answered.status, { "content-type": "application/json" });
        response.end(answered.body === undefined ? undefined : JSON.stringify(answered.body));
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const access = { id: "vc-01", url: `http://127.0.0.1:${port}`, username: "svc", password: "s3cret" };
    client = leased(new VapiHttp(access, { callTimeout: 2_000 }));
  });

  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });

  const read = () => client.call({ what: "read it", method: "GET", path: "api/it" }, t.string);
  const thrownBy = (call: Promise<unknown>) =>
    call.then(
      () => expect.fail("should have thrown"),
      (error: unknown) => error as DriverError,
    );

  it("logs in once for many callers, and again once where the session has expired", async () => {
    let sessions = 0;
    let valid = "";
    answer = (call, session) => {
      if (call === "POST /api/session") return { status: 201, body: (valid = `token-${++sessions}`) };
      return session === valid ? { status: 200, body: "it" } : { status: 401, body: { error_type: "UNAUTHENTICATED" } };
    };
    expect(await Promise.all([read(), read(), read()])).to.deep.equal(["it", "it", "it"]);
    expect(sessions).to.equal(1);
    valid = "expired";
    expect(await Promise.all([read(), read(), read()])).to.deep.equal(["it", "it", "it"]);
    expect(sessions).to.equal(2);
  });

  it("asks a manager a bounded number of things at a time, and the rest in turn, however long that takes", async () => {
    let [now, most] = [0, 0];
    const waiting: (() => void)[] = [];
    server
      .removeAllListeners("request")
      .on("request", (request: http.IncomingMessage, response: http.ServerResponse) => {
        if (request.url === "/api/session") return void response.writeHead(201).end('"token"');
        most = Math.max(most, ++now);
        waiting.push(() => {
          now -= 1;
          response.end('"it"');
        });
        // Each round is answered once it is complete, so that all that may come at a time has come.
        if (waiting.length === maximumConcurrentCalls) for (const one of waiting.splice(0)) one();
      });
    const all = Array.from({ length: 3 * maximumConcurrentCalls }, read);
    expect(new Set(await Promise.all(all))).to.deep.equal(new Set(["it"]));
    expect(most).to.equal(maximumConcurrentCalls);
  });

  it("gives up where a fresh session is not accepted, and where the credentials are not", async () => {
    answer = (call) => (call === "POST /api/session" ? { status: 200, body: "token" } : { status: 401 });
    expect(await thrownBy(read())).to.include({ code: "AUTHENTICATION", kind: "permanent" });
    expect(calls.filter((call) => call === "POST /api/session")).to.have.length(2);
    answer = () => ({ status: 401 });
    expect(await thrownBy(read())).to.include({ code: "AUTHENTICATION", kind: "permanent" });
  });

  it("logs in again after a login that failed", async () => {
    answer = () => ({ status: 503 });
    expect(await thrownBy(read())).to.include({ kind: "transient" });
    answer = (call) => ({ status: 200, body: call === "POST /api/session" ? "token" : "it" });
    expect(await read()).to.equal("it");
  });

  it("repeats a GET a few times and a POST never", async () => {
    answer = (call) => (call === "POST /api/session" ? { status: 200, body: "token" } : { status: 503 });
    expect(await thrownBy(read())).to.include({ code: "COMPONENT_MANAGER_UNREACHABLE", kind: "transient" });
    expect(calls.filter((call) => call === "GET /api/it")).to.have.length(3);
    const post = client.call({ what: "do it", method: "POST", path: "api/it", json: {} }, t.string);
    expect(await thrownBy(post)).to.include({ kind: "transient" });
    answer = (call) => (call === "POST /api/session" ? { status: 200, body: "token" } : "drop");
    const dropped = client.call({ what: "do it", method: "POST", path: "api/it", json: {} }, t.string);
    expect(await thrownBy(dropped)).to.include({ code: "COMPONENT_MANAGER_UNREACHABLE", kind: "transient" });
    expect(calls.filter((call) => call === "POST /api/it")).to.have.length(2);
  });

  it("begins a GET anew whose answer breaks off", async () => {
    let tries = 0;
    server
      .removeAllListeners("request")
      .on("request", (request: http.IncomingMessage, response: http.ServerResponse) => {
        if (request.url === "/api/session") return void response.writeHead(201).end('"token"');
        expect(request.headers).to.not.have.any.keys("range", "if-range");
        if (++tries > 1) return void response.end('"the whole of it"');
        response.writeHead(200, { "content-length": 100 }).write('"the wh', () => request.socket.destroy());
      });
    expect(await read()).to.equal("the whole of it");
    expect(tries).to.equal(2);
  });

  it("limits the time of a call", async () => {
    const impatient = new VapiHttp(
      { id: "vc-01", url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, username: "u", password: "p" },
      { callTimeout: 20, quickRetries: 0 },
    );
    server.removeAllListeners("request");
    expect(await thrownBy(impatient.call({ what: "read it", method: "GET", path: "api/it" }, t.string))).to.include({
      code: "COMPONENT_MANAGER_UNREACHABLE",
    });
    await impatient.close();
  });

  it("names the fields of an answer that it does not understand, and never the password", async () => {
    answer = (call) => ({ status: 200, body: call === "POST /api/session" ? "token" : { status: 7 } });
    const call = { what: "read it", method: "GET", path: "api/it" } as const;
    const error = await thrownBy(
      client.call(call, t.type({ status: t.string, progress: t.type({ total: t.number }) })),
    );
    expect(error).to.include({ code: "COMPONENT_MANAGER_ANSWER_INVALID", kind: "permanent" });
    expect(error.message).to.match(/status, progress/);
    expect(error.message).to.not.match(/s3cret/);
  });

  it("knows the component manager's time to the second", async () => {
    answer = (call) => ({ status: 200, body: call === "POST /api/session" ? "token" : "it" });
    await read();
    expect(Math.abs(client.now() - Date.now())).to.be.below(5);
  });
});
