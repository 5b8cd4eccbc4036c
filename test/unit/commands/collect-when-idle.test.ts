import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";

const root = resolve(__dirname, "../../..");

/** Garbage of the old heap, in this thread and in another, which then have nothing to do. They tell what they hold in megabytes. */
const program = `
  const { Worker, isMainThread, workerData, parentPort } = require("node:worker_threads");
  const { getHeapStatistics } = require("node:v8");
  const makeGarbage = ${String(makeGarbage)};
  const held = () => getHeapStatistics().used_heap_size / 2 ** 20;
  const thread = new Worker(
    "const makeGarbage = " + makeGarbage +
      "; const { getHeapStatistics } = require('node:v8'); makeGarbage();" +
      "setInterval(() => require('node:worker_threads').parentPort.postMessage(getHeapStatistics().used_heap_size / 2 ** 20), 50)",
    { eval: true },
  );
  makeGarbage();
  let ofThread;
  thread.on("message", (megabytes) => (ofThread = megabytes));
  setInterval(() => ofThread === undefined || console.log(JSON.stringify([held(), ofThread])), 50);
`;

/** Some 60 MB, all of them old enough to be left to a collection of everything. */
function makeGarbage(): void {
  const kept: unknown[] = [];
  for (let i = 0; i < 600_000; i++) kept.push({ a: [i, i] });
  kept.length = 0;
}

/** What both threads hold, until they hold less than `until` megabytes or the time is over. */
async function heldBy(start: string, until: number, milliseconds: number): Promise<readonly number[]> {
  const child = spawn(process.execPath, ["--import", "tsx", "-e", start + program], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last: readonly number[] = [];
  const timer = setTimeout(() => child.kill("SIGKILL"), milliseconds);
  for await (const line of createInterface({ input: child.stdout })) {
    last = JSON.parse(line) as readonly number[];
    if (last.every((megabytes) => megabytes < until)) break;
  }
  clearTimeout(timer);
  if (child.kill("SIGKILL")) await once(child, "exit");
  return last;
}

describe("collectWhenIdle", () => {
  it("collects what a burst has left in the process and its threads once nothing is to be done", async function () {
    this.timeout(60_000);
    const call = "collectWhenIdle({ interval: 100, intervals: 2 })";
    const start = `require("./src/commands/collect-when-idle.ts").${call};`;
    const [own, ofThread] = await heldBy(start, 30, 50_000);
    expect(own).to.be.lessThan(30);
    expect(ofThread).to.be.lessThan(30);
  });
});
