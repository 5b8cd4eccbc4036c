import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { boundConnects } from "../../../src/temporal/connection";

/** A server that stands still: once its queue is full, whoever connects hears nothing. */
const server = `const server = require("node:net").createServer();
server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => console.log(server.address().port));`;

describe("a limit for connecting", () => {
  let standing: ChildProcess | undefined;
  let unbound: (() => void) | undefined;
  const sockets: Socket[] = [];

  afterEach(() => {
    unbound?.();
    for (const socket of sockets) socket.destroy();
    standing?.kill("SIGKILL");
  });

  function dial(port: number): Socket {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    sockets.push(socket);
    return socket;
  }

  it("ends an attempt that nobody answers, and no connection that has been made", async () => {
    const child = spawn(process.execPath, ["-e", server], { stdio: ["ignore", "pipe", "inherit"] });
    standing = child;
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    child.kill("SIGSTOP");
    const port = Number(line);
    unbound = boundConnects(200);
    const made = dial(port);
    await once(made, "connect");
    const waiting = Array.from({ length: 5 }, () => dial(port));
    const errors = waiting.map((socket) => new Promise<Error>((resolve) => socket.once("error", resolve)));
    expect((await Promise.race(errors)).message).to.equal("no connection within 200 ms");
    expect(made.destroyed).to.equal(false);
  });
});
