import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

type Handler = (request: Received, response: ServerResponse) => void;

/** A server that answers as it is told, and remembers what it was asked: for tests of clients. */
export class FakeApi {
  readonly received: Received[] = [];
  private readonly handlers = new Map<string, Handler>();
  private constructor(private readonly server: Server) {}

  static async start(): Promise<FakeApi> {
    const server = createServer();
    const api = new FakeApi(server);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => void api.handle(request, response));
    await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume));
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** What was asked last. */
  get last(): Received {
    return this.received.at(-1)!;
  }

  /** Answers JSON from now on; `route` is such as `GET /v1/upgrades`. */
  answer(route: string, status: number, body: unknown): this {
    return this.on(route, (_request, response) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  }

  on(route: string, handler: Handler): this {
    this.handlers.set(route, handler);
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resume) => this.server.close(resume));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    const body = await text(request);
    const received = { method, url, headers, body: body === "" ? undefined : (JSON.parse(body) as unknown) };
    this.received.push(received);
    const handler = this.handlers.get(`${method} ${url.split("?")[0]}`);
    if (handler) handler(received, response);
    else response.writeHead(404, { "content-type": "application/json" }).end('{"message":"No such path."}');
  }
}

/** An event as a stream sends it. */
export function sse(event: string, data: unknown, id?: string): string {
  return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
