import { Writable } from "node:stream";
import { expect } from "chai";
import { pino } from "pino";
import { HeldLines } from "../../../src/commands/held-lines";

describe("lines of a log", () => {
  /** What was written, each time; `next` resolves with the next write. */
  function output() {
    const writes: string[][] = [];
    let tell: (() => void) | undefined;
    const note = (chunks: readonly Buffer[]) => {
      writes.push(
        chunks.flatMap((chunk) =>
          chunk
            .toString()
            .trim()
            .split("\n")
            .map((line) => (JSON.parse(line) as { msg: string }).msg),
        ),
      );
      tell?.();
    };
    const stream = new Writable({
      write: (chunk: Buffer, _, done) => (note([chunk]), done()),
      writev: (chunks, done) => (note(chunks.map(({ chunk }) => chunk as Buffer)), done()),
    });
    return { stream, writes, next: () => new Promise<void>((resolve) => (tell = resolve)) };
  }

  it("leave together, after a moment", async () => {
    const { stream, writes, next } = output();
    const log = pino({}, new HeldLines(stream));
    const written = next();
    log.info("a");
    log.info("b");
    expect(writes).to.deep.equal([]);
    await written;
    expect(writes).to.deep.equal([["a", "b"]]);
    const again = next();
    log.info("c");
    await again;
    expect(writes).to.deep.equal([["a", "b"], ["c"]]);
  });

  it("leave at once with a warning or an error, also one of a child", () => {
    const { stream, writes } = output();
    const log = pino({}, new HeldLines(stream));
    log.info("a");
    log.warn("b");
    expect(writes).to.deep.equal([["a", "b"]]);
    log.info("c");
    log.child({ requestId: "1" }).error("d");
    expect(writes.at(-1)).to.deep.equal(["c", "d"]);
  });

  it("leave when they are released", () => {
    const { stream, writes } = output();
    const lines = new HeldLines(stream);
    const log = pino({}, lines);
    log.info("a");
    log.info("b");
    lines.release();
    lines.release();
    expect(writes).to.deep.equal([["a", "b"]]);
  });
});
