import { expect } from "chai";
import { BrokenDatabase } from "../../../src/temporal/dev-server";

const interrupted =
  '{"level":"ERROR","msg":"Operation failed","error":"GetNamespace operation failed. Error interrupted (9)"}';

/** At which of these milliseconds it is told that the database is broken, if at all. */
function toldAt(milliseconds: readonly number[], line = interrupted): number | undefined {
  const database = new BrokenDatabase();
  return milliseconds.find((now) => database.isToldBy(line, now));
}

const every = (step: number, count: number) => Array.from({ length: count }, (_, i) => 1000 + i * step);

describe("a broken database of the embedded Temporal", () => {
  it("is told by five seconds in which it answers nothing else", () => {
    expect(toldAt(every(500, 40))).to.equal(6000);
  });

  it("is not told by calls that are interrupted now and then", () => {
    expect(toldAt(every(2500, 40))).to.equal(undefined);
    expect(toldAt([...every(100, 20), ...every(100, 20).map((now) => now + 10_000)])).to.equal(undefined);
  });

  it("is not told by other lines", () => {
    expect(toldAt(every(100, 200), '{"level":"ERROR","msg":"context canceled"}')).to.equal(undefined);
  });
});
