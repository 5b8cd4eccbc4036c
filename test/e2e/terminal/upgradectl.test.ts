import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import { expect } from "chai";
import { pageExample, taskExample } from "../../../src/api/openapi/examples";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import { FakeApi, sse } from "../../support/fake-api";
import { Tmux } from "./tmux";

const program = resolve(__dirname, "../../../dist/src/cli/upgradectl.js");
const { localizableDescriptionPack: _told, ...example } = taskExample;
const { id, creationTimestamp } = example;

const part = (name: string, type: string, subTasks?: SubTask[]): SubTask => ({
  name,
  type,
  description: name,
  status: "IN_PROGRESS",
  creationTimestamp,
  ...(subTasks && { subTasks }),
});

/** 100 clusters of 64 hosts, of which one in each is in work. */
const clusters = Array.from({ length: 100 }, (_, c) =>
  part(
    `Upgrade cluster cl${c}`,
    "CLUSTER_UPGRADE",
    Array.from({ length: 64 }, (_unused, h) => ({
      ...part(`esx-${c}-${h}`, "HOST_UPGRADE"),
      status: h === 0 ? ("IN_PROGRESS" as const) : ("PENDING" as const),
    })),
  ),
);
const task: Task = {
  ...example,
  name: "Upgrade all",
  status: "In Progress",
  subTasks: [part("Upgrade HOSTOS", "PRODUCT_UPGRADE", clusters)],
};
const done: Task = { ...task, status: "Successful", subTasks: [], completionTimestamp: creationTimestamp };

