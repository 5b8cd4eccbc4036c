import { once } from "node:events";
import { get, type IncomingMessage, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { expect } from "chai";
import { EventSource } from "eventsource";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import { taskEventsExample, taskExample } from "../../../src/api/openapi/examples";
import type { Authentication } from "../../../src/authentication/authentication";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import type { Task } from "../../../src/domain/spec/task";
import { applyTaskChange, TaskChange } from "../../../src/domain/task/task-change";
import { notFound, type ServiceError, temporalUnreachable } from "../../../src/upgrades/service-error";
import { TaskWatcher, type WatchLimits } from "../../../src/upgrades/watch-task";
import { eventually } from "../../support/eventually";
import { ManualTimers } from "../../support/manual-timers";
import { type ApiOptions, type ApiUnderTest, expectError, startApiUnderTest } from "./api-under-test";

const path = `/v1/tasks/${taskExample.id}/events`;
const limits: WatchLimits = { poll: 1000, quiet: 15_000, listeners: 100, listenersPerCaller: 100 };

/** The API with the real watcher over a Task that a test changes, and a clock that it moves. */
class Watched {
  readonly timers = new ManualTimers();
  task: Task = taskExample;
  error: ServiceError | undefined;
  reads = 0;
  /** A read answers when this does. */
  gate: Promise<void> = Promise.resolve();
  private epoch = 0;
  private streams: Stream[] = [];
  api!: ApiUnderTest;
  watcher!: TaskWatcher;

  async start(changes: Partial<WatchLimits> = {}, options: ApiOptions = {}): Promise<this> {
    this.watcher = new TaskWatcher({
      executions: {
        readTask: () => async () => {
          this.reads += 1;
          await this.gate;
          return this.error ? E.left(this.error) : E.right(this.task);
        },
      },
      identities: { newId: () => `epoch${++this.epoch}` },
      timers: this.timers,
      watchLimits: { ...limits, ...changes },
    });
    const watchTask: TaskWatcher["watch"] = (id, follower) => this.watcher.watch(id, follower);
    this.api = await startApiUnderTest({ ...options, service: { watchTask } });
    return this;
  }

  async open(headers: Record<string, string> = {}): Promise<Stream> {
    const [response] = (await once(get(this.api.url + path, { headers, agent: false }), "response")) as [
      IncomingMessage,
    ];
    const stream = new Stream(response);
    this.streams.push(stream);
    return stream;
  }

  async becomes(changes: Partial<Task>): Promise<void> {
    this.task = { ...this.task, ...changes };
    await this.timers.pass(limits.poll);
  }

  async close(): Promise<void> {
    for (const { response } of this.streams) response.destroy();
    this.watcher.close();
    await this.api.close();
  }
}

/** One answer, with what has been told so far. */
class Stream {
  readonly messages: EventSourceMessage[] = [];
  readonly comments: string[] = [];
  text = "";
  ended = false;
  private readonly parser = createParser({
    onEvent: (message) => this.messages.push(message),
    onComment: (comment) => this.comments.push(comment),
  });

  constructor(readonly response: IncomingMessage) {
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      this.text += chunk;
      this.parser.feed(chunk);
    });
    response.on("end", () => (this.ended = true));
    response.on("error", () => undefined);
  }

  get names(): (string | undefined)[] {
    return this.messages.map(({ event }) => event);
  }

  /** The events by name, once there are that many. */
  async told(count: number): Promise<(string | undefined)[]> {
    await eventually(
      () => Promise.resolve(this.messages.length),
      (length) => length >= count,
    );
    return this.names;
  }

  async end(): Promise<void> {
    await eventually(
      () => Promise.resolve(this.ended),
      (ended) => ended,
    );
  }

  data(i: number): unknown {
    return JSON.parse(this.messages[i]?.data ?? "null");
  }

  /** The Task that somebody has who folds the events. */
  get task(): Task | undefined {
    return this.messages.reduce<Task | undefined>((task, { event, data }) => {
      if (event === "snapshot") return JSON.parse(data) as Task;
      return event === "change" && task ? applyTaskChange(task, JSON.parse(data) as TaskChange) : task;
    }, undefined);
  }
}

