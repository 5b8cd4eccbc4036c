import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came. */
export interface CheckRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a request is answered: a status with a body, or whatever a function does with the answer. */
export type CheckReply =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | ((response: ServerResponse) => void);

/** Stands for Prometheus, Alertmanager or an operator's webhook: answers as the test says, and keeps what it was asked. */
export class CheckServer {
  readonly requests: CheckRequest[] = [];
  /** By the next requests, in order; the last one stays. */
  replies: CheckReply[] = [];
  private server: Server | undefined;

  get url(): string {
    return `http://127.0.0.1:${(this.server?.address() as AddressInfo).port}/secret-path`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => (body += part));
      request.on("end", () => {
        const { method = "", headers } = request;
        this.requests.push({ method, url: new URL(request.url ?? "/", "http://check"), headers, body });
        const reply = this.replies.length > 1 ? this.replies.shift() : this.replies[0];
        if (typeof reply === "function") return reply(response);
        response.writeHead(reply?.status ?? 500, reply?.headers);
        response.end(typeof reply?.body === "string" ? reply.body : JSON.stringify(reply?.body ?? {}));
      });
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    this.server = server;
  }

  async stop(): Promise<void> {
    const { server } = this;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

/** The answer of an instant query with these samples. */
export function vector(...samples: readonly (readonly [instance: string, value: string])[]): CheckReply {
  const result = samples.map(([instance, value]) => ({ metric: { __name__: "up", instance }, value: [1.5, value] }));
  return { status: 200, body: { status: "success", data: { resultType: "vector", result } } };
}
