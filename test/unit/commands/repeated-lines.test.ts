import { mock } from "node:test";
import { expect } from "chai";
import { RepeatedLines } from "../../../src/commands/repeated-lines";

describe("lines that come again and again", () => {
  let written: [line: string, repeated: number][];
  let lines: RepeatedLines<string>;
  const come = (times: number, text: string) => {
    for (let i = 1; i <= times; i++) lines.add(text, `${text} ${i}`);
  };

  beforeEach(() => {
    mock.timers.enable({ apis: ["setInterval"] });
    written = [];
    lines = new RepeatedLines((line, repeated) => written.push([line, repeated]));
  });
  afterEach(() => {
    lines.end();
    mock.timers.reset();
  });

  it("are told at once, then counted, and told every ten seconds at most", () => {
    come(500, "full");
    expect(written).to.deep.equal([["full 1", 0]]);
    mock.timers.tick(10_000);
    come(20, "full");
    mock.timers.tick(9_999);
    expect(written.slice(1)).to.deep.equal([["full 500", 499]]);
    mock.timers.tick(1);
    expect(written.slice(2)).to.deep.equal([["full 20", 20]]);
  });

  it("are told at once again after ten seconds without them", () => {
    come(1, "full");
    mock.timers.tick(10_000);
    come(2, "full");
    expect(written).to.deep.equal([
      ["full 1", 0],
      ["full 1", 0],
    ]);
  });

  it("are counted each by itself, and none is lost at the end", () => {
    come(3, "full");
    come(2, "locked");
    lines.end();
    expect(written).to.deep.equal([
      ["full 1", 0],
      ["locked 1", 0],
      ["full 3", 2],
      ["locked 2", 1],
    ]);
  });

  it("are not counted where too many others come", () => {
    for (let i = 0; i < 200; i++) come(1, `other ${i}`);
    come(2, "full");
    expect(written.slice(200)).to.deep.equal([
      ["full 1", 0],
      ["full 2", 0],
    ]);
  });
});
