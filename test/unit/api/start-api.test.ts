import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import Koa from "koa";
import type { ApiState } from "../../../src/api/api-context";
import { createApi } from "../../../src/api/create-api";
import { taskExample } from "../../../src/api/openapi/examples";
import { startApi, urlOf } from "../../../src/api/start-api";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import type { Task } from "../../../src/domain/spec/task";
import type { ServiceError } from "../../../src/upgrades/service-error";
import { eventually } from "../../support/eventually";
import { expectError, fakeService, memoryLog, sendRawAndEnd, startApiUnderTest } from "./api-under-test";

/** A use case that waits until it is let go, and tells when it has been asked. */
function gate() {
  let arrived = () => {};
  let open = () => {};
  const asked = new Promise<void>((resolve) => (arrived = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  const getTask = () => async (): Promise<E.Either<ServiceError, Task>> => {
    arrived();
    await opened;
    return E.right(taskExample);
  };
  return { getTask, asked, open: () => open() };
}

async function refusesConnections(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const [error] = (await Promise.race([
    once(socket, "connect").then(() => []),
    new Promise((resolve) => socket.once("error", (e) => resolve([e]))),
  ])) as [Error?];
  socket.destroy();
  return error !== undefined;
}

const taskPath = `/v1/tasks/${taskExample.id}`;

describe("startApi", () => {
  it("tells its address, also of IPv6", async () => {
    expect(urlOf({ address: "::1", family: "IPv6", port: 80 })).to.equal("http://[::1]:80");
    const api = await startApiUnderTest();
    expect(api.url).to.match(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/);
    await api.close();
  });

  it("rejects where its port is taken", async () => {
    const { log } = memoryLog();
    const first = await startApiUnderTest();
    const app = createApi({
      service: fakeService({ started: [], listed: [], read: [], asked: [] }),
      authentication: devAuthentication,
      log,
      version: "1",
    });
    const error = await startApi(app, { host: "127.0.0.1", port: first.port, log }).catch((e: unknown) => e);
    expect(error).to.have.property("code", "EADDRINUSE");
    await first.close();
  });

  it("finishes what is in flight when it closes, and takes nothing new", async () => {
    const { getTask, asked, open } = gate();
    const api = await startApiUnderTest({ service: { getTask } });
    const agent = new Agent({ keepAlive: true });
    const answer = once(get(`${api.url}${taskPath}`, { agent }), "response") as Promise<[IncomingMessage]>;
    await asked;
    const closed = api.close();
    expect(await refusesConnections(api.port)).to.equal(true);
    open();
    const [response] = await answer;
    expect([response.statusCode, JSON.parse(await text(response))]).to.deep.equal([200, taskExample]);
    expect(response.headers.connection).to.equal("close");
    await closed;
    agent.destroy();
  });

  it("does not wait for idle connections when it closes", async () => {
    const api = await startApiUnderTest();
    const agent = new Agent({ keepAlive: true });
    const [response] = (await once(get(`${api.url}/health/live`, { agent }), "response")) as [IncomingMessage];
    await text(response);
    await api.close();
    agent.destroy();
  });

  it("cuts off what takes too long when it closes", async () => {
    const { getTask, asked, open } = gate();
    const api = await startApiUnderTest({ service: { getTask }, connectionLimits: { close: 50 } });
    const answer = fetch(`${api.url}${taskPath}`).catch((error: unknown) => error);
    await asked;
    await api.close();
    expect(await answer).to.be.instanceOf(TypeError);
    open();
  });

  it("can be closed twice", async () => {
    const api = await startApiUnderTest();
    await Promise.all([api.close(), api.close()]);
    await api.close();
  });

  it("answers an Error and writes a log line also where nothing inside the application could", async () => {
    const { log, lines } = memoryLog();
    log.info = () => {
      throw new Error("secret internals");
    };
    const service = fakeService({ started: [], listed: [], read: [], asked: [] });
    const app = createApi({ service, authentication: devAuthentication, log, version: "1" });
    const api = await startApi(app, { host: "127.0.0.1", port: 0, log });
    const answer = await fetch(`${api.url}/health/live`);
    const [status, headers, body] = [answer.status, Object.fromEntries(answer.headers), await answer.text()];
    const { referenceToken } = expectError({ status, headers, text: body }, 500, "INTERNAL_ERROR");
    expect(body).to.not.contain("secret");
    expect(lines.at(-1)).to.include({ level: 50, requestId: referenceToken, status: 500 });
    expect(JSON.stringify(lines.at(-1))).to.contain("secret internals");
    await api.close();
  });

  it("answers a client that ends its side when it has sent its request", async () => {
    const { getTask, asked, open } = gate();
    const api = await startApiUnderTest({ service: { getTask } });
    const answers = sendRawAndEnd(api.port, `GET ${taskPath} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await asked;
    // A round trip: the end of the other connection has been seen by then.
    await fetch(`${api.url}/health/live`);
    open();
    expect((await answers).map(({ status }) => status)).to.deep.equal([200]);
    await api.close();
  });

  it("lets go of every request of a connection that breaks off, also of those that wait for their turn", async () => {
    const app = new Koa<ApiState>();
    // Koa prints what breaks off.
    app.silent = true;
    const arrived = new Set<string>();
    const closed = new Set<string>();
    app.use((ctx) => {
      arrived.add(ctx.path);
      ctx.res.once("close", () => closed.add(ctx.path));
      return new Promise(() => undefined);
    });
    const api = await startApi(app, { host: "127.0.0.1", port: 0, log: memoryLog().log });
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    const paths = ["/1", "/2", "/3"];
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(""));
    const all = (set: Set<string>) => paths.every((path) => set.has(path));
    const seen = (set: Set<string>) => eventually(() => Promise.resolve(all(set)), Boolean, 8000);
    await seen(arrived);
    socket.resetAndDestroy();
    await seen(closed);
    await api.close();
  });

  it("survives clients that hang up before their answer", async () => {
    const { getTask, asked, open } = gate();
    const api = await startApiUnderTest({ service: { getTask } });
    const socket = connect(api.port, "127.0.0.1");
    socket.write(`GET ${taskPath} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await asked;
    socket.destroy();
    open();
    expect((await fetch(`${api.url}/health/live`)).status).to.equal(200);
    await api.close();
    expect(api.logLines.filter(({ level }) => level >= 50)).to.deep.equal([]);
  });
});
