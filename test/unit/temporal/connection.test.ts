import { once } from "node:events";
import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { lazyClient } from "../../../src/temporal/connection";

describe("the connection to Temporal", () => {
  let server: Http2Server;
  beforeEach(async () => {
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(() => server.close());

  it("takes many clusters of a Task at once, however far Temporal is", async () => {
    const windows: unknown[] = [];
    server.on("stream", (stream) => {
      const { session } = stream;
      windows.push(session?.remoteSettings.initialWindowSize, session?.state.remoteWindowSize);
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "0" }, { endStream: true });
    });
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = lazyClient({ address, namespace: "default", connection: { address } }, {});
    // The answer is none, but it was asked.
    await client.workflowService.getSystemInfo({}).catch(() => undefined);
    await client.connection.close();
    expect(windows.slice(0, 2)).to.deep.equal([4 * 1024 * 1024, 4 * 1024 * 1024]);
  });
});