describe("GET /v1/tasks/{id}/events", () => {
  let watched: Watched;
  /** The log without what only developers look for, once it has that many lines. */
  const logged = (count: number) =>
    eventually(
      () => Promise.resolve(watched.api.logLines.filter(({ level }) => level > 20)),
      ({ length }) => length >= count,
    );

  beforeEach(async () => (watched = await new Watched().start()));
  afterEach(() => watched.close());

  it("answers a stream that no proxy keeps back", async () => {
    const { response } = await watched.open();
    expect(response.statusCode).to.equal(200);
    expect(response.headers).to.include({
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
      connection: "close",
    });
    expect(response.headers["x-request-id"]).to.be.a("string");
    expect(response.headers).not.to.have.property("content-length");
  });

  it("tells the Task, what changes of it, and its end", async () => {
    const stream = await watched.open();
    await stream.told(1);
    const parts = taskExample.subTasks!.map((part, i) =>
      i === 1 ? { ...part, status: "IN_PROGRESS" as const } : part,
    );
    await watched.becomes({ status: "In Progress", subTasks: parts });
    await stream.told(2);
    await watched.becomes({ status: "Successful", isCancellable: false });
    await stream.end();
    expect(stream.names).to.deep.equal(["snapshot", "change", "change", "end"]);
    expect(stream.messages.map(({ id }) => id)).to.deep.equal(["epoch1.1", "epoch1.2", "epoch1.3", undefined]);
    expect(stream.data(0)).to.deep.equal(taskExample);
    expect(TaskChange.is(stream.data(1))).to.equal(true);
    expect((stream.data(1) as TaskChange).subTasks).to.have.length(1);
    expect((stream.data(1) as TaskChange).subTasks[0]).to.include({ path: "/subTasks/1", whole: false });
    expect(stream.data(3)).to.deep.equal({ status: "Successful" });
    expect(stream.task).to.deep.equal(watched.task);
  });

  it("is written as the document's example says", async () => {
    const { subTasks: _subTasks, ...header } = taskExample;
    watched.task = { ...header, status: "Cancelled", isCancellable: false };
    const stream = await watched.open();
    await stream.end();
    expect(stream.text).to.equal(taskEventsExample.replace("0b8f6c1e-4f0d-4e0b-9a53-7f3f0c5d2a10", "epoch1"));
  });

  it("shows by a comment that it is alive", async () => {
    const stream = await watched.open();
    await stream.told(1);
    await watched.timers.pass(limits.quiet);
    await eventually(
      () => Promise.resolve(stream.comments.length),
      (length) => length === 1,
    );
    expect(stream.names).to.deep.equal(["snapshot"]);
  });

  it("goes on after Last-Event-ID, and with a snapshot where that is unknown", async () => {
    const first = await watched.open();
    await first.told(1);
    await watched.becomes({ status: "In Progress" });
    const [known, unknown] = await Promise.all(
      ["epoch1.1", "elsewhere.7"].map((id) => watched.open({ "last-event-id": id })),
    );
    expect(await known!.told(1)).to.deep.equal(["change"]);
    expect(await unknown!.told(1)).to.deep.equal(["snapshot"]);
  });

  it("opens at once where there is nothing to tell yet", async () => {
    const first = await watched.open();
    await first.told(1);
    const second = await watched.open({ "last-event-id": "epoch1.1" });
    expect(second.response.statusCode).to.equal(200);
    expect(second.names).to.deep.equal([]);
  });

  it("answers an Error before there is any stream", async () => {
    const unknown = await request(watched.api.url).get("/v1/tasks/nonsense/events");
    expectError(unknown, 404, "TASK_NOT_FOUND");
    watched.error = notFound("task", taskExample.id);
    expectError(await request(watched.api.url).get(path), 404, "TASK_NOT_FOUND");
    watched.error = temporalUnreachable(new Error("away"));
    expectError(await request(watched.api.url).get(path), 500, "TEMPORAL_UNREACHABLE");
    const twice = httpRequest(watched.api.url + path, { headers: { "last-event-id": ["a", "b"] }, agent: false }).end();
    const [response] = (await once(twice, "response")) as [IncomingMessage];
    expect(response.statusCode).to.equal(400);
    response.resume();
  });

  it("answers 503 where there are too many listeners already, and serves again when one has gone", async () => {
    await watched.close();
    watched = await new Watched().start({ listeners: 1 });
    const stream = await watched.open();
    const refused = await request(watched.api.url).get(path);
    expectError(refused, 503, "TOO_MANY_LISTENERS");
    expect(refused.headers["retry-after"]).to.equal("10");
    stream.response.destroy();
    const next = await eventually(
      () => watched.open(),
      ({ response }) => response.statusCode === 200,
    );
    expect(await next.told(1)).to.deep.equal(["snapshot"]);
  });

  it("answers 429 to a caller who has as many streams as one may", async () => {
    await watched.close();
    watched = await new Watched().start({ listenersPerCaller: 1 });
    await watched.open();
    const refused = await request(watched.api.url).get(path);
    expectError(refused, 429, "TOO_MANY_LISTENERS_OF_CALLER");
    expect(refused.headers["retry-after"]).to.equal("10");
    expect((refused.body as { message: string }).message).to.include("maximum of 1 event stream");
  });

  it("ends with the token that it was opened with, without telling that the Task has ended", async () => {
    await watched.close();
    const authentication: Authentication = {
      ...devAuthentication,
      mode: "local",
      authenticate: () => TE.right({ caller: "ann", role: "VIEWER", milliseconds: 4000 }),
    };
    watched = await new Watched().start({}, { authentication });
    const stream = await watched.open();
    await stream.told(1);
    await watched.timers.pass(3999);
    expect(stream.ended).to.equal(false);
    await watched.timers.pass(1);
    await stream.end();
    expect(stream.names).to.deep.equal(["snapshot"]);
    expect((await watched.open({ "last-event-id": stream.messages[0]?.id ?? "" })).response.statusCode).to.equal(200);
  });

  it("keeps no listener for a client that goes while the Task is being read", async () => {
    await watched.close();
    watched = await new Watched().start({ listeners: 1 });
    let open = () => {};
    watched.gate = new Promise((resolve) => (open = resolve));
    const socket = connect(watched.api.port, "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await eventually(
      () => Promise.resolve(watched.reads),
      (reads) => reads === 1,
    );
    socket.destroy();
    // A round trip: the end of the other connection has been seen by then.
    await fetch(`${watched.api.url}/health/live`);
    open();
    const next = await eventually(
      () => watched.open(),
      ({ response }) => response.statusCode === 200,
    );
    expect(await next.told(1)).to.deep.equal(["snapshot"]);
  });

  it("keeps no listener for HEAD", async () => {
    await watched.close();
    watched = await new Watched().start({ listeners: 1 });
    for (let i = 0; i < 3; i++) {
      const head = httpRequest(watched.api.url + path, { method: "HEAD", agent: false }).end();
      const [response] = (await once(head, "response")) as [IncomingMessage];
      expect(response.statusCode).to.equal(200);
      response.resume();
      await logged(i + 1);
    }
  });

  it("tells of an outage as an Error, and goes on after it", async () => {
    const stream = await watched.open();
    await stream.told(1);
    watched.error = temporalUnreachable(new Error("secret address"));
    await watched.timers.pass(5 * limits.poll);
    await stream.told(2);
    watched.error = undefined;
    await watched.becomes({ status: "Successful" });
    await stream.end();
    expect(stream.names).to.deep.equal(["snapshot", "unavailable", "available", "change", "end"]);
    expect(stream.data(1)).to.include({
      errorCode: "TEMPORAL_UNREACHABLE",
      referenceToken: stream.response.headers["x-request-id"],
    });
    expect(stream.text).not.to.contain("secret");
    expect(stream.task).to.deep.equal(watched.task);
    const [line] = await logged(1);
    expect(line).to.include({ status: 200, errorCode: "TEMPORAL_UNREACHABLE" });
  });

  it("ends with an Error where the Task is no Task, and lets nothing of it out", async () => {
    const stream = await watched.open();
    await stream.told(1);
    await watched.becomes({ status: "SECRET" as Task["status"] });
    await stream.end();
    expect(stream.names).to.deep.equal(["snapshot", "unavailable"]);
    expect(stream.data(1)).to.include({ errorCode: "INTERNAL_ERROR" });
    expect(stream.text).not.to.contain("SECRET");
    expect((await logged(1))[0]).to.have.property("err");
  });

  it("writes one log line, when it has ended, in whatever way", async () => {
    const left = await watched.open();
    await left.told(1);
    expect(await logged(0)).to.deep.equal([]);
    left.response.destroy();
    await logged(1);
    const toItsEnd = await watched.open();
    await toItsEnd.told(1);
    await watched.becomes({ status: "Failed" });
    await toItsEnd.end();
    const lines = await logged(2);
    expect(lines).to.have.length(2);
    for (const line of lines)
      expect(line).to.include({ msg: "stream ended", method: "GET", path, status: 200, taskId: taskExample.id });
  });

  it("stops reading the Task when the last client has gone", async () => {
    const streams = [await watched.open(), await watched.open()];
    for (const stream of streams) await stream.told(1);
    await watched.timers.pass(3 * limits.poll);
    expect(watched.reads).to.equal(4);
    for (const { response } of streams) response.destroy();
    await logged(2);
    await watched.timers.pass(100 * limits.poll);
    expect(watched.reads).to.equal(4);
  });

  it("reads the Task once per interval for two hundred clients", async () => {
    await watched.close();
    watched = await new Watched().start({ listeners: 200, listenersPerCaller: 200 });
    const streams = await Promise.all(Array.from({ length: 200 }, () => watched.open()));
    await Promise.all(streams.map((stream) => stream.told(1)));
    await watched.becomes({ status: "In Progress" });
    await Promise.all(streams.map((stream) => stream.told(2)));
    await watched.becomes({ status: "Successful" });
    await Promise.all(streams.map((stream) => stream.end()));
    expect(watched.reads).to.equal(3);
    for (const stream of streams) expect(stream.task).to.deep.equal(watched.task);
  });

  it("ends its streams when the process stops, without the time that requests in flight have", async () => {
    const stream = await watched.open();
    await stream.told(1);
    watched.watcher.close();
    await watched.api.close();
    await stream.end();
    expect(stream.names).to.deep.equal(["snapshot"]);
  });

  it("holds little for a client that does not read, and gives it the Task as it is when it does", async () => {
    // Far more than the buffers of a connection hold.
    const text = "x".repeat(1000);
    const subTasks = Array.from({ length: 16_000 }, () => ({ ...taskExample.subTasks![0]!, description: text }));
    watched.task = { ...taskExample, subTasks };
    const stream = await watched.open();
    stream.response.pause();
    const fast = await watched.open();
    await fast.told(1);
    for (let i = 0; i < 400; i++) await watched.becomes({ name: `name ${i}` });
    await fast.told(401);
    stream.response.resume();
    await watched.becomes({ status: "Successful" });
    await stream.end();
    // A few changes had been taken by the stream's own buffer of 16 KiB.
    expect(stream.names.filter((name) => name === "change"))
      .to.have.property("length")
      .lessThan(100);
    expect(stream.names.filter((name) => name === "snapshot")).to.have.length(2);
    expect(stream.names.at(-1)).to.equal("end");
    expect(stream.task).to.deep.equal(watched.task);
  }).timeout(30_000);

  it("serves a browser's client, which comes back with the last id by itself", async () => {
    const ids: string[] = [];
    const source = new EventSource(watched.api.url + path);
    let task: Task | undefined;
    source.addEventListener("snapshot", ({ data, lastEventId }) => {
      ids.push(lastEventId);
      task = JSON.parse(data as string) as Task;
    });
    source.addEventListener("change", ({ data, lastEventId }) => {
      ids.push(lastEventId);
      task = task && applyTaskChange(task, JSON.parse(data as string) as TaskChange);
    });
    const ended = once(source, "end");
    await eventually(
      () => Promise.resolve(ids),
      ({ length }) => length === 1,
    );
    await watched.becomes({ status: "Failed" });
    await ended;
    source.close();
    expect(ids).to.deep.equal(["epoch1.1", "epoch1.2"]);
    expect(task).to.deep.equal(watched.task);
  });
});
