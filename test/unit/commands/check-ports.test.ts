import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { checkPorts } from "../../../src/commands/check-ports";

const host = "127.0.0.1";

async function listener() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return { port, close: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}

const outcome = (checked: Promise<void>) =>
  checked.then(
    () => "free",
    (error: unknown) => (error as Error).message,
  );

describe("the check of ports", () => {
  it("passes free ports and leaves them free", async () => {
    const { port, close } = await listener();
    await close();
    for (let i = 0; i < 2; i++)
      expect(await outcome(checkPorts([{ host, port, variable: "API_PORT" }]))).to.equal("free");
  });

  it("names the port that is in use and the variable to set", async () => {
    const { port, close } = await listener();
    const problem = await outcome(checkPorts([{ host, port, variable: "SIMULATOR_PORT" }]));
    expect(problem).to.equal(`Port ${port} is in use: stop what listens there or set SIMULATOR_PORT.`);
    await close();
  });

  it("names every port that is in use, at once", async () => {
    const [first, second] = [await listener(), await listener()];
    const problem = await outcome(
      checkPorts([
        { host, port: first.port, variable: "API_PORT" },
        { host, port: second.port, variable: "SIMULATOR_PORT" },
      ]),
    );
    expect(problem).to.contain(`Port ${first.port} `).and.to.contain(`Port ${second.port} `);
    await Promise.all([first.close(), second.close()]);
  });

  it("waits for a predecessor's port, as long as it was told to", async () => {
    const { port, close } = await listener();
    const waiting = checkPorts([{ host, port, variable: "API_PORT" }], 5_000);
    await close();
    expect(await outcome(waiting)).to.equal("free");
  });

  it("tells of an address that this machine does not have", async () => {
    expect(await outcome(checkPorts([{ host: "192.0.2.1", port: 8080, variable: "API_PORT" }]))).to.match(
      /^Cannot listen on 192\.0\.2\.1:8080 \(EADDRNOTAVAIL\)/,
    );
  });
});
