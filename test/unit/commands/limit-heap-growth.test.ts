import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";

const root = resolve(__dirname, "../../..");

/** Keeps a million objects and, in turns, a tenth as many that live for long enough to be garbage of the old heap. */
const work = `
  const { runInNewContext } = require("node:vm");
  const kept = Array.from({ length: 1_000_000 }, (_, i) => ({ i }));
  require("node:v8").setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const passing = [];
  let most = 0;
  for (let i = 0; i < 4_000_000; i++) {
    passing[i % 200_000] = { a: [i, i] };
    if (i % 20_000 === 0) most = Math.max(most, process.memoryUsage().heapUsed);
  }
  process.stdout.write(String(most / 2 ** 20 + 0 * kept.length));
`;

/** The most megabytes that the work had in use, and what Node had to complain of. */
async function heapOf(program: string): Promise<{ readonly megabytes: number; readonly complaints: string }> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--import", "tsx", "-e", program], {
    cwd: root,
  });
  return { megabytes: Number(stdout), complaints: stderr };
}

describe("limitHeapGrowth", () => {
  it("keeps garbage from making the heap several times what is in use", async function () {
    this.timeout(60_000);
    const usual = await heapOf(work);
    const limited = await heapOf(`require("./src/commands/limit-heap-growth.ts").limitHeapGrowth();${work}`);
    expect(limited.complaints).to.equal("");
    expect(limited.megabytes).to.be.lessThan(0.8 * usual.megabytes);
  });
});