describe("upgradectl in a real terminal", function () {
  this.timeout(90_000);
  let api: FakeApi;
  let tmux: Tmux;
  let stream: ServerResponse | undefined;
  beforeEach(async () => {
    api = await FakeApi.start();
    api.on(`GET /v1/tasks/${id}/events`, (_request, response) => {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      stream.write(`retry: 100\n\n${sse("snapshot", task, "x.1")}`);
    });
    tmux = new Tmux(120, 30, { UPGRADECTL_SERVER: api.url, UPGRADECTL_CONFIG: "/nonexistent/config.json" });
  });
  afterEach(async () => {
    tmux.close();
    await api.stop();
  });

  const run = (args: string) =>
    tmux.type(`clear; echo before; '${process.execPath}' '${program}' ${args}; echo "ended $?"`);
  const isDrawn = (lines: readonly string[]) => lines[0] === "Upgrade all" && lines.at(-1)?.includes("more") === true;

  it("watch keeps 6,400 hosts within the window, whatever its size, and leaves no old picture behind", async () => {
    run(`watch ${id}`);
    for (const [columns, rows] of [
      [120, 30],
      [60, 20],
      [40, 10],
      [120, 40],
    ] as const) {
      tmux.resize(columns, rows);
      const lines = await tmux.shows(`a picture of ${rows} rows`, (now) => isDrawn(now) && now.length === rows - 1);
      expect(lines.filter((line) => line === "Upgrade all")).to.have.length(1);
      expect(
        lines.filter((line) => line.includes("▶ esx-")),
        lines.join("\n"),
      ).to.not.be.empty;
      expect(lines.join("\n")).to.not.contain("before").and.to.not.contain("· esx-");
    }
  });

  it("watch gives the terminal back at Ctrl-C, with the last picture and the way back", async () => {
    run(`watch ${id}`);
    await tmux.shows("the picture", isDrawn);
    tmux.press("C-c");
    const lines = await tmux.shows("the end", (now) => now.includes("ended 130"));
    expect(lines.join("\n")).to.contain(`upgradectl watch ${id}`);
  });

  it("watch gives the terminal back at Ctrl-Z, and takes it again", async () => {
    tmux.type("set -m");
    run(`watch ${id}`);
    await tmux.shows("the picture", isDrawn);
    tmux.press("C-z");
    await tmux.shows("what stood there before", (now) => now.includes("before"));
    tmux.type("fg");
    await tmux.shows("the picture again", isDrawn);
    stream?.end(sse("snapshot", done, "x.2") + sse("end", { status: "Successful" }));
    const lines = await tmux.shows("the last picture", (now) => now.some((line) => line.startsWith("Successful")));
    expect(lines).to.include("before").and.to.include("Upgrade all");
  });

  it("watch says that the service is away, and comes back to it", async () => {
    run(`watch ${id}`);
    await tmux.shows("the picture", isDrawn);
    let isBack = false;
    api.on(`GET /v1/tasks/${id}/events`, (_request, response) => {
      if (!isBack) return void response.destroy();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(sse("snapshot", done, "x.2") + sse("end", { status: "Successful" }));
    });
    stream?.destroy();
    await tmux.shows("what is in the way", (now) => now.at(-1)?.includes("not reachable") === true);
    isBack = true;
    const lines = await tmux.shows("the end", (now) => now.includes("ended 0"));
    expect(lines.some((line) => line.startsWith("Successful"))).to.equal(true);
  });

  it("list fits the window, and has each cell on a line of its own where columns do not", async () => {
    const [upgrade] = pageExample.elements ?? [];
    api.answer("GET /v1/upgrades", 200, pageExample);
    run("list");
    const wide = await tmux.shows("the list", (now) => now.includes("ended 0"));
    const id8 = upgrade?.id.slice(0, 8) ?? "-";
    expect(wide.find((line) => line.startsWith(`${id8}  `)))
      .to.contain("Waiting")
      .and.to.contain(upgrade?.createdBy);
    tmux.resize(24, 20);
    run("list");
    const narrow = await tmux.shows("the narrow list", (now) => now.includes("STATUS  Waiting"));
    expect(narrow).to.include(`ID      ${id8}`);
  });

  it("list --watch draws the list again until Ctrl-C, and leaves the last one", async () => {
    const [upgrade] = pageExample.elements ?? [];
    api.answer("GET /v1/upgrades", 200, pageExample);
    run("list --watch");
    await tmux.shows("the list alone", (now) => now[1]?.includes("Waiting") === true && !now.includes("before"));
    api.answer("GET /v1/upgrades", 200, { elements: [{ ...upgrade, phase: "RUNNING" }] });
    await tmux.shows("the change", (now) => now[1]?.includes("Running") === true);
    tmux.press("C-c");
    const lines = await tmux.shows("the end", (now) => now.includes("ended 130"));
    expect(lines).to.include("before");
    expect(lines.join("\n")).to.contain("Running").and.to.not.contain("Waiting");
  });

  it("commit asks in the terminal, with no for a start", async () => {
    api.answer(`GET /v1/tasks/${id}`, 200, task).answer(`PATCH /v1/upgrades/${id}`, 200, pageExample.elements?.[0]);
    run(`commit ${id}`);
    await tmux.shows("the question", (now) => now.some((line) => line.includes("Commit this upgrade?")));
    tmux.press("Enter");
    const lines = await tmux.shows("the end", (now) => now.includes("ended 130"));
    expect(lines).to.include("Error: Nothing was done.");
    run(`commit ${id}`);
    await tmux.shows("the question", (now) => now.some((line) => line.includes("Commit this upgrade?")));
    tmux.press("y");
    await tmux.shows("what was done", (now) => now.includes("ended 0"));
    expect(api.received.filter(({ method }) => method === "PATCH")).to.have.length(1);
  });

  it("is quiet when whoever reads has seen enough", async () => {
    const elements = Array.from({ length: 1000 }, (_, n) => ({ ...pageExample.elements?.[0], id: `u${n}` }));
    api.answer("GET /v1/upgrades", 200, { elements });
    run("list -o json 2>&1 | head -n 1");
    // The prompt comes after the line before it, and closes what could still be said.
    const lines = await tmux.shows("the prompt", (now) => now.includes("ended 0") && now.at(-1) === "$");
    expect(lines.slice(lines.indexOf("before") + 1)).to.deep.equal(["{", "ended 0", "$"]);
  });
});
