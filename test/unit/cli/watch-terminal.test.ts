import { once } from "node:events";
import { Writable } from "node:stream";
import { Terminal } from "@xterm/headless";
import { expect } from "chai";
import { taskExample } from "../../../src/api/openapi/examples";
import type { Task } from "../../../src/domain/spec/task";
import { FakeApi, sse } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

const { id } = taskExample;

/** A terminal in memory that understands what is written to it as a real one does. */
class Screen extends Writable {
  readonly isTTY = true;
  readonly terminal: Terminal;
  written = "";
  constructor(
    public columns: number,
    public rows: number,
  ) {
    super();
    this.terminal = new Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written += chunk.toString();
    this.terminal.write(chunk, done);
  }

  resize(columns: number, rows: number): void {
    [this.columns, this.rows] = [columns, rows];
    this.terminal.resize(columns, rows);
    this.emit("resize");
  }

  /** Calls back when the next picture is complete in the terminal. */
  whenDrawn(then: () => void): void {
    const written = this.written.length;
    const parsed = this.terminal.onWriteParsed(() => {
      if (!this.written.slice(written).includes("▶") && !this.written.slice(written).includes("·")) return;
      parsed.dispose();
      then();
    });
  }

  /** What stands on the screen now. */
  get visible(): string[] {
    const { active } = this.terminal.buffer;
    return Array.from({ length: this.rows }, (_, n) => active.getLine(active.baseY + n)?.translateToString(true) ?? "");
  }

  /** What somebody sees, and what has scrolled out of the top. */
  get lines(): string[] {
    const { buffer } = this.terminal;
    return Array.from({ length: buffer.active.length }, (_, n) => buffer.active.getLine(n)!.translateToString(true));
  }
}

describe("upgradectl watch in a terminal", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url, TERM: "xterm-256color" };
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  async function watched(screen: Screen, states: readonly Task[], env: Record<string, string> = {}): Promise<Screen> {
    cli.env = { ...cli.env, ...env };
    api.on(`GET /v1/tasks/${id}/events`, (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const next = (n: number): void => {
        const state = states[n];
        if (!state) return void response.end(sse("end", { status: "Successful" }));
        response.write(sse("snapshot", state, `x.${n}`));
        // The next state comes when this one has been drawn.
        screen.once("drawn", () => next(n + 1));
      };
      next(0);
    });
    const write = screen.write.bind(screen);
    screen.write = ((chunk: string) => {
      const taken = write(chunk);
      setImmediate(() => screen.emit("drawn"));
      return taken;
    }) as typeof screen.write;
    const { code } = await cli.run(["watch", id], { stdout: screen });
    expect(code).to.equal(0);
    const ended = once(screen, "finish");
    screen.end();
    await ended;
    return screen;
  }

  const states: Task[] = [
    { ...taskExample, status: "In Progress" },
    { ...taskExample, status: "Successful", completionTimestamp: taskExample.creationTimestamp },
  ];

  it("draws over what it has drawn, so that one picture stays", async () => {
    const { lines } = await watched(new Screen(80, 24), states);
    expect(lines.filter((line) => line.startsWith(taskExample.name))).to.have.length(1);
    expect(lines.join("\n")).to.contain("Successful").and.not.to.contain("In progress");
    expect(lines.join("\n")).to.contain("Upgrade HOSTOS");
  });

  it("leaves nothing of an old picture behind when the terminal gets another size", async () => {
    const screen = new Screen(80, 24);
    const seen: string[][] = [];
    const sizes: [number, number][] = [
      [46, 10],
      [100, 30],
      [60, 20],
    ];
    api.on(`GET /v1/tasks/${id}/events`, (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse("snapshot", states[0], "x.1"));
      const next = (n: number): void => {
        seen.push(screen.visible);
        const size = sizes[n];
        if (!size) return void response.end(sse("snapshot", states[1], "x.2") + sse("end", { status: "Successful" }));
        screen.resize(...size);
        screen.whenDrawn(() => next(n + 1));
      };
      screen.whenDrawn(() => next(0));
    });
    const { code } = await cli.run(["watch", id], { stdout: screen });
    expect(code).to.equal(0);
    expect(seen).to.have.length(4);
    for (const lines of seen)
      expect(
        lines.filter((line) => line.startsWith(taskExample.name)),
        lines.join("\n"),
      ).to.have.length(1);
    // Back on the first screen, with the last picture once.
    await once(screen.end(), "finish");
    expect(screen.terminal.buffer.active.type).to.equal("normal");
    expect(screen.lines.filter((line) => line.startsWith(taskExample.name))).to.have.length(1);
  });

  it("fits a small terminal without scrolling it", async () => {
    const { lines } = await watched(new Screen(30, 5), states);
    expect(lines.filter((line) => line !== "")).to.have.length.at.most(4);
  });

  it("has colours, and none with NO_COLOR", async () => {
    const colour = new RegExp(`${String.fromCharCode(27)}\\[(?:1|2|3[0-7])m`);
    expect((await watched(new Screen(80, 24), states)).written).to.match(colour);
    expect((await watched(new Screen(80, 24), states, { NO_COLOR: "1" })).written).to.not.match(colour);
  });
});
