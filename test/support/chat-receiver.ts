import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The incoming webhook of a chat: takes JSON, and keeps it. */
export class ChatReceiver {
  readonly received: unknown[] = [];
  private server: Server | undefined;

  /** `status`: how it answers. */
  constructor(public status = 200) {}

  get url(): string {
    const { port } = this.server?.address() as AddressInfo;
    return `http://127.0.0.1:${port}/services/T000/B000/t0ken`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => (body += part));
      request.on("end", () => {
        if (this.status < 300 && request.headers["content-type"]?.startsWith("application/json"))
          this.received.push(JSON.parse(body));
        response.writeHead(this.status).end("secret words");
      });
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    this.server = server;
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}
