import type { ServerResponse } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { taskExample } from "../../../src/api/openapi/examples";
import { FakeApi, sse } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

const { id } = taskExample;
const begin = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });
const { subTasks: parts, ...taskHeader } = taskExample;
const header = { ...taskHeader, status: "Successful" as const };
const done = { ...taskExample, status: "Successful" as const };

describe("upgradectl watch, its connection", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  /** What each connection is answered with, one after another; the last again and again. */
  let answers: ((response: ServerResponse) => void)[];
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url };
    answers = [];
    api.on(`GET /v1/tasks/${id}/events`, (_request, response) =>
      (answers.length > 1 ? answers.shift()! : answers[0]!)(response),
    );
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  const snapshot = (response: ServerResponse) =>
    begin(response).write(`retry: 2000\n\n${sse("snapshot", taskExample, "x.1")}`);
  const end = (response: ServerResponse) =>
    begin(response).end(sse("change", { subTasks: [], task: done }, "x.2") + sse("end", { status: "Successful" }));

  it("comes back with the id of the last event, and takes changes on", async () => {
    answers = [(response) => (snapshot(response), setImmediate(() => response.destroy())), end];
    const { code, stdout } = await cli.run(["watch", id]);
    expect(code).to.equal(0);
    expect(api.received.map(({ headers }) => headers["last-event-id"])).to.deep.equal([undefined, "x.1"]);
    expect(cli.waits).to.deep.equal([2000]);
    expect(stdout).to.contain("Following again.").and.to.contain("Successful");
  });

  it("comes back after an orderly close without an end, and through a service that is not ready yet", async () => {
    const away = (response: ServerResponse) =>
      void response
        .writeHead(500, { "content-type": "application/json" })
        .end('{"message":"Temporal does not answer."}');
    answers = [(response) => (snapshot(response), response.end()), away, away, end];
    const { code, stdout } = await cli.run(["watch", id]);
    expect(code).to.equal(0);
    expect(api.received).to.have.length(4);
    expect(cli.waits).to.deep.equal([2000, 4000, 8000]);
    expect(stdout.match(/reconnecting/g)).to.have.length(1);
  });

  it("gives up after a quarter of an hour with 3", async () => {
    answers = [(response) => (snapshot(response), response.end()), (response) => response.destroy()];
    const { code, stderr } = await cli.run(["watch", id]);
    expect(code).to.equal(3);
    expect(stderr).to.contain("not reachable").and.to.contain(`The upgrade continues`);
    expect(Math.max(...cli.waits)).to.equal(10_000);
  });

  it("ends where the service refuses to go on", async () => {
    const gone = (response: ServerResponse) => void response.writeHead(404).end('{"message":"There is no task."}');
    answers = [(response) => (snapshot(response), response.end()), gone];
    expect((await cli.run(["watch", id])).code).to.equal(4);
    answers = [gone];
    expect((await cli.run(["watch", id])).code).to.equal(4);
  });

  it("says when the Task cannot be read for a while, and when it can again", async () => {
    answers = [
      (response) =>
        void begin(response).end(
          sse("snapshot", taskExample, "x.1") +
            sse("unavailable", { message: "Temporal does not answer." }) +
            sse("available", {}) +
            sse("later-kind", { x: 1 }) +
            sse("snapshot", done, "x.2") +
            sse("end", { status: "Successful" }),
        ),
    ];
    const { code, stdout } = await cli.run(["watch", id]);
    expect(code).to.equal(0);
    expect(stdout).to.match(/Temporal does not answer\.[^]*Following again\.[^]*Successful/);
  });

  it("of a start that was accepted begins when the service is back", async () => {
    api.answer("POST /v1/upgrades", 202, taskExample);
    answers = [(response) => response.destroy(), (response) => (snapshot(response), response.end()), end];
    cli.stdin = "{}";
    const { code, stdout } = await cli.run(["start", "-f", "-", "--yes", "--watch"]);
    expect(code).to.equal(0);
    expect(stdout).to.match(/reconnecting[^]*Following again\.[^]*Successful/);
  });

  it("tells with -o json each event on a line, and what is in the way on the standard error", async () => {
    answers = [(response) => (snapshot(response), setImmediate(() => response.destroy())), end];
    const { stdout, stderr } = await cli.run(["watch", id, "-o", "json"]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).to.deep.equal([
      { event: "snapshot", task: taskExample },
      { event: "change", change: { subTasks: [], task: header } },
      { event: "end", task: { ...header, subTasks: parts } },
    ]);
    expect(stderr).to.match(/reconnecting[^]*Following again\./);
  });

  it("is let go on Ctrl-C even when the garbage collector has been at the request", async () => {
    answers = [snapshot];
    let told = "";
    const letGo = () => {
      // What node --expose-gc has, for this test only.
      setFlagsFromString("--expose-gc");
      (runInNewContext("gc") as () => void)();
      cli.interruption.abort();
    };
    const { code, stderr } = await cli.run(["watch", id], {
      // Once the snapshot is told, the next read waits for what never comes.
      stdout: { write: (text: string) => ((told ||= (setImmediate(letGo), text)), true) },
    });
    expect(code).to.equal(130);
    expect(stderr).to.contain(`upgradectl watch ${id}`);
  });

  it("ends with 1 at events that it does not understand", async () => {
    answers = [(response) => void begin(response).end(sse("snapshot", { nothing: true }))];
    const { code, stderr } = await cli.run(["watch", id]);
    expect(code).to.equal(1);
    expect(stderr).to.contain("Next: ");
  });
});
