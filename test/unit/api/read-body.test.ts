import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { readBody } from "../../../src/api/request-body";

const limits = { bytes: 512 * 1024, milliseconds: 60_000 };

function heldAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("readBody", () => {
  it("holds a body that comes byte by byte in no more than its bytes", async () => {
    const request = new IncomingMessage(new Socket());
    const read = readBody(request, limits);
    const before = heldAfterCollection();
    const received = Buffer.alloc(64 * 1024, "x");
    for (let sent = 0; sent < 400_000; sent++) {
      request.push(received.subarray(sent % 1000, (sent % 1000) + 1));
      if (sent % 1000 === 0) await turn();
    }
    await turn();
    expect(heldAfterCollection() - before).to.be.lessThan(10 * 2 ** 20);
    request.push(null);
    expect((await read).equals(Buffer.alloc(400_000, "x"))).to.equal(true);
  }).timeout(20_000);

  it("takes as many bytes as its limit and none more", async () => {
    for (const [bytes, outcome] of [
      [limits.bytes, limits.bytes],
      [limits.bytes + 1, "TOO_LARGE"],
    ] as const) {
      const request = new IncomingMessage(new Socket());
      const read = readBody(request, limits).then(
        ({ length }) => length,
        (failure: unknown) => failure,
      );
      request.push(Buffer.alloc(300_000));
      request.push(Buffer.alloc(bytes - 300_000));
      request.push(null);
      expect(await read).to.equal(outcome);
    }
  });
});
