import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { controlApi } from "../../../src/simulator/control/control-api";
import { SimulatorContext } from "../../../src/simulator/state/context";
import { testConfig } from "./simulator-client";

const json = { "content-type": "application/json" };
const fault = '{"kind":"SESSIONS_EXPIRED"}';

describe("the control interface of the simulator", () => {
  let context: SimulatorContext;
  let server: Server;

  const listen = async (host: string) => {
    context = await SimulatorContext.open({
      config: testConfig(),
      hostSeconds: 1,
      now: Date.now,
      log: () => undefined,
    });
    const handle = new Koa().use(controlApi(context, host).routes()).callback();
    server = createServer((asked, answer) => void handle(asked, answer)).listen(0, "127.0.0.1");
    await once(server, "listening");
  };
  afterEach(() => server.close());

  async function send(headers: Record<string, string>, body?: string, path = "/simulator/faults") {
    const { port } = server.address() as AddressInfo;
    const sent = request({
      port,
      host: "127.0.0.1",
      method: body === undefined ? "GET" : "POST",
      path,
      headers,
      agent: false,
    });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of answer) text += String(chunk);
    return {
      status: answer.statusCode,
      errors: answer.statusCode === 200 ? [] : (JSON.parse(text) as { errors?: string[] }).errors,
    };
  }

  describe("on this machine", () => {
    beforeEach(() => listen("127.0.0.1"));

    it("takes JSON from this machine", async () => {
      expect(await send(json, fault)).to.include({ status: 201 });
      expect(
        await send({ "content-type": "application/json; charset=utf-8", origin: "http://localhost:1" }, fault),
      ).to.include({ status: 201 });
      expect(await send({ host: "localhost:8090" })).to.include({ status: 200 });
    });

    it("refuses a body that browsers send without asking", async () => {
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"])
        expect(await send({ "content-type": type }, fault)).to.deep.equal({
          status: 415,
          errors: ["Content-Type: must be application/json"],
        });
      expect((await send({}, fault)).status).to.equal(415);
      expect(context.state.global.faults).to.deep.equal([]);
    });

    it("refuses a page that is bound to a loopback address, or comes from elsewhere", async () => {
      for (const host of ["rebound.example:8090", "192.168.1.2:8090", "simulator"])
        expect(await send({ ...json, host }, fault)).to.deep.equal({
          status: 403,
          errors: [`Host: ${host} is not this machine`],
        });
      const origin = "https://evil.example";
      expect(await send({ origin }, "", "/simulator/reset")).to.deep.equal({
        status: 403,
        errors: [`Origin: ${origin} is not this machine`],
      });
      expect((await send({ origin })).status).to.equal(403);
      expect(context.state.global.faults).to.deep.equal([]);
    });
  });

  describe("where others reach it too", () => {
    beforeEach(() => listen("simulator"));

    it("takes its own name and addresses", async () => {
      for (const host of ["simulator:8090", "172.18.0.3:8090", "[fd00::3]:8090", "localhost"])
        expect(await send({ ...json, host }, fault)).to.include({ status: 201 });
    });

    it("refuses other names", async () => {
      for (const host of ["rebound.example", "10.rebound.example", "other"])
        expect((await send({ ...json, host }, fault)).status).to.equal(403);
    });
  });
});
